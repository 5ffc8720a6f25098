"""`agentquest serve agentgym`: ALFWorld or WebShop for AgentGym's clients."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import BenchmarkWords, read_settings, read_words
from agentquest.cli.serving import (
    AllowHost,
    Host,
    Idle,
    MaxSessions,
    MaxSteps,
    Open,
    Port,
    check_extra,
    serve_app,
)


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
    """Serve ALFWorld or WebShop to AgentGym's clients, which work unchanged.

    Give them the printed address: AlfWorldEnvClient(env_server_base=ADDRESS, ...).
    `game` is an index into the served split, or into AgentGym's own list with --mapping;
    WebShop's `session_id` is the index of a goal. `/close` frees an environment, and so does
    the idle timeout; a step after the end and a full server get an error that says why.

    ALFWorld uses the 0.3 dialect that those clients expect (`put apple 1 in/on fridge 1`);
    dialect=0.4 selects the newer one.

    Examples:

      agentquest serve agentgym alfworld split=train

      agentquest serve agentgym alfworld --mapping mappings_train.json

      agentquest serve agentgym webshop --port 36002
    """
    benchmark, settings = read_words(words)
    check_extra()
    from agentquest.adapters.agentgym import agentgym_app

    given = read_settings(settings)
    app = agentgym_app(benchmark, given, max_sessions, idle, max_steps, mapping or [])
    what = f"{benchmark} for AgentGym"
    serve_app(app, what, host, port, allow_host, is_open, max_sessions)
