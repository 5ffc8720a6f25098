"""`agentquest serve openenv`: a benchmark for OpenEnv's clients."""

from pathlib import Path
from typing import Annotated

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
from agentquest.words import counted


def command(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
    is_open: Open = False,
    max_sessions: MaxSessions = 1000,
    idle: Idle = 3600.0,
    max_steps: MaxSteps = 50,
    oracle: Annotated[
        bool, typer.Option("--oracle", help="Let clients ask for the oracle's plan.")
    ] = False,
    package: Annotated[
        Path | None,
        typer.Option(help="Write an OpenEnv package to this folder instead of serving."),
    ] = None,
) -> None:
    """Serve a benchmark to OpenEnv's clients, and to everything built on them.

    A session is a WebSocket connection: GenericEnvClient(base_url=ADDRESS). Its reset takes
    split and index, or task_id, or a seed that draws a task; an action is {"command": text}.
    Clients get an error if the server is full or the session was idle too long. --package
    writes a folder for `openenv validate` and `openenv push`.

    Examples:

      agentquest serve openenv alfworld split=train --max-sessions 2000

      agentquest serve openenv webshop --package webshop_env
    """
    benchmark, settings = read_words(words)
    arena = arena_of(benchmark, settings)
    if package is not None:
        from agentquest.adapters.openenv_package import write_package

        write_package(arena, package, max_steps)
        typer.echo(f"wrote {package}")
        return
    check_extra()
    from agentquest.adapters.openenv_server import OpenEnvServer, Terms
    from agentquest.adapters.openenv_wire import LONGEST_MESSAGE

    server = OpenEnvServer(arena, Terms(max_sessions, idle, max_steps, oracle))
    typer.echo(f"{counted(len(arena.tasks()), 'task')} in split {arena.split!r}", err=True)
    serve_app(
        server.app(),
        f"{arena.benchmark.title} for OpenEnv",
        host,
        port,
        allow_host,
        is_open,
        max_sessions,
        websocket_bytes=4 * LONGEST_MESSAGE,
    )
