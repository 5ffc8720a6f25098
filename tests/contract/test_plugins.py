"""A benchmark of somebody else's: a distribution with an entry point is all it takes."""

import os
import subprocess
from pathlib import Path

import pytest

import warm_python

METADATA = "Metadata-Version: 2.1\nName: guessing\nVersion: 1.0\n"
ENTRY_POINTS = """[agentquest.benchmarks]
guess = guessing:GuessBenchmark

[agentquest.agents]
fifty = guessing:FiftyAgent

[agentquest.protocols]
guess-20 = guessing:GUESS_20
"""
ADDED = """

from agentquest.lib import Agent, Answer
from agentquest.protocols import Protocol


class FiftyAgent(Agent):
    async def act(self, observation):
        return Answer(action="guess 50")


GUESS_20 = Protocol("guess-20", "All 20 test numbers.", {"benchmark": "guess", "max_steps": 3})
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder as an installer leaves it: a module, and the distribution's metadata."""
    site = tmp_path / "site"
    info = site / "guessing-1.0.dist-info"
    info.mkdir(parents=True)
    source = (Path(__file__).parent / "full_benchmark.py").read_text(encoding="utf-8")
    (site / "guessing.py").write_text(source + ADDED, encoding="utf-8")
    (info / "METADATA").write_text(METADATA, encoding="utf-8")
    (info / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
    return site


def agentquest(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return warm_python.agentquest(*words, cwd=installed.parent, env=environment)


def test_it_is_listed_like_ours(installed: Path) -> None:
    done = agentquest(installed, "benchmarks")
    assert done.returncode == 0, done.stderr
    assert "guess: Guess the number" in done.stdout
    assert "test (20), train (20)" in done.stdout


def test_it_keeps_its_promises(installed: Path) -> None:
    done = agentquest(installed, "check-benchmark", "guess")
    assert done.returncode == 0, done.stdout
    assert "22 checks, 0 with problems" in done.stdout


def test_it_is_evaluated_reported_and_resumed_by_its_name(installed: Path) -> None:
    words = ("benchmark=guess", "agent=scripted", "num_games=4", "run_name=first")
    done = agentquest(installed, "eval", *words)
    assert done.returncode == 0, done.stderr
    assert "Guess the number" in done.stdout
    report = agentquest(installed, "report", "runs/first", "--format", "markdown")
    assert report.returncode == 0, report.stderr
    assert "up to 10000" in report.stdout
    assert "Guess the number" in report.stdout
    again = agentquest(installed, "eval", *words)
    assert again.returncode == 0, again.stderr


def test_its_settings_agents_and_protocols_are_known_too(installed: Path) -> None:
    done = agentquest(installed, "eval", "protocol=guess-20", "agent=fifty", "num_games=2")
    assert done.returncode == 0, done.stderr
    wrong = agentquest(installed, "eval", "benchmark=guess", "serie=2")
    assert wrong.returncode == 2
    assert "did you mean 'series'" in wrong.stderr


def test_without_it_the_name_is_unknown(tmp_path: Path) -> None:
    empty = tmp_path / "site"
    empty.mkdir()
    done = agentquest(empty, "eval", "benchmark=guess")
    assert done.returncode == 2
    assert "'guess' is not a benchmark" in done.stderr
