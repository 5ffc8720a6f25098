"""`agentquest view`: a folder of runs in the browser, or as files for a web host."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.runs import Episodes, open_library
from agentquest.cli.serving_options import Host, InsecureNoToken, Port
from agentquest.extras import require
from agentquest.http.access import Access
from agentquest.http.sockets import LOOPBACK
from agentquest.safe_text import say
from agentquest.viewer.addresses import MOST_EPISODES
from agentquest.words import counted

PORT = 7575


def command(
    folder: Annotated[Path, typer.Argument(help="A folder of runs, or one run.")] = Path("runs"),
    port: Port = PORT,
    host: Host = LOOPBACK,
    insecure_no_token: InsecureNoToken = False,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
    export: Annotated[
        Path | None, typer.Option(help="Write the pages as files to this folder, and exit.")
    ] = None,
    episodes: Episodes = MOST_EPISODES,
) -> None:
    """Browse runs: their figures, every episode step by step, runs side by side.

    To listen on other addresses than this machine's, set a token in $AGENTQUEST_TOKEN; browsers
    ask for it, programs send it as `Authorization: Bearer`.

    Example: agentquest view runs --open
    """
    if export is not None:
        from agentquest.viewer.export import export as write

        number = write(open_library(folder), export, episodes)
        say(f"wrote {counted(number, 'file')}; start at {export / 'index.html'}", err=True)
        return
    serve_viewer(folder, Access.read(host, None, insecure_no_token), port, open_browser)


def serve_viewer(folder: Path, access: Access, port: int, open_browser: bool) -> None:
    """Serve until a signal asks to stop."""
    require("serve", "starlette", "uvicorn", why="the viewer")
    from agentquest.http.guard import Names, Rules, guard_app, page_headers
    from agentquest.http.serving import Served, serve
    from agentquest.people.games import Games
    from agentquest.people.routes import PlayRoutes
    from agentquest.viewer.app import Viewer, viewer_app
    from agentquest.viewer.entry import OPEN_PATHS, with_cookie

    token = access.token
    rules = Rules(
        names=Names(access.host),
        token=token,
        open_paths=OPEN_PATHS,
        headers=page_headers(script_src="'self'", connect_src="'self'"),
    )
    library = open_library(folder)
    games = Games(folder.resolve().parent if library.alone else folder)
    viewer = Viewer(library)
    play = PlayRoutes(viewer, games)
    app = with_cookie(guard_app(viewer_app(viewer, play.routes(), games.close), rules))
    served = Served(app, access.listen(port))
    say(f"runs in {folder}: {served.url}{'/enter' if token else ''}")
    if open_browser:
        webbrowser.open(served.url + ("/enter" if token else ""))
    serve(served)
