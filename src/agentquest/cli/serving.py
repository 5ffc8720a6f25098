"""What all commands that serve an environment share: options, the arena, the server loop."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentquest.cli.benchmark_choice import read_settings
from agentquest.extras import require

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from agentquest.lib import Arena

TOKEN = "AGENTQUEST_TOKEN"
Host = Annotated[str, typer.Option(help="Address to listen on.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="Another host name that requests may use; may be repeated."),
]
Open = Annotated[
    bool,
    typer.Option("--open", help="Allow other machines without a token, as in a container."),
]
MaxSessions = Annotated[int, typer.Option(min=1, help="Most sessions at once.")]
Idle = Annotated[float, typer.Option(min=1.0, help="Seconds after which an idle session ends.")]
MaxSteps = Annotated[int, typer.Option(min=1, help="Most steps per episode.")]


def arena_of(benchmark: str, settings: list[str]) -> "Arena":
    """The benchmark's tasks, shared by all sessions."""
    from agentquest.adapters.arenas import shared_arena

    return shared_arena(benchmark, read_settings(settings))


def check_extra() -> None:
    """Report a missing extra before anything is opened."""
    require("serve", "starlette", "uvicorn", "wsproto", why="serving")


def serve_app(
    app: "ASGIApp",
    what: str,
    host: str,
    port: int,
    allow_host: list[str] | None,
    is_open: bool,
    sessions: int,
    websocket_bytes: int = 0,
    max_body: int | None = None,
) -> None:
    """Serve until a signal asks to stop."""
    from agentquest.http.bodies import MAX_BODY
    from agentquest.http.connections import Limits
    from agentquest.http.guard import Rules, guarded, require_token
    from agentquest.http.names import Names
    from agentquest.http.serving import Served, serve
    from agentquest.http.sockets import listen

    token = os.environ.get(TOKEN) or None
    if not is_open:
        require_token(host, token, f"set {TOKEN}, or use --open")
    allow_files(sessions)
    socket = listen(host, port)
    names = Names(host, allow_host or ())
    rules = Rules(names, max_body or MAX_BODY, token=token, open_paths={"/health"})
    served = Served(guarded(app, rules), socket, websocket_bytes)
    typer.echo(f"{what}: {served.url}")
    serve(served, limits=Limits(connections=sessions + 100))


def allow_files(sessions: int) -> None:
    """Every connection is an open file: raise the limit as far as the system allows."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted: Any = 2 * (sessions + 500)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if soft != resource.RLIM_INFINITY and max(soft, wanted) < 2 * sessions:
        typer.secho(
            f"warning: this process may open only {max(soft, wanted)} files, fewer than"
            f" {sessions} sessions may need; raise `ulimit -n` or lower --max-sessions",
            fg="yellow",
            err=True,
        )
