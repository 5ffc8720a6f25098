"""Pictures are drawn from the figures given, without touching matplotlib's global state."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentquest.errors import UserError
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.reports.plots import (
    plot_progress_curves,
    plot_repetition,
    plot_success_by_task_type,
)
from agentquest.store.stored_run import StoredRun
from report_runs import record, saved, step

pytest.importorskip("matplotlib")

KINDS = ("look_at_obj_in_light", "pick_and_place_simple", "pick_two_obj_and_place")
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    records = [
        record(
            f"{kind}-{i}",
            End.SOLVED if i % 3 else End.FAILED,
            [step(j, progress=j / (i + 1)) for j in range(1, i + 2)],
            task_type=kind,
            repetition_rate=(i % 4) / 4,
        )
        for kind in KINDS
        for i in range(5)
    ]
    return StoredRun(saved(tmp_path / "run", [*records, unscored()]).path)


def unscored() -> EpisodeRecord:
    return record("lost", End.INFRASTRUCTURE_FAULT, [])


Draw = Callable[[StoredRun, Path], Path]
DRAWINGS: dict[str, Draw] = {
    "progress": plot_progress_curves,
    "success": plot_success_by_task_type,
    "repetition": plot_repetition,
}


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize("suffix", STARTS)
def test_each_format(drawing: str, suffix: str, run: StoredRun, tmp_path: Path) -> None:
    path = DRAWINGS[drawing](run, tmp_path / f"picture{suffix}")
    content = path.read_bytes()
    assert content.startswith(STARTS[suffix])
    assert len(content) > 3_000


def words(path: Path) -> str:
    """matplotlib writes each text into the SVG as a comment beside its outlines."""
    return path.read_text(encoding="utf-8")


def test_names_counts_and_axes_can_be_read(run: StoredRun, tmp_path: Path) -> None:
    for name, draw in DRAWINGS.items():
        text = words(draw(run, tmp_path / f"{name}.svg"))
        for kind in KINDS:
            assert f"{kind} (n=5)" in text
        assert "all (n=15)" in text
    assert "9/15  60%" in words(tmp_path / "success.svg")
    assert "Success rate with 95% intervals" in words(tmp_path / "success.svg")
    assert "Mean progress" in words(tmp_path / "progress.svg")
    assert "mean 0.30" in words(tmp_path / "repetition.svg")


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_one_episode_without_steps(drawing: str, tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [record("a", End.FAILED, [])])
    assert DRAWINGS[drawing](StoredRun(run.path), tmp_path / "one.svg").is_file()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_nothing_to_draw(drawing: str, tmp_path: Path) -> None:
    run = saved(tmp_path / "run", [unscored()])
    with pytest.raises(UserError, match="run has no scored episode"):
        DRAWINGS[drawing](StoredRun(run.path), tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_wrong_names(drawing: str, run: StoredRun, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"picture\.bmp"):
        DRAWINGS[drawing](run, tmp_path / "picture.bmp")
    with pytest.raises(UserError, match="cannot write"):
        DRAWINGS[drawing](run, tmp_path / "nowhere" / "picture.png")


def test_the_same_data_gives_the_same_picture(run: StoredRun, tmp_path: Path) -> None:
    for name, draw in DRAWINGS.items():
        one = draw(run, tmp_path / f"{name}1.png").read_bytes()
        assert draw(run, tmp_path / f"{name}2.png").read_bytes() == one


def test_without_matplotlib_the_extra_is_named(
    run: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in DRAWINGS.values():
        with pytest.raises(UserError, match=r"pip install .*\[plots\]"):
            draw(run, tmp_path / "picture.png")


def test_matplotlib_is_loaded_late_and_pyplot_never(run: StoredRun, tmp_path: Path) -> None:
    script = (
        "import sys; from agentquest import load_run;"
        "from agentquest.reports.plots import plot_success_by_task_type as draw;"
        "assert 'matplotlib' not in sys.modules;"
        "draw(load_run(sys.argv[1]), sys.argv[2]);"
        "assert 'matplotlib' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    target = tmp_path / "picture.png"
    command = [sys.executable, "-c", script, str(run.path), str(target)]
    subprocess.run(command, check=True, timeout=120)
    assert target.is_file()
