"""`agentquest runs`, `rerun`, and `report` on a folder: what is there, and once more."""

import json
import shutil
from pathlib import Path

import pytest

from agentquest.cli import main
from agentquest.store.folder import EPISODES, RunFolder

SMALL = ["eval", "benchmark=mastermind", "agent=scripted"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs, one of them unfinished."""
    folder = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        evaluate("num_games=2", "run_name=one", "tags=[good, old]", "note=the ${first}")
        evaluate("num_games=3", "run_name=two", "tags=good", "max_steps=4")
    episodes = folder / "runs" / "two" / EPISODES
    lines = episodes.read_text(encoding="utf-8").splitlines(keepends=True)
    episodes.write_text("".join(lines[:1]), encoding="utf-8")
    return folder / "runs"


@pytest.fixture
def runs(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copytree(played, tmp_path / "runs")
    (tmp_path / "runs" / "two" / EPISODES).touch()
    return tmp_path / "runs"


def evaluate(*overrides: str) -> None:
    with pytest.raises(SystemExit) as left:
        main([*SMALL, *overrides])
    assert left.value.code == 0


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main(list(words))
    assert left.value.code == code
    out, err = capsys.readouterr()
    return out, err


def test_runs_are_listed_with_state_figures_and_tags(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, _ = said(capsys, "runs")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line.startswith("  ")}
    assert rows["one"][1:3] == ["complete", "2/2"]
    assert rows["two"][1:3] == ["stopped", "1/3"], "nobody plays it, recent as its file is"
    with RunFolder(runs / "two").lock():
        running, _ = said(capsys, "runs", "--state", "running")
    assert "two" in running.split()
    assert "good, old" in out
    assert "one: the ${first}" in out


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([], ["one", "two"]),
        (["--tag", "good"], ["one", "two"]),
        (["--tag", "good", "--tag", "old"], ["one"]),
        (["--state", "complete"], ["one"]),
        (["--match", "TWO"], ["two"]),
        (["--tag", "none"], []),
    ],
)
def test_runs_are_chosen(
    runs: Path, capsys: pytest.CaptureFixture[str], words: list[str], names: list[str]
) -> None:
    out, _ = said(capsys, "runs", str(runs), "--json", *words)
    listed = json.loads(out)
    assert [run["name"] for run in listed] == names
    for run in listed:
        assert run["summary"]["requested"] >= run["summary"]["total_games"] > 0


def test_a_broken_run_does_not_hide_the_others(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (runs / "two" / "manifest.json").write_text("{")
    out, err = said(capsys, "runs")
    assert "one" in out
    assert "two cannot be read: " in err


@pytest.mark.parametrize("columns", [50, 80])
def test_a_list_fits(
    runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out, _ = said(capsys, "runs")
    assert max(map(len, out.splitlines())) <= columns


def test_a_report_of_a_folder_lists_its_runs(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, err = said(capsys, "report", "runs")
    assert "complete" in out
    assert "agentquest report runs/" in err


def test_a_run_is_played_again_and_the_differences_are_said(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, err = said(capsys, "rerun", "runs/one")
    assert "nothing differs" in err
    first, again = RunFolder(runs / "one"), RunFolder(runs / "one-2")
    assert first.manifest().config_hash == again.manifest().config_hash
    assert again.manifest().note == "the ${first}"
    actions = [[record.actions for record in run.records()] for run in (first, again)]
    assert actions[0] == actions[1]
    _, err = said(capsys, "rerun", "runs/one", "--max-steps", "2", "tags=short")
    assert "max_steps: was 50, is 2" in err
    assert "tags: was ['good', 'old'], is ['short'] (cannot change scores)" in err
    assert RunFolder(runs / "one-3").manifest().max_steps == 2


def test_a_rerun_can_be_resumed(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, err = said(capsys, "rerun", "runs/one")
    told = next(line for line in err.splitlines() if line.startswith("to resume it: "))
    words = told.partition("agentquest ")[2].split()
    _, err = said(capsys, *words)
    assert "resuming: 2 of 2 episodes already played" in err


def test_another_agent_or_benchmark_does_not_inherit_settings(
    runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate("agent=react", "num_games=1", "run_name=asking")
    out, err = said(capsys, "rerun", "runs/asking", "agent=random", "--dry-run")
    assert "agent.name: was 'react', is 'random'" in err
    out, err = said(capsys, "rerun", "runs/asking", "benchmark=sudoku", "--dry-run")
    assert "1 episode, run directory runs/asking-2" in out
    assert not (runs / "asking-2").exists()
