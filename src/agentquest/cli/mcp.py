"""`agentquest mcp`: play over the Model Context Protocol, recorded like any run."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from agentquest.adapters.mcp_callers import AGENT, CallerExecutor
from agentquest.cli.benchmark_choice import BenchmarkWords, read_words
from agentquest.cli.serving_options import AllowHost, InsecureNoToken
from agentquest.cli.terminal import StopSignals, warn
from agentquest.config import load_config
from agentquest.extras import require
from agentquest.http.access import Access
from agentquest.http.sockets import LOOPBACK, Socket
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from agentquest.safe_text import say
from agentquest.words import counted

if TYPE_CHECKING:
    from agentquest.adapters.mcp_server import GameServer


def command(
    words: BenchmarkWords = None,
    task: Annotated[
        list[str] | None, typer.Option(help="A task by its id or part of it; may be repeated.")
    ] = None,
    tools: Annotated[
        str, typer.Option(help="`one` tool that takes any command, or `typed`: one per verb.")
    ] = "one",
    admissible: Annotated[
        bool, typer.Option(help="Tell callers which commands are admissible.")
    ] = True,
    http: Annotated[
        int | None, typer.Option(help="Serve over HTTP on this port instead of stdio; 0 picks one.")
    ] = None,
    host: Annotated[str, typer.Option(help="With --http: address to listen on.")] = LOOPBACK,
    allow_host: AllowHost = None,
    insecure_no_token: InsecureNoToken = False,
    max_sessions: Annotated[
        int, typer.Option(min=1, help="With --http: most callers at once.")
    ] = 64,
    idle: Annotated[
        float, typer.Option(min=1.0, help="Seconds after which an inactive caller is dropped.")
    ] = 3600.0,
) -> None:
    """Let a coding agent or any MCP client play; every episode is recorded and scored.

    Settings of the run work too: num_games=10, max_steps=30, run_name=mine.

    \b
    Example, for Claude Code:
      claude mcp add house -- agentquest mcp alfworld num_games=10
    """
    require("mcp", "mcp", why="playing over MCP")
    from agentquest.adapters.mcp_server import GameServer

    benchmark, overrides = read_words(words)
    given = {
        "benchmark": benchmark,
        "agent": {"name": AGENT, "tools": tools, "show_admissible": admissible},
        **({"tasks": task} if task else {}),
        "step_timeout_s": idle,
    }
    config, warnings = load_config(None, overrides, settings=given)
    warn(*warnings, heading="warning: ")
    access = Access.read(host, allow_host, insecure_no_token)
    sock = None if http is None else access.listen(http, option="--http")
    run = Run(config)
    pending = run.prepare()
    signals = StopSignals()

    async def work() -> None:
        with signals.listening() as stop:
            count = counted(len(pending), "episode")
            say(f"{count} to play, recorded in {run.directory.path}", err=True)
            executor = CallerExecutor()
            playing = asyncio.create_task(
                run.play(pending, RunEvents(), stop, run.stored.save_results, executor=executor)
            )
            await asyncio.wait({executor.opened, playing}, return_when=asyncio.FIRST_COMPLETED)
            if not playing.done():
                server = GameServer(run, executor, max_sessions, idle)
                serving = (
                    server.serve_stdio() if sock is None else _serve_http(server, access, sock)
                )
                await _until(asyncio.create_task(serving), stop)
            stop.set()
            await playing

    asyncio.run(work())
    if signals.exit_code:
        raise typer.Exit(signals.exit_code)


async def _until(serving: "asyncio.Task[None]", stop: asyncio.Event) -> None:
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({serving, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stopped.cancel()
    if serving.done():
        serving.result()
    else:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _serve_http(server: "GameServer", access: Access, sock: Socket) -> None:
    from agentquest.http.guard import Names, Rules, guard_app
    from agentquest.http.serving import Served, Serving

    names = Names(access.host, access.names)
    rules = Rules(names, max_body=1024 * 1024, token=access.token, open_paths={"/health"})
    served = Served(guard_app(server.http_app(), rules), sock)
    say(f"MCP: {served.url}/mcp", err=True)
    async with server.expire_callers():
        await Serving([served], hears_signals=False).run()
