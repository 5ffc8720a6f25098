"""The first minute: the demo separates its players, replays two games and says what is next."""

import os
import re
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


def test_a_file_gets_no_empty_lines_in_place_of_the_bars(shown: tuple[Path, str]) -> None:
    assert shown[1].splitlines()[0].split() == [
        "player", "success", "steps", "progress", "repetition", "behaviour",
    ]  # fmt: skip


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
