"""Progress bars for downloads, in the terminal."""

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from agentquest.downloads.fetching import Progress as OnProgress


class DownloadBars:
    """One bar per file, on standard error; use as a context manager."""

    def __init__(self) -> None:
        self._bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            DownloadColumn(),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    def __enter__(self) -> "DownloadBars":
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def bar(self, name: str) -> OnProgress:
        """A function to call with the progress of `name`."""
        bar = self._bars.add_task(name, total=None)
        return lambda done, total: self._bars.update(bar, completed=done, total=total)
