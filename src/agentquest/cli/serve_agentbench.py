"""`agentquest serve agentbench`: a benchmark as AgentBench's task worker."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.adapters.bleu import Repair
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
from agentquest.errors import UserError


def command(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 5021,
    allow_host: AllowHost = None,
    is_open: Open = False,
    max_sessions: MaxSessions = 64,
    idle: Idle = 3600.0,
    rounds: Annotated[int, typer.Option(min=1, help="Most rounds per sample.")] = 20,
    repair: Annotated[
        Repair,
        typer.Option(
            help="bleu: replace an inadmissible command by the most similar admissible one, as"
            " AgentBench does; the result says so."
        ),
    ] = Repair.NONE,
    games: Annotated[
        Path | None,
        typer.Option(help="AgentBench's list of games, such as its new_std.json."),
    ] = None,
    name: Annotated[
        str | None, typer.Option(help="The task's name; default: BENCHMARK-std.")
    ] = None,
    controller: Annotated[
        str | None, typer.Option(help="Controller to register with, such as http://host:5020/api.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="This server as the controller sees it: http://host:5021/api."),
    ] = None,
) -> None:
    """Serve a benchmark to AgentBench's clients and controllers (function calling).

    The client connects to the printed address plus /api/; with --controller the server
    registers there, as AgentBench's own workers do. Index i is the i-th task of the split, or
    of --games. Finished, cancelled and idle samples are freed; 406 means that all are in use.

    Actions are played as given. --repair bleu plays what AgentBench would have played; the
    result's metric then has `replaced_actions`, and the log lists them.

    Examples:

      agentquest serve agentbench alfworld

      agentquest serve agentbench alfworld --games new_std.json --repair bleu

      agentquest serve agentbench webshop goals=human
    """
    benchmark, settings = read_words(words)
    check_extra()
    from agentquest.adapters.agentbench_server import (
        LONGEST_BODY,
        AgentBenchWorker,
        Controller,
        Terms,
    )
    from agentquest.adapters.game_lists import agentbench_games

    if (controller is None) != (address is None):
        raise UserError(
            "--controller needs --address, where it can reach this server, and the other way round"
        )
    arena = arena_of(benchmark, settings)
    listed = agentbench_games(arena, games) if games else None
    terms = Terms(name or f"{benchmark}-std", max_sessions, idle, rounds, repair)
    told = Controller(controller, address) if controller and address else None
    app = AgentBenchWorker(arena, terms, listed, told).app()
    what = f"{terms.name} for AgentBench"
    serve_app(app, what, host, port, allow_host, is_open, max_sessions, max_body=LONGEST_BODY)
