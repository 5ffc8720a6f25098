"""`agentquest serve agentbench|agentgym|openenv`: benchmarks for other frameworks' clients."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agentquest.adapters.bleu import Repair
from agentquest.cli.benchmark_choice import BenchmarkWords, read_benchmark
from agentquest.cli.serving_options import AllowHost, Host, InsecureOrOpen, Port
from agentquest.cli.terminal import warn
from agentquest.errors import UserError
from agentquest.extras import require
from agentquest.http.access import Access
from agentquest.platform import allow_files
from agentquest.safe_text import say
from agentquest.words import counted

if TYPE_CHECKING:
    from starlette.types import ASGIApp

MaxSessions = Annotated[int, typer.Option(min=1, help="Most sessions at once.")]
Idle = Annotated[float, typer.Option(min=1.0, help="Seconds after which an idle session ends.")]
MaxSteps = Annotated[int, typer.Option(min=1, help="Most steps per episode.")]


def agentbench(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 5021,
    allow_host: AllowHost = None,
    insecure_no_token: InsecureOrOpen = False,
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

    \b
    Examples:
      agentquest serve agentbench alfworld
      agentquest serve agentbench alfworld --games new_std.json --repair bleu
      agentquest serve agentbench webshop goals=human
    """
    benchmark, settings = read_benchmark(words)
    _check_extra()
    from agentquest.adapters.agentbench import (
        LONGEST_BODY,
        AgentBenchWorker,
        Controller,
        WorkerTerms,
    )
    from agentquest.adapters.arenas import agentbench_games, shared_arena

    if (controller is None) != (address is None):
        raise UserError(
            "--controller needs --address, where it can reach this server, and the other way round"
        )
    arena = shared_arena(benchmark, settings)
    listed = agentbench_games(arena, games) if games else None
    terms = WorkerTerms(name or f"{benchmark}-std", max_sessions, idle, rounds, repair)
    registered = Controller(controller, address) if controller and address else None
    app = AgentBenchWorker(arena, terms, listed, registered).app()
    what = f"{terms.name} for AgentBench"
    access = Access.read(host, allow_host, insecure_no_token)
    _serve(app, what, access, port, max_sessions, max_body=LONGEST_BODY)


def agentgym(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 36001,
    allow_host: AllowHost = None,
    insecure_no_token: InsecureOrOpen = False,
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

    \b
    Examples:
      agentquest serve agentgym alfworld split=train
      agentquest serve agentgym alfworld --mapping mappings_train.json
      agentquest serve agentgym webshop --port 36002
    """
    benchmark, settings = read_benchmark(words)
    _check_extra()
    from agentquest.adapters.agentgym import agentgym_app

    app = agentgym_app(benchmark, settings, max_sessions, idle, max_steps, mapping or [])
    what = f"{benchmark} for AgentGym"
    _serve(app, what, Access.read(host, allow_host, insecure_no_token), port, max_sessions)


def openenv(
    words: BenchmarkWords = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    allow_host: AllowHost = None,
    insecure_no_token: InsecureOrOpen = False,
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

    \b
    Examples:
      agentquest serve openenv alfworld split=train --max-sessions 2000
      agentquest serve openenv webshop --package webshop_env
    """
    from agentquest.adapters.arenas import shared_arena

    arena = shared_arena(*read_benchmark(words))
    if package is not None:
        from agentquest.adapters.openenv_package import write_package

        write_package(arena, package, max_steps)
        say(f"wrote {package}")
        return
    _check_extra()
    from agentquest.adapters.openenv_server import LONGEST_MESSAGE, OpenEnvServer, Terms

    server = OpenEnvServer(arena, Terms(max_sessions, idle, max_steps, oracle))
    say(f"{counted(len(arena.tasks()), 'task')} in split {arena.split!r}", err=True)
    _serve(
        server.app(),
        f"{arena.benchmark.title} for OpenEnv",
        Access.read(host, allow_host, insecure_no_token),
        port,
        max_sessions,
        websocket_bytes=4 * LONGEST_MESSAGE,
    )


def _check_extra() -> None:
    """Report a missing extra before anything is opened."""
    require("serve", "starlette", "uvicorn", "wsproto", why="serving")


def _serve(
    app: "ASGIApp",
    what: str,
    access: Access,
    port: int,
    sessions: int,
    websocket_bytes: int = 0,
    max_body: int | None = None,
) -> None:
    """Serve until a signal asks to stop; every connection is an open file."""
    from agentquest.http.connections import ConnectionLimits
    from agentquest.http.guard import MAX_BODY, Names, Rules, guard_app
    from agentquest.http.serving import Served, serve

    if (allowed := allow_files(2 * (sessions + 500))) < 2 * sessions:
        warn(
            f"warning: this process may open only {allowed} files, fewer than {sessions} sessions"
            " may need; raise `ulimit -n` or lower --max-sessions"
        )
    names = Names(access.host, access.names)
    rules = Rules(names, max_body or MAX_BODY, token=access.token, open_paths={"/health"})
    served = Served(guard_app(app, rules), access.listen(port), websocket_bytes)
    say(f"{what}: {served.url}")
    serve(served, limits=ConnectionLimits(connections=sessions + 100))
