"""Seats and tools for the callers of one run."""

from collections.abc import Callable

from agentquest.adapters.mcp_desk import CallerSettings, Desk, Seat
from agentquest.adapters.mcp_protocol import ToolHost
from agentquest.adapters.mcp_tools import GameTools
from agentquest.adapters.text_player import briefing_of
from agentquest.lib import Arena
from agentquest.running.factory import agent_settings
from agentquest.running.run import Run


def seated(run: Run, desk: Desk) -> Callable[[str], tuple[Seat, ToolHost]]:
    """Gives each caller a seat at the desk and the tools to play with."""
    benchmark, chosen = run.benchmark, run.config.agent
    briefing = briefing_of(Arena(benchmark), run.selection.tasks[0])
    settings = agent_settings(chosen.name, chosen.settings)
    assert isinstance(settings, CallerSettings)

    def make(name: str) -> tuple[Seat, ToolHost]:
        seat = Seat(desk, name)
        desk.seats.add(seat)
        return seat, GameTools(f"agentquest-{benchmark.name}", briefing, seat, settings)

    return make
