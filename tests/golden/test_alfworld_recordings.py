"""What the reference engine printed on built-in homes, ours prints too, letter for letter.

`python conformance/record.py` makes the recordings; docs/fidelity.md says more.
"""

import gzip
import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText

FILE = Path(__file__).with_name("alfworld_reference.jsonl.gz")
DIALECTS = ("0.3", "0.4")
Recording = dict[str, Any]


@cache
def recordings(dialect: str) -> list[Recording]:
    lines = gzip.decompress(FILE.read_bytes()).splitlines()
    return [found for line in lines if (found := json.loads(line))["dialect"] == dialect]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_step_is_answered_as_the_reference_answers(dialect: str) -> None:
    for recording in recordings(dialect):
        home = homes.game(recording["game"])
        digest = hashlib.sha256(home.problem.encode()).hexdigest()
        assert digest == recording["problem"], "the home has changed: conformance/record.py"
        game = AlfWorldEngine.from_text(GameText(home.problem, home.goal), Dialect(dialect))
        assert game.reset() == recording["start"]["obs"]
        assert game.admissible == recording["start"]["admissible"]
        for number, step in enumerate(recording["steps"], 1):
            where = (recording["game"], number, step["action"])
            assert game.step(step["action"]) == step["obs"], where
            assert game.admissible == step["admissible"], where
            assert game.won == step["won"], where


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "answer",
    [
        *("You arrive at ", "You open the ", "You close the ", "You pick up the "),
        *("You heat the ", "You cool the ", "You clean the ", "You sliced the "),
        *("You turn on the ", "You are carrying: a ", "You are not carrying anything."),
        *("You are facing the ", "Next to it, you see a ", "Nothing happens."),
        *("This is a hot ", "This is a cold ", "This is a clean ", "This is a sliced "),
        *("This is a hot and clean ", "This is a cool and clean ", "This is a normal "),
        *("There's nothing special about ", " is closed.", " is open. In it, "),
    ],
)
def test_the_recordings_have_every_kind_of_answer(dialect: str, answer: str) -> None:
    steps = [step for recording in recordings(dialect) for step in recording["steps"]]
    assert any(answer in step["obs"] for step in steps)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_games_of_every_type_are_recorded_and_some_are_won(dialect: str) -> None:
    games = recordings(dialect)
    assert len({recording["game"].split("/")[1].partition("-")[0] for recording in games}) == 6
    assert sum(recording["steps"][-1]["won"] for recording in games) >= 4
