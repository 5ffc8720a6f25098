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

from agentquest.benchmarks.alfworld import download as alfworld
from agentquest.benchmarks.webshop import download as webshop
from agentquest.benchmarks.webshop.tasks import default_data_folder as webshop_folder
from agentquest.downloads import Progress as OnProgress
from agentquest.errors import ConfigError, UnknownName

_WHERE = (
    "Where to put it; default $ALFWORLD_DATA or ~/.cache/alfworld,"
    " $WEBSHOP_DATA or ~/.cache/agentquest/webshop-data."
)


def command(
    benchmark: Annotated[str, typer.Argument(help="alfworld or webshop")],
    data_path: Annotated[Path | None, typer.Option(help=_WHERE)] = None,
    size: Annotated[
        str | None,
        typer.Option(help="webshop: small (1,000 products, 10 MB) or all (1.18 million, 5.7 GB)."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Where to fetch from: a mirror of the official place.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace files that are there.")] = False,
) -> None:
    """Fetch the official ALFWorld archives (about 145 MB) or WebShop files.

    A broken transfer goes on where it stopped, here or at the next call.
    """
    if benchmark not in ("alfworld", "webshop"):
        raise UnknownName(f"{benchmark!r} has no data to download; there is: alfworld, webshop")
    if size is not None and benchmark != "webshop":
        raise ConfigError(f"--size is for webshop; {benchmark} has one size")
    with _bars() as bars:
        if benchmark == "alfworld":
            _alfworld(bars, data_path, base_url or alfworld.OFFICIAL_URL, force)
        else:
            _webshop(bars, data_path, base_url or webshop.OFFICIAL_URL, force, size or "small")


def _bars() -> Progress:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    return Progress(*columns, console=Console(stderr=True))


def _bar(bars: Progress, name: str) -> OnProgress:
    bar = bars.add_task(name, total=None)
    return lambda done, total: bars.update(bar, completed=done, total=total)


def _alfworld(bars: Progress, data_path: Path | None, base_url: str, force: bool) -> None:
    done = alfworld.download_alfworld(
        data_path, base_url=base_url, force=force, on_archive=lambda name: _bar(bars, name)
    )
    for archive in done:
        state = "was there" if archive.present else f"{archive.written} files written"
        typer.echo(f"{archive.name}: {state}")
    typer.echo(f"ALFWorld data is in {data_path or alfworld.default_data_folder()}")


def _webshop(bars: Progress, data_path: Path | None, base_url: str, force: bool, size: str) -> None:
    from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue

    webshop.download_webshop(
        data_path,
        size=size,
        base_url=base_url,
        force=force,
        on_file=lambda file: _bar(bars, file.name),
    )
    folder = data_path or webshop_folder()
    catalogue = open_catalogue(folder, size=size, progress=_bar(bars, "catalogue"))
    typer.echo(f"WebShop data is in {folder}: {len(catalogue):,} products")
