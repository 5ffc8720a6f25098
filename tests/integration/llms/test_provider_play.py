"""The same player through every wire format, in words and by tools, plays the same games.

The server's model works every answer out from what it is told in that request: if
a layer lost or changed a word on the way, it would play otherwise.
"""

from typing import Any

import pytest
from rule_players import by_tools, by_words
from wires import ACT, WIRES, Wire, all_wires, talking

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.config import load_config
from agentquest.records.episode import EpisodeRecord
from agentquest.running.run import Run
from episode_players import play_unrecorded

GAMES = 6


async def played(agent: dict[str, Any], llm: dict[str, Any]) -> list[EpisodeRecord]:
    settings = {
        "benchmark": "alfworld",
        "benchmark_settings": {"data_path": "builtin"},
        "num_games": GAMES,
        "max_steps": 40,
        "agent": agent,
        "llm": llm,
    }
    records = await play_unrecorded(Run(load_config(settings=settings)[0]))
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
    explorer = AlfWorldExplorer
    answer = by_words(explorer) if agent == "react" else by_tools(explorer, ACT)
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
