"""`agentquest green`: the agent that assesses others."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.a2a.installed import require_a2a
from agentquest.errors import ConfigError

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all.")]
CardUrl = Annotated[
    str | None, typer.Option(help="URL that the agent card names (also: AGENT_URL).")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        help="A further name that requests may be sent to, as behind a gateway; * for any.",
        envvar="AGENTQUEST_ALLOW_HOST",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        help="What requesters must send as `Authorization: Bearer`; give it as AGENTQUEST_TOKEN.",
        envvar="AGENTQUEST_TOKEN",
        show_envvar=False,
    ),
]
AgentHeader = Annotated[
    list[str] | None,
    typer.Option(
        help="`Name: value` sent to the agent under test; `Name: $VARIABLE` takes the value from"
        " the environment, where others cannot read it.",
    ),
]
AllowAgent = Annotated[
    list[str] | None,
    typer.Option(
        help="A host (and port) whose agents may be tested, beside this machine's; * for any.",
        envvar="AGENTQUEST_ALLOW_AGENT",
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Go on with the unfinished run of the same request, if any."),
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
    allow_agent: AllowAgent = None,
    agent_header: AgentHeader = None,
    token: Token = None,
    allow_host: AllowHost = None,
    max_assessments: Annotated[int, typer.Option(min=1, help="Assessments at once.")] = 4,
    resume: Resume = False,
    agent_proxy: Annotated[
        str | None,
        typer.Option(
            help="Where agents are that requests place on this machine, as in a container.",
            envvar="GATEWAY_PROXY_URL",
        ),
    ] = None,
    launched_by: LaunchId = None,
) -> None:
    """Serve the green agent, which tests the agents that requests name.

    Example: agentquest green --port 9001
    """
    require_a2a()
    from agentquest.a2a.addresses import AllowList
    from agentquest.a2a.cards import green_card
    from agentquest.a2a.green import GreenExecutor, GreenSettings
    from agentquest.a2a.headers import agent_headers
    from agentquest.a2a.serving import Place, application, serve

    try:
        allowed = AllowList([*(allow_agent or ()), *([agent_proxy] if agent_proxy else [])])
    except ValueError as error:
        raise ConfigError(f"--allow-agent or --agent-proxy: {error}") from None
    settings = GreenSettings(
        log_root=log_dir,
        data_path=data_path,
        allowed=allowed,
        headers=agent_headers(agent_header or ()),
        max_assessments=max_assessments,
        resume=resume,
        agent_proxy=agent_proxy or None,
    )
    place = Place(host, port, card_url, allow_host or (), token)
    with place.listen() as sock:
        url = place.url(sock)
        app = application(green_card(url, launched_by), GreenExecutor(settings))
        typer.echo(
            f"green agent at {url} (port {sock.getsockname()[1]}); Ctrl-C stops it", err=True
        )
        serve(app, place, sock, launched=launched_by is not None)
