"""`agentquest serve agentbench`: a benchmark as AgentBench's task worker."""

from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import BenchmarkWords, read_words
from agentquest.cli.serving import (
    AllowHost,
    Host,
    Idle,
    MaxSessions,
    Open,
    Port,
    arena_of,
    check_extra,
    serve_app,
)


def command(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 5021,
    allow_host: AllowHost = None,
    is_open: Open = False,
    max_sessions: MaxSessions = 64,
    idle: Idle = 3600.0,
    rounds: Annotated[int, typer.Option(min=1, help="Answers per sample.")] = 20,
    as_published: Annotated[
        bool,
        typer.Option(
            "--as-published",
            help="Replace actions that are not admissible by the most similar, as AgentBench does.",
        ),
    ] = False,
    name: Annotated[
        str | None, typer.Option(help="The task's name; default: BENCHMARK-std.")
    ] = None,
    controller: Annotated[
        str | None, typer.Option(help="A controller to report to, such as http://host:5020/api.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="Where the controller reaches us; needed with --controller.")
    ] = None,
) -> None:
    """Serve a benchmark to AgentBench's clients and controllers (function calling).

    Example: agentquest serve agentbench alfworld
    """
    benchmark, settings = read_words(words)
    check_extra()
    from agentquest.adapters.agentbench_server import AgentBenchWorker, Terms

    terms = Terms(
        name or f"{benchmark}-std",
        max_sessions,
        idle,
        rounds,
        as_published,
        controller,
        address or (f"http://{host}:{port}/api" if controller else None),
    )
    app = AgentBenchWorker(arena_of(benchmark, settings), terms).app()
    what = f"{terms.name} for AgentBench"
    serve_app(app, what, host, port, allow_host, is_open, max_sessions)
