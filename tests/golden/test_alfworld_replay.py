"""Every recording of the reference engine replays without one differing letter."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from shared_data import ALFWORLD, needs_alfworld

pytestmark = needs_alfworld

GAMES = ALFWORLD / "json_2.1.1"
GOLDEN = ALFWORLD / "golden"


def recordings(file: str) -> Iterator[dict[str, Any]]:
    content = (GOLDEN / file).read_bytes()
    text = gzip.decompress(content) if file.endswith(".gz") else content
    for line in text.splitlines():
        yield json.loads(line)


def load(recording: dict[str, Any], dialect: str | None) -> AlfWorldEngine:
    return AlfWorldEngine.load(Path(GAMES, recording["game"]), dialect)


@pytest.mark.parametrize("release", ["0.3.5", "0.4.2"])
def test_recorded_episodes(release: str) -> None:
    steps = games = 0
    for recording in recordings(f"reference-{release}.jsonl.gz"):
        game = load(recording, recording["dialect"])
        assert game.dialect.value == release[:3]
        assert game.reset() == recording["reset"]["obs"]
        assert game.admissible == recording["reset"]["admissible"]
        for step in recording["steps"]:
            where = (recording["game"], step["action"])
            assert game.step(step["action"]) == step["obs"], where
            assert game.admissible == step["admissible"], where
            assert game.won == step["won"], where
            steps += 1
        games += 1
    assert games > 20
    assert steps > 500


def test_recorded_plans_have_the_length_of_ours_and_ours_win() -> None:
    plans = 0
    for recording in recordings("oracle-plans.jsonl"):
        game = load(recording, None)
        game.reset()
        assert_as_short(game, recording["plan"], recording["game"])
        for step in recording["steps"]:
            game.step(step["action"])
            assert game.won == step["won"]
            assert_as_short(game, step["plan"], (recording["game"], step["action"]))
            plans += 1
    assert plans > 200


def assert_as_short(game: AlfWorldEngine, reference: list[str], where: object) -> None:
    plan = game.plan()
    assert plan.reachable, where
    assert len(plan.commands) == len(reference), where
    twin = game.copy()
    for command in plan.commands:
        twin.step(command)
    assert twin.won, where
