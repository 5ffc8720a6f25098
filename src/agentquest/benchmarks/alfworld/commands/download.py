"""`agentquest download alfworld`: the official archives."""

from pathlib import Path
from typing import Annotated

import typer

from agentquest.benchmarks.alfworld.download import (
    OFFICIAL_URL,
    default_data_folder,
    download_alfworld,
)
from agentquest.downloads.bars import DownloadBars
from agentquest.words import counted


def command(
    data_path: Annotated[
        Path | None,
        typer.Option(help="Target folder; default $ALFWORLD_DATA or ~/.cache/alfworld."),
    ] = None,
    base_url: Annotated[
        str, typer.Option(help="Download from this mirror of the official site.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Download the official ALFWorld archives (about 145 MB).

    An interrupted download resumes, also when the command is run again.

    Example: agentquest download alfworld --data-path ~/alfworld
    """
    with DownloadBars() as bars:
        done = download_alfworld(data_path, base_url=base_url, force=force, on_archive=bars.bar)
    for archive in done:
        state = (
            "already there" if archive.present else f"{counted(archive.written, 'file')} written"
        )
        typer.echo(f"{archive.name}: {state}")
    typer.echo(f"ALFWorld data is in {data_path or default_data_folder()}")
