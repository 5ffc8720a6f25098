"""Whatever goes wrong on the way from a model server, no game ends otherwise than without it."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from rule_players import by_tools, by_words
from wires import ACT, Wire, all_wires

from agentquest.api import play_pending
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.benchmarks.mastermind.explorer import MasterMindExplorer
from agentquest.benchmarks.mastermind.prompting import BRIEFING
from agentquest.config import load_config
from agentquest.running.run import Run
from agentquest.store.stored_run import StoredRun
from llm_servers.faulty_proxy import FAULTS, FaultyProxy

GAMES, TRIALS = 12, 4
(TOOL,) = BRIEFING.tools
PLAYERS = {"mastermind": (MasterMindExplorer, TOOL), "alfworld": (AlfWorldExplorer, ACT)}


async def run_at(
    url: str, folder: Path, wire: Wire, benchmark: str, agent: str, stream: bool
) -> StoredRun:
    llm = {"provider": wire.name, "model": "m", "base_url": url, "api_key_env": None}
    patience = {"wait_interval": 0.001, "timeout_s": 1.0, "max_response_bytes": 200_000}
    settings: dict[str, Any] = {
        "benchmark": benchmark,
        "benchmark_settings": {"data_path": "builtin"} if benchmark == "alfworld" else {},
        "num_games": GAMES,
        "trials": TRIALS,
        "max_steps": 12 if benchmark == "mastermind" else 60,
        "parallel": 12,
        "agent_faults": "lose",
        "agent": {"name": agent, **({"history_length": 100} if agent == "react" else {})},
        "llm": {**llm, **patience, "max_retries": 20, "stream": stream},
        "output_dir": str(folder),
    }
    run = Run(load_config(settings=settings)[0])
    return await play_pending(run, run.prepare())


def told(run: StoredRun) -> dict[str, Any]:
    return {
        record.key: (record.end.value, [(step.how, step.action) for step in record.steps])
        for record in run.records
    }


@pytest.fixture(scope="module")
def sound() -> dict[Any, Any]:
    """How the games end without faults, by benchmark and agent."""
    return {}


@pytest.mark.long
@all_wires
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("agent", ["react", "tools"])
@pytest.mark.parametrize("benchmark", PLAYERS)
async def test_faults_of_every_kind_change_no_game(
    wire: Wire, benchmark: str, agent: str, stream: bool, sound: dict[Any, Any], tmp_path: Path
) -> None:
    explorer, tool = PLAYERS[benchmark]
    answer = by_words(explorer) if agent == "react" else by_tools(explorer, tool)
    game = benchmark, agent
    async with wire.server(answer) as server:
        where = urlsplit(server.url)
        origin = f"{where.scheme}://{where.netloc}"
        if game not in sound:
            sound[game] = told(await run_at(server.url, tmp_path / "sound", wire, *game, stream))
            assert len(sound[game]) == GAMES * TRIALS
            assert {end for end, _ in sound[game].values()} == {"solved"}
        async with FaultyProxy(origin) as proxy:
            faulty = await run_at(
                proxy.origin + where.path, tmp_path / "faulty", wire, *game, stream
            )
    assert told(faulty) == sound[game]
    assert set(proxy.served) == set(FAULTS)
    calls = [call for record in faulty.records for call in record.calls]
    failed = sum(call.attempts - 1 for call in calls)
    # How many more there are depends on the machine: a slow answer is asked for again too.
    assert failed > 0.2 * len(calls)
