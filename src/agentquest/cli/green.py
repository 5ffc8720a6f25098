"""`agentquest green`: the agent that assesses others."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.a2a_agents.installed import require_a2a

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")]
CardUrl = Annotated[
    str | None, typer.Option(help="URL that the agent card names (also: AGENT_URL).")
]
LaunchId = Annotated[str | None, typer.Option(hidden=True)]
LogDir = Annotated[Path, typer.Option(help="Where runs are logged.", envvar="AGENTQUEST_LOG_DIR")]
DataPath = Annotated[str | None, typer.Option(help="Folder of the real data, or `builtin`.")]


def command(
    host: Host = "localhost",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 9001,
    card_url: CardUrl = None,
    log_dir: LogDir = Path("logs"),
    data_path: DataPath = None,
    launched_by: LaunchId = None,
) -> None:
    """Serve the green agent, which tests the agents that requests name.

    Example: agentquest green --port 9001
    """
    require_a2a()
    from agentquest.a2a_agents.cards import green_card
    from agentquest.a2a_agents.green import GreenExecutor
    from agentquest.a2a_agents.serving import Place, application, serve

    place = Place(host, port, card_url)
    with place.take() as sock:
        url = place.url(sock)
        app = application(green_card(url, launched_by), GreenExecutor(log_dir, data_path))
        typer.echo(
            f"green agent at {url} (port {sock.getsockname()[1]}); Ctrl-C stops it", err=True
        )
        serve(app, sock, launched=launched_by is not None)
