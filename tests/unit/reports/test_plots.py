"""Pictures are drawn from the figures given, without touching matplotlib's global state."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentquest.errors import UserError
from agentquest.lib.aggregate import aggregate_metrics
from agentquest.reports.plots import (
    plot_progress_curves,
    plot_repetition,
    plot_success_by_task_type,
)

pytest.importorskip("matplotlib")

KINDS = ("look_at_obj_in_light", "pick_and_place_simple", "pick_two_obj_and_place")
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.fixture
def runs() -> list[dict[str, Any]]:
    return [
        {
            "success": i % 3 > 0,
            "actions": [{"value": "look"}] * (i + 1),
            "progress": [j / (i + 1) for j in range(1, i + 2)],
            "repetition_rate": (i % 4) / 4,
            "problem": f"builtin:valid_seen/{kind}-A-None-B-{i}/trial",
        }
        for kind in KINDS
        for i in range(5)
    ]


Draw = Callable[[list[dict[str, Any]], Path], Path]
DRAWINGS: dict[str, Draw] = {
    "progress": lambda runs, path: plot_progress_curves(aggregate_metrics(runs), path),
    "success": lambda runs, path: plot_success_by_task_type(aggregate_metrics(runs), path),
    "repetition": plot_repetition,
}


@pytest.mark.parametrize("drawing", DRAWINGS)
@pytest.mark.parametrize("suffix", STARTS)
def test_each_format(drawing: str, suffix: str, runs: list[dict[str, Any]], tmp_path: Path) -> None:
    path = DRAWINGS[drawing](runs, tmp_path / f"picture{suffix}")
    content = path.read_bytes()
    assert content.startswith(STARTS[suffix])
    assert len(content) > 3_000


def words(path: Path) -> str:
    """matplotlib writes each text into the SVG as a comment beside its outlines."""
    return path.read_text(encoding="utf-8")


def test_names_counts_and_axes_can_be_read(runs: list[dict[str, Any]], tmp_path: Path) -> None:
    for name, draw in DRAWINGS.items():
        text = words(draw(runs, tmp_path / f"{name}.svg"))
        for kind in KINDS:
            assert f"{kind} (n=5)" in text
        assert "all runs (n=15)" in text
    assert "9/15  60%" in words(tmp_path / "success.svg")
    assert "Success rate with 95% intervals" in words(tmp_path / "success.svg")
    assert "Mean progress" in words(tmp_path / "progress.svg")
    assert "mean 0.30" in words(tmp_path / "repetition.svg")


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_one_run_without_steps_or_a_group(drawing: str, tmp_path: Path) -> None:
    run = {"success": False, "actions": [], "progress": [], "repetition_rate": 0.0}
    assert DRAWINGS[drawing]([run], tmp_path / "one.svg").is_file()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_nothing_to_draw(drawing: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no runs"):
        DRAWINGS[drawing]([], tmp_path / "none.png")
    assert not (tmp_path / "none.png").exists()


@pytest.mark.parametrize("drawing", DRAWINGS)
def test_wrong_names(drawing: str, runs: list[dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"picture\.bmp"):
        DRAWINGS[drawing](runs, tmp_path / "picture.bmp")
    with pytest.raises(UserError, match="cannot write"):
        DRAWINGS[drawing](runs, tmp_path / "nowhere" / "picture.png")


def test_the_same_data_gives_the_same_picture(runs: list[dict[str, Any]], tmp_path: Path) -> None:
    for name, draw in DRAWINGS.items():
        one = draw(runs, tmp_path / f"{name}1.png").read_bytes()
        assert draw(runs, tmp_path / f"{name}2.png").read_bytes() == one


def test_without_matplotlib_the_extra_is_named(
    runs: list[dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in DRAWINGS.values():
        with pytest.raises(UserError, match=r"pip install .*\[plots\]"):
            draw(runs, tmp_path / "picture.png")


def test_matplotlib_is_loaded_late_and_pyplot_never(tmp_path: Path) -> None:
    script = (
        "import sys; from agentquest.lib.aggregate import aggregate_metrics as a;"
        "from agentquest.reports.plots import plot_success_by_task_type as draw;"
        "assert 'matplotlib' not in sys.modules;"
        "run = dict(success=True, actions=[1], progress=[1.0], repetition_rate=0.0);"
        "draw(a([run]), sys.argv[1]);"
        "assert 'matplotlib' in sys.modules; assert 'matplotlib.pyplot' not in sys.modules"
    )
    target = tmp_path / "picture.png"
    subprocess.run([sys.executable, "-c", script, str(target)], check=True, timeout=120)
    assert target.is_file()
