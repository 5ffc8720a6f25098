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
    rounds: Annotated[int, typer.Option(min=1, help="Answers per sample.")] = 20,
    repair: Annotated[
        Repair,
        typer.Option(
            help="bleu: play the most similar admissible command in the place of one that is "
            "none, as AgentBench does. Says so in the result."
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
        str | None, typer.Option(help="A controller to report to, such as http://host:5020/api.")
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(help="Where the controller reaches us, such as http://host:5021/api."),
    ] = None,
) -> None:
    """Serve a benchmark to AgentBench's clients and controllers (function calling).

    Its client talks to the address that is printed, with /api/ behind it; with --controller
    we report there, as its own workers do. Index i is the i-th task of the split, or of
    --games. A finished, cancelled or silent sample is freed; 406 says that all are taken.

    Actions are played as they are said. --repair bleu plays what AgentBench would have
    played; the result's metric then has `replaced_actions`, and the log says which.

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
        raise UserError("--controller and --address go together: it must reach us, too")
    arena = arena_of(benchmark, settings)
    listed = agentbench_games(arena, games) if games else None
    terms = Terms(name or f"{benchmark}-std", max_sessions, idle, rounds, repair)
    told = Controller(controller, address) if controller and address else None
    app = AgentBenchWorker(arena, terms, listed, told).app()
    what = f"{terms.name} for AgentBench"
    serve_app(app, what, host, port, allow_host, is_open, max_sessions, max_body=LONGEST_BODY)
