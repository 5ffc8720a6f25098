"""`agentquest download webshop`: the official files, and the catalogue made from them."""

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.download import OFFICIAL_URL, download_webshop
from agentquest.benchmarks.webshop.tasks import default_data_folder
from agentquest.downloads.bars import DownloadBars
from agentquest.words import counted


class Size(str, Enum):
    """Which files: the first thousand products, or all."""

    SMALL = "small"
    ALL = "all"


def command(
    data_path: Annotated[
        Path | None,
        typer.Option(
            help="Target folder; default $WEBSHOP_DATA or ~/.cache/agentquest/webshop-data."
        ),
    ] = None,
    size: Annotated[
        Size, typer.Option(help="1,000 products (10 MB) or all 1.18 million (5.7 GB).")
    ] = Size.SMALL,
    base_url: Annotated[
        str, typer.Option(help="Download from this mirror of the official site.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Download the official WebShop files.

    An interrupted download resumes, also when the command is run again.

    Example: agentquest download webshop --size all
    """
    with DownloadBars() as bars:
        download_webshop(
            data_path,
            size=size.value,
            base_url=base_url,
            force=force,
            on_file=lambda file: bars.bar(file.name),
        )
        folder = data_path or default_data_folder()
        catalogue = open_catalogue(folder, size=size.value, progress=bars.bar("catalogue"))
    typer.echo(f"WebShop data is in {folder}: {counted(len(catalogue), 'product')}")
