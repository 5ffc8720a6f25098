"""AgentGym's servers of the two benchmarks that it shares with us."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette

from agentquest.adapters.agentgym_alfworld import AlfworldGym
from agentquest.adapters.agentgym_webshop import WebshopGym
from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.game_lists import agentgym_games
from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.errors import UnknownName, UserError


def agentgym_app(
    benchmark: str,
    settings: Mapping[str, Any],
    max_sessions: int,
    idle_s: float,
    max_steps: int,
    mappings: Sequence[Path] = (),
) -> Starlette:
    """ALFWorld in the dialect its clients are written for, unless another is asked for; WebShop."""
    if benchmark == "alfworld":
        arena = shared_arena(benchmark, {"dialect": "0.3", **settings})
        games = agentgym_games(arena, mappings) if mappings else None
        return AlfworldGym(arena, max_sessions, idle_s, max_steps, games).app()
    if benchmark != "webshop":
        raise UnknownName(f"AgentGym has no {benchmark!r}; there are: alfworld, webshop")
    if mappings:
        raise UserError("mapping files list games of ALFWorld; WebShop's goals have numbers")
    shop = shared_arena(benchmark, settings).benchmark
    assert isinstance(shop, WebshopBenchmark)
    return WebshopGym(shop.shop, max_sessions, idle_s).app()
