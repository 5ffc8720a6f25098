"""The part of a file that has arrived, and which file on the server it is a part of.

`<name>.part` holds the bytes, `<name>.part.json` the server's description of the
file when they were sent. Without that description the bytes may belong to
another version of the file, so they are not built upon.
"""

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from agentquest.errors import DataError


@dataclass(frozen=True)
class Version:
    """What a server says of a file: enough to notice that it became another one."""

    etag: str | None = None
    last_modified: str | None = None
    total: int | None = None

    @property
    def validator(self) -> str | None:
        """The value for If-Range, which takes no weak entity tags."""
        if self.etag and not self.etag.startswith("W/"):
            return self.etag
        return self.last_modified

    def contradicts(self, other: "Version") -> bool:
        """True when both name the same property and differ in it."""
        pairs = (
            (self.etag, other.etag),
            (self.last_modified, other.last_modified),
            (self.total, other.total),
        )
        return any(a is not None and b is not None and a != b for a, b in pairs)

    def completed_by(self, other: "Version | None") -> "Version":
        """What is unknown here taken from `other`, which describes the same file."""
        if other is None:
            return self
        return Version(
            self.etag if self.etag is not None else other.etag,
            self.last_modified if self.last_modified is not None else other.last_modified,
            self.total if self.total is not None else other.total,
        )


class Partial:
    """The two files beside `target` while it is being fetched from `url`."""

    def __init__(self, url: str, target: Path) -> None:
        self.url = url
        self.data = target.with_name(target.name + ".part")
        self.description = target.with_name(target.name + ".part.json")

    @property
    def size(self) -> int:
        """How many bytes have arrived."""
        return self.data.stat().st_size if self.data.is_file() else 0

    def version(self) -> Version | None:
        """Which file the bytes belong to; None when that is not known for sure."""
        try:
            saved = json.loads(self.description.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(saved, dict) or saved.get("url") != self.url:
            return None
        etag, modified, total = (saved.get(k) for k in ("etag", "last_modified", "total"))
        if not (_is(etag, str) and _is(modified, str) and _is(total, int)):
            return None
        return Version(etag, modified, total)

    def describe(self, version: Version) -> None:
        """Write down which version of the file the bytes belong to."""
        text = json.dumps({"url": self.url, **asdict(version)})
        draft = self.description.with_name(self.description.name + ".tmp")
        try:
            draft.write_text(text, encoding="utf-8")
            draft.replace(self.description)
        except OSError as error:
            raise DataError(f"cannot write {self.description}: {error}") from error

    def discard(self) -> None:
        """Remove both files, so that the next attempt starts over."""
        self.data.unlink(missing_ok=True)
        self.description.unlink(missing_ok=True)

    def finish(self, target: Path) -> None:
        """Give the whole file its name, in one step."""
        with self.data.open("rb+") as whole:
            os.fsync(whole.fileno())
        self.data.replace(target)
        _sync_folder(target.parent)
        self.description.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    """Have the new name on the disk, too."""
    with suppress(PermissionError):  # a system that opens no folders
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def _is(value: object, kind: type) -> bool:
    return value is None or (isinstance(value, kind) and not isinstance(value, bool))
