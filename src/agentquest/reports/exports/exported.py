"""What a run is made of for an export, and writing a file of one."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentquest.errors import UserError
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.reports.exports.columns import Row
from agentquest.reports.model import Report


@dataclass(frozen=True)
class Exported:
    """A run: `rows` are its episodes as plain figures, `records` the same episodes in full, read
    one at a time."""

    manifest: Manifest
    report: Report
    rows: Sequence[Row]
    records: Iterable[EpisodeRecord]


def written(file: Path, write: Callable[[Path], None]) -> Path:
    """Write a file through a draft beside it, so that it is whole or not there."""
    draft = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write(draft)
        draft.replace(file)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UserError(f"cannot write {file}: {error.strerror}") from error
    return file
