"""What commands print fits a terminal of 80 columns, and one of 50."""

import json
import shutil
from pathlib import Path

import pytest

import agentquest
from agentquest.cli import main
from agentquest.reports.render.text import shorten_names


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide")
    for name, steps in (("one", 9), ("a-run-with-a-rather-long-name-of-its-own-that-goes-on", 3)):
        agentquest.evaluate(
            benchmark="mastermind", agent="react", num_games=5, max_steps=steps, run_name=name,
            output_dir=folder / "runs", trials=2, tags=["first", "second"],
        )  # fmt: skip
    return folder


@pytest.mark.parametrize("columns", [80, 50])
@pytest.mark.parametrize(
    "words",
    [
        "benchmarks",
        "info",
        "runs",
        "report runs/one",
        "report runs",
        "compare runs/one runs/a-run-with-a-rather-long-name-of-its-own-that-goes-on",
        "compare runs/one runs/a-run-with-a-rather-long-name-of-its-own-that-goes-on --list",
        "power runs/one --precision 5 --difference 20",
        "-h",
        "eval -h",
        "runs -h",
    ],
)
def test_it_fits(
    words: str,
    columns: int,
    runs: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit) as left:
        main(words.split())
    out, _ = capsys.readouterr()
    assert left.value.code == 0
    assert len(max(out.splitlines(), key=len)) <= columns


@pytest.mark.parametrize("columns", [120, 80, 50])
def test_the_runs_are_one_table(
    columns: int, runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs)
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(SystemExit):
        main(["runs"])
    table, *more = capsys.readouterr().out.rstrip().split("\n\n")
    heading, *rows = table.splitlines()
    assert heading.split()[:4] == ["run", "state", "scored", "success"]
    assert len(rows) == 2
    few = more.pop().split()
    assert few[:4] == ["fewer", "than", "10", "tasks:"]
    assert "one" in {name.rstrip(",") for name in few[4:]}, "in whichever second they began"
    left_out = {"agent", "model", "benchmark", "tags"} - set(heading.split())
    assert {*more} == ({*more} if left_out else set())
    assert all(name in more[0] for name in left_out)


def test_runs_that_differ_in_the_middle_of_their_names_can_be_told_apart(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for way in ("react", "zero-shot"):
        name = f"an-example-of-a-sweep_{way}_scripted_seed-1"
        shutil.copytree(runs / "runs" / "one", tmp_path / name)
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["runs", str(tmp_path)])
    _, first, second, *_ = capsys.readouterr().out.splitlines()
    assert first.split()[0] != second.split()[0]


def test_a_comparison_says_its_answer_first_and_names_tasks_on_request(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(runs)
    words = [
        "compare",
        *(str(path.relative_to(runs)) for path in sorted((runs / "runs").iterdir())),
    ]
    said = []
    for more in ([], ["--list"]):
        with pytest.raises(SystemExit):
            main([*words, *more])
        said.append(capsys.readouterr().out)
    short, long = said
    assert short.splitlines()[0].startswith(("one solves more", "No clear difference"))
    assert "test/4-digits/" not in short
    assert "test/4-digits/" in long


def test_agents_with_long_names_can_be_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for model in ("model-a", "model-b"):
        result = agentquest.evaluate(
            benchmark="mastermind", agent="random", num_games=1, max_steps=2, run_name=model,
            output_dir=tmp_path,
        )  # fmt: skip
        file = result.path / "manifest.json"
        manifest = json.loads(file.read_text(encoding="utf-8"))
        manifest["agent"] = f"AgentQuest white agent (llm, {model})"
        file.write_text(json.dumps(manifest), encoding="utf-8")
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        main(["runs", str(tmp_path)])
    table = capsys.readouterr().out
    assert "AgentQuest…m, model-a)" in table
    assert "AgentQuest…m, model-b)" in table


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["", ""], ["", ""]),
        (["agent", ""], ["agent", "     "]),
        (["the-same-long-name"] * 2, ["the-…-name"] * 2),
        (["first-xxxxx-1-xxxxx-end", "first-xxxxx-2-xxxxx-end"], ["firs…x-end"] * 2),
    ],
)
def test_names_that_nothing_keeps_apart_lose_their_middle(
    names: list[str], shown: list[str]
) -> None:
    assert shorten_names(names, 10) == shown
