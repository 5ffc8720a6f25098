"""`agentquest view`: a folder of runs in the browser."""

import os
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from agentquest.errors import UserError
from agentquest.extras import require

TOKEN = "AGENTQUEST_TOKEN"


def command(
    folder: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")] = Path("runs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 7575,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Look at runs in the browser: figures, every episode step by step, runs side by side.

    Another host than this machine needs a token in $AGENTQUEST_TOKEN, which requests then send
    as `Authorization: Bearer`.

    Example: agentquest view runs --open
    """
    if not folder.is_dir():
        raise UserError(f"{folder} is not a folder; `agentquest eval` makes runs in `runs`")
    require("serve", "starlette", "uvicorn", why="the viewer")
    from agentquest.http.guard import Rules, guarded, page_headers, require_token
    from agentquest.http.names import Names
    from agentquest.http.serving import Served, serve
    from agentquest.http.sockets import listen
    from agentquest.viewer.app import viewer_app
    from agentquest.viewer.library import Library

    token = os.environ.get(TOKEN) or None
    require_token(host, token, f"set {TOKEN}")
    rules = Rules(
        names=Names(host),
        token=token,
        headers=page_headers(script_src="'self'", connect_src="'self'"),
    )
    served = Served(guarded(viewer_app(Library(folder)), rules), listen(host, port))
    typer.echo(f"runs in {folder}: {served.url}")
    if open_browser:
        webbrowser.open(served.url)
    serve(served)
