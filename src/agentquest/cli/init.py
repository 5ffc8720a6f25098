"""`agentquest init`: a commented configuration to start from."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.config.example import example_config
from agentquest.errors import UserError


def command(
    file: Annotated[
        Path, typer.Argument(help="File to write; `-` prints to standard output.")
    ] = Path("run.yaml"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write an example configuration with every key explained.

    \b
    Example:
      agentquest init run.yaml
      agentquest eval -c run.yaml
    """
    if str(file) == "-":
        typer.echo(example_config(), nl=False)
        return
    if file.exists() and not force:
        raise UserError(f"{file} already exists; use --force to overwrite it")
    try:
        file.write_text(example_config(), encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {file}: {error.strerror}") from None
    typer.echo(f"wrote {file}; next: agentquest eval -c {file}")
