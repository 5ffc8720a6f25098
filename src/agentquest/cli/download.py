"""`agentquest download`: fetch the official data, with a progress bar, resuming where it broke."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from agentquest.benchmarks.alfworld.download import (
    OFFICIAL_URL,
    default_data_folder,
    download_alfworld,
)
from agentquest.downloads import Progress as OnProgress
from agentquest.errors import UnknownName


def command(
    benchmark: Annotated[str, typer.Argument(help="alfworld")],
    data_path: Annotated[
        Path | None,
        typer.Option(help="Where to put it; default $ALFWORLD_DATA or ~/.cache/alfworld."),
    ] = None,
    base_url: Annotated[
        str, typer.Option(help="Where to fetch from: the official releases, or a mirror.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Fetch the three official ALFWorld archives (about 145 MB).

    A broken transfer goes on where it stopped, here or at the next call.
    """
    if benchmark != "alfworld":
        raise UnknownName(f"{benchmark!r} has no data to download; there is: alfworld")
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:

        def on_archive(name: str) -> OnProgress:
            bar = progress.add_task(name, total=None)
            return lambda done, total: progress.update(bar, completed=done, total=total)

        done = download_alfworld(data_path, base_url=base_url, force=force, on_archive=on_archive)
    for archive in done:
        state = "was there" if archive.present else f"{archive.written} files written"
        typer.echo(f"{archive.name}: {state}")
    typer.echo(f"ALFWorld data is in {data_path or default_data_folder()}")
