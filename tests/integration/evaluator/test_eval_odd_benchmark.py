"""A game of a benchmark that breaks is nobody's loss, and the others are played."""

from pathlib import Path

import pytest

from agentquest import load_run
from agentquest.cli.app import main
from agentquest.records.outcome import End

BENCHMARK = """\
import math

from agentquest.lib import Benchmark, Driver, Observation, Outcome, State, Task


class Wordless:
    def __str__(self):
        raise RuntimeError("no words")


class OddDriver(Driver):
    def __init__(self, odd):
        super().__init__()
        self.odd, self.steps = odd, 0

    @property
    def outcome(self):
        won = self.steps > 0
        reward = math.nan if self.odd == "reward" and won else float(won)
        return Outcome(won, won, reward, float(won), explanation=self.given("explanation", ""))

    def given(self, what, usual):
        odd = {"explanation": None, "goal": None, "facts": {Wordless(): ""}, "details": []}
        return odd[what] if self.odd == what else usual

    def facts(self):
        return self.given("facts", {})

    def details(self):
        return self.given("details", {})

    def _reset(self):
        if self.odd == "half":
            return "Go \\ud800", self.observe("You can go \\ud800.", ["go"])
        if self.odd == "reset":
            raise KeyError("start")
        return self.given("goal", "Go."), self.observe("You can go.", ["go"])

    def _step(self, action):
        self.steps += 1
        if self.odd == "observation":
            return State(1), Observation("gone", can_proceed=False, text=None)
        return State(1), self.observe("You went.", ["go"])


class Odd(Benchmark):
    name, title = "odd", "Odd"
    splits, task_types, actions = {"test": 2}, ("walk",), ("go",)

    def tasks(self):
        return [Task(name, "walk", "test", name) for name in (ODD, "sound")]

    def driver(self, task):
        return OddDriver(task.problem)
"""


@pytest.mark.parametrize(
    "odd", ["reset", "goal", "observation", "reward", "explanation", "facts", "details"]
)
def test_what_cannot_be_recorded_costs_its_own_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / f"odd_{odd}.py").write_text(f"ODD = {odd!r}\n{BENCHMARK}")
    settings = f"benchmark=odd_{odd}:Odd agent=random agent_faults=lose run_name=odd"
    with pytest.raises(SystemExit) as left:
        main(["eval", "output_dir=runs", *settings.split()])
    assert left.value.code == 1
    broken, sound = load_run(tmp_path / "runs" / "odd").records
    assert (broken.end, broken.scored) == (End.INFRASTRUCTURE_FAULT, False)
    assert broken.error is not None
    assert broken.error.source == "environment"
    assert (sound.end, sound.scored, sound.success) == (End.SOLVED, True, True)


def test_half_characters_cost_nobody_a_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd_half.py").write_text(f"ODD = 'half'\n{BENCHMARK}")
    with pytest.raises(SystemExit) as left:
        main(["eval", "benchmark=odd_half:Odd", "agent=scripted", "output_dir=.", "run_name=odd"])
    assert left.value.code == 0
    odd, _ = load_run(tmp_path / "odd").records
    assert (odd.goal, odd.success) == ("Go \\ud800", True)
