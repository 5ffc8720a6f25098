"""The same player through every wire format, in words and by tools, plays the same games.

The server's model works every answer out from what it is told in that request: if
a layer lost or changed a word on the way, it would play otherwise.
"""

import json
import re
from typing import Any

import pytest
from wires import WIRES, Wire, all_wires, talking

from agentquest.api import play_unrecorded
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.config import config_from
from agentquest.records.episode import EpisodeRecord
from agentquest.running.run import Run
from said import Messages, Said

GAMES = 6
_HISTORY = re.compile(r"RECENT HISTORY\n=+\n(.*?)\n\n=+\nOUTPUT FORMAT", re.DOTALL)
_ENTRY = re.compile(r"^(?:Observation|Action): ", re.MULTILINE)


def next_move(observations: list[str]) -> tuple[str, str]:
    """What the player does after all that it has seen, and why."""
    explorer = AlfWorldExplorer()
    actions = [explorer.next_action(observation) for observation in observations]
    return actions[-1], explorer.thought


def by_words(messages: Messages) -> Said:
    history = _HISTORY.search(messages[-1]["content"])
    assert history is not None
    seen = [entry.removesuffix("\n") for entry in _ENTRY.split(history[1])[1::2]]
    action, thought = next_move(seen)
    return Said(f"THINK: {thought}\nACTION: {action}")


def by_tools(messages: Messages) -> Said:
    first = next(message for message in messages if message["role"] == "user")
    seen = [first["content"].partition("Observation: ")[2]]
    seen += [message["content"] for message in messages if message["role"] == "tool"]
    action, thought = next_move(seen)
    return Said(thoughts=thought, calls=(("act", json.dumps({"command": action})),))


async def played(agent: dict[str, Any], llm: dict[str, Any]) -> list[EpisodeRecord]:
    settings = {
        "benchmark": "alfworld",
        "benchmark_settings": {"data_path": "builtin"},
        "num_games": GAMES,
        "max_steps": 40,
        "agent": agent,
        "llm": llm,
    }
    records = await play_unrecorded(Run(config_from(settings)[0]))
    return sorted(records, key=lambda record: record.key)


def told(records: list[EpisodeRecord]) -> list[tuple[str, list[str], bool, float]]:
    return [(r.key, [str(s.action) for s in r.steps], r.success, r.reward) for r in records]


@pytest.fixture(scope="module")
def baseline() -> dict[str, Any]:
    return {}


@all_wires
@pytest.mark.parametrize("agent", ["react", "tools"])
async def test_every_way_leads_to_the_same_games(
    wire: Wire, agent: str, baseline: dict[str, Any]
) -> None:
    if not baseline:
        scripted = await played(
            {"name": "react", "history_length": 100}, {"provider": "scripted", "model": "scripted"}
        )
        baseline["games"] = told(scripted)
        assert sum(record.success for record in scripted) > 0
    answer = by_words if agent == "react" else by_tools
    settings: dict[str, Any] = {"name": agent}
    if agent == "react":
        settings["history_length"] = 100
    async with talking(wire, answer) as (_, server):
        llm = {"provider": wire.name, "model": "m", "base_url": server.url}
        if wire is not WIRES[0]:
            llm["api_key_env"] = None
        records = await played(settings, llm)
    assert told(records) == baseline["games"]
    steps = [step for record in records for step in record.steps]
    assert all(step.calls[0].usage is not None for step in steps)
    if agent == "tools":
        assert {step.how for step in steps} == {"tool_call"}
        assert all(step.reasoning for step in steps)
