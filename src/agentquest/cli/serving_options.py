"""Options that every server has: where it listens, and for whom."""

from typing import Annotated

import typer

from agentquest.http.access import INSECURE, INSECURE_HELP

Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all interfaces.")]
Port = Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 picks a free one.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="Another host name that requests may use; may be repeated."),
]
InsecureNoToken = Annotated[bool, typer.Option(INSECURE, help=INSECURE_HELP)]
# `serve agentbench|agentgym|openenv` knew it by another name, which still works.
InsecureOrOpen = Annotated[bool, typer.Option(INSECURE, "--open", help=INSECURE_HELP)]
