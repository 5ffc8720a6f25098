"""The first minute: the demo separates its players, replays two games and says what is next."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentquest import load_run
from warm_python import agentquest

AGENTS = ("oracle", "scripted", "clumsy", "random")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("demo")
    environment = {**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    done = agentquest("demo", "--games", "12", cwd=folder, env=environment, timeout=280)
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_fits_eighty_columns(shown: tuple[Path, str]) -> None:
    lines = [line for line in shown[1].splitlines() if "agentquest" not in line]
    assert max(map(len, lines)) <= 80


def test_no_line_is_left_empty_where_bars_would_be(shown: tuple[Path, str]) -> None:
    assert shown[1].splitlines()[0].split()[:2] == ["player", "success"]


def played(folder: Path, *words: str, columns: int = 80) -> str:
    environment = {**os.environ, "COLUMNS": str(columns), "PYTHONIOENCODING": "utf-8"}
    done = agentquest("demo", "--games", "2", *words, cwd=folder, env=environment, timeout=280)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_fits_fifty_columns(tmp_path: Path) -> None:
    text = played(tmp_path, "alfworld", "--games", "12", columns=50)
    results, _, following = text.partition("The runs are in")
    assert max(map(len, results.splitlines())) <= 50
    assert "steps" in results.splitlines()[0]
    assert "first step away" in results
    assert "view runs\n" in following


def test_what_is_printed_as_next_works_as_it_is(tmp_path: Path) -> None:
    folder = "a [red] folder of runs, with a name that is longer than the terminal is wide"
    text = played(tmp_path, "mastermind", "--output-dir", folder)
    (view,) = re.findall(r"^  (.+ view .+)$", text, re.MULTILINE)
    done = subprocess.run(
        ["bash", "-c", f"{view} --export site"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "random" in (tmp_path / "site" / "index.html").read_text(encoding="utf-8")


def test_it_ends_in_the_browser_on_the_port_that_is_free(tmp_path: Path) -> None:
    words = ["demo", "mastermind", "--games", "1", "--open", "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "agentquest", *words],
        cwd=tmp_path,
        env={**os.environ, "BROWSER": "true"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert any("http://127.0.0.1:" in line for line in process.stdout)
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 130


def test_the_players_separate(shown: tuple[Path, str]) -> None:
    rates = [int(rate) for rate in re.findall(r"[█░]{10} +(\d+)%", shown[1])]
    assert len(rates) == 2 * len(AGENTS)
    for of_benchmark in (rates[:4], rates[4:]):
        assert of_benchmark == sorted(of_benchmark, reverse=True)
        assert of_benchmark[0] == 100
    assert 0 < rates[2] < 100


def test_a_win_and_a_failure_are_replayed_with_the_distance_to_the_goal(
    shown: tuple[Path, str],
) -> None:
    win, _, failure = shown[1].partition("A failure of clumsy: ")
    _, _, win = win.partition("A win of scripted: ")
    distances = [int(number) for number in re.findall(r"(\d+) to go", win)]
    assert distances[-1] == 0
    assert "first step away" in failure
    assert "then: step_limit" in failure


def test_the_runs_are_kept(shown: tuple[Path, str]) -> None:
    runs = sorted((shown[0] / "runs").iterdir())
    assert len(runs) == 2 * len(AGENTS)
    assert all(load_run(run).complete for run in runs)


def test_nonsense_is_refused_by_name() -> None:
    done = agentquest("demo", "--games", "-3")
    assert done.returncode == 2
    assert "--games" in done.stderr
