"""`agentquest green`: the agent that assesses others."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from agentquest.a2a import require_a2a
from agentquest.errors import ConfigError

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")]
CardUrl = Annotated[
    str | None, typer.Option(help="Public URL for the agent card (also: AGENT_URL).")
]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(
        help="Another host name that requests may use, as behind a gateway; * for any.",
        envvar="AGENTQUEST_ALLOW_HOST",
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        help="Token that clients must send as `Authorization: Bearer`; set it in AGENTQUEST_TOKEN.",
        envvar="AGENTQUEST_TOKEN",
        show_envvar=False,
    ),
]
AgentHeader = Annotated[
    list[str] | None,
    typer.Option(
        help="Header for the agent under test, as `Name: value`; `Name: $VARIABLE` reads the value"
        " from the environment, so that it does not show in process lists.",
    ),
]
AllowAgent = Annotated[
    list[str] | None,
    typer.Option(
        help="A host (and port) whose agents may be tested, besides this machine; * for any.",
        envvar="AGENTQUEST_ALLOW_AGENT",
    ),
]
Resume = Annotated[
    bool,
    typer.Option("--resume", help="Resume the unfinished run of the same request, if any."),
]
LaunchId = Annotated[str | None, typer.Option(hidden=True)]
LogDir = Annotated[Path, typer.Option(help="Folder for run logs.", envvar="AGENTQUEST_LOG_DIR")]
DataPath = Annotated[str | None, typer.Option(help="Folder with the official data, or `builtin`.")]


def command(
    host: Host = "localhost",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 picks a free port.")] = 9001,
    card_url: CardUrl = None,
    log_dir: LogDir = Path("logs"),
    data_path: DataPath = None,
    allow_agent: AllowAgent = None,
    agent_header: AgentHeader = None,
    token: Token = None,
    allow_host: AllowHost = None,
    max_assessments: Annotated[int, typer.Option(min=1, help="Most assessments at once.")] = 4,
    resume: Resume = False,
    agent_proxy: Annotated[
        str | None,
        typer.Option(
            help="Where to reach agents whose URL says localhost, when running in a container.",
            envvar="GATEWAY_PROXY_URL",
        ),
    ] = None,
    launched_by: LaunchId = None,
) -> None:
    """Serve the green agent, which assesses the agents named in requests.

    Example: agentquest green --port 9001
    """
    require_a2a()
    from agentquest.a2a.addresses import AllowList
    from agentquest.a2a.green import GreenExecutor, GreenSettings, green_card
    from agentquest.a2a.launcher import read_agent_headers
    from agentquest.a2a.serving import ServerSettings, serve_agent

    try:
        allowed = AllowList([*(allow_agent or ()), *([agent_proxy] if agent_proxy else [])])
    except ValueError as error:
        raise ConfigError(f"--allow-agent or --agent-proxy: {error}") from None
    settings = GreenSettings(
        log_root=log_dir,
        data_path=data_path,
        allowed=allowed,
        headers=read_agent_headers(agent_header or ()),
        max_assessments=max_assessments,
        resume=resume,
        agent_proxy=agent_proxy or None,
    )
    server = ServerSettings(host, port, card_url, allow_host or (), token, launched_by)
    serve_agent(server, green_card, GreenExecutor(settings), partial(typer.echo, err=True))
