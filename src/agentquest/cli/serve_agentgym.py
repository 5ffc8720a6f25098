"""`agentquest serve agentgym`: ALFWorld or WebShop for AgentGym's clients."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentquest.cli.benchmark_choice import BenchmarkWords, read_words
from agentquest.cli.serving import (
    AllowHost,
    Host,
    Idle,
    MaxSessions,
    MaxSteps,
    Open,
    Port,
    arena_of,
    check_extra,
    serve_app,
)
from agentquest.errors import UnknownName

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def command(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 36001,
    allow_host: AllowHost = None,
    is_open: Open = False,
    max_sessions: MaxSessions = 1000,
    idle: Idle = 3600.0,
    max_steps: MaxSteps = 50,
    mapping: Annotated[
        list[Path] | None,
        typer.Option(help="AgentGym's mappings_train.json, then mappings_test.json."),
    ] = None,
) -> None:
    """Serve ALFWorld or WebShop to AgentGym's clients; `/close` frees an environment.

    ALFWorld is served in the 0.3 dialect, which those clients are written for, unless
    `dialect` says otherwise. Example: agentquest serve agentgym alfworld split=train
    """
    benchmark, settings = read_words(words)
    check_extra()
    app = _app(benchmark, settings, max_sessions, idle, max_steps, mapping or [])
    what = f"{benchmark} for AgentGym"
    serve_app(app, what, host, port, allow_host, is_open, max_sessions)


def _app(
    benchmark: str,
    settings: list[str],
    most: int,
    idle: float,
    max_steps: int,
    mappings: list[Path],
) -> "ASGIApp":
    if benchmark == "alfworld":
        from agentquest.adapters.agentgym_alfworld import AlfworldGym

        if not any(text.startswith("dialect=") for text in settings):
            settings = [*settings, "dialect='0.3'"]
        return AlfworldGym(arena_of(benchmark, settings), most, idle, max_steps, mappings).app()
    if benchmark == "webshop":
        from agentquest.adapters.agentgym_webshop import WebshopGym
        from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark

        shop = arena_of(benchmark, settings).benchmark
        assert isinstance(shop, WebshopBenchmark)
        return WebshopGym(shop.shop, most, idle).app()
    raise UnknownName(f"AgentGym has no {benchmark!r}; there are: alfworld, webshop")
