"""Fetching files from the network so that a broken line costs nothing but time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, TimeRemainingColumn, TransferSpeedColumn
from rich.progress import Progress as Bars

from agentquest.downloads.archives import Extraction, extract_zip
from agentquest.downloads.fetching import Progress, Retry, fetch
from agentquest.safe_text import one_line

__all__ = ["Extraction", "Progress", "Retry", "download_bars", "extract_zip", "fetch"]


@contextmanager
def download_bars() -> Iterator[Callable[[str], Progress]]:
    """A function that adds a bar for a file, on standard error; it returns what to report to."""
    columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Bars("{task.description}", *columns, console=Console(stderr=True)) as bars:

        def add_bar(name: str) -> Progress:
            bar = bars.add_task(one_line(name), total=None)
            return lambda done, total: bars.update(bar, completed=done, total=total)

        yield add_bar
