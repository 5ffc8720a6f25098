"""Whether a catalogue folder is still what was built: sizes and checksums of its files.

A build ends by sealing the folder: everything is synced, and a manifest lists each
file with its size and SHA-256, which opening compares. A folder that passed is not
read again while its files keep their size, times and inode: within a process, and
across processes for large catalogues, which take seconds to read.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

from agentquest.files import hash_file, write_atomically
from agentquest.platform import sync_folder

MANIFEST = "manifest.json"
_VERIFIED = "verified.json"
_LARGE = 256 << 20

Signature = list[list[int | str]]
_sound: dict[Path, Signature] = {}  # folders that this process has verified


def seal(folder: Path) -> None:
    """Write the manifest of a finished folder and sync everything to disk."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    entries = {path.name: [path.stat().st_size, hash_file(path)] for path in files}
    text = json.dumps(entries, sort_keys=True)
    manifest = folder / MANIFEST
    manifest.write_text(json.dumps({"files": entries, "check": _hash(text)}), "utf-8")
    for path in (*files, manifest):
        with path.open("rb") as file:
            os.fsync(file.fileno())
    sync_folder(folder)


def damage(folder: Path) -> str | None:
    """What is wrong with a sealed folder; None if it is intact."""
    try:
        entries = _entries(folder)
        if entries is None:
            return f"{MANIFEST} is missing or damaged"
        signature = _signature(folder, entries)
        is_large = sum(size for size, _ in entries.values()) > _LARGE
        if _sound.get(folder) == signature or (is_large and _was_verified(folder, signature)):
            _sound[folder] = signature
            return None
        for name, (size, digest) in entries.items():
            path = folder / name
            if path.stat().st_size != size:
                return f"{name} has {path.stat().st_size} bytes instead of {size}"
            if hash_file(path) != digest:
                return f"{name} has changed"
    except OSError as error:
        return f"{Path(error.filename or folder).name}: {error.strerror}"
    _sound[folder] = signature
    if is_large:
        with suppress(OSError):  # a cache that cannot be written to costs time, nothing else
            write_atomically(folder / _VERIFIED, json.dumps(signature))
    return None


def _entries(folder: Path) -> dict[str, tuple[int, str]] | None:
    """The manifest's entries; None if it is missing or damaged."""
    try:
        written = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = written["files"]
        if written["check"] != _hash(json.dumps(files, sort_keys=True)):
            return None
        return {name: (size, digest) for name, (size, digest) in files.items()}
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return None


def _signature(folder: Path, entries: dict[str, tuple[int, str]]) -> Signature:
    """Values that change whenever a file is written to."""
    signature: Signature = []
    for name in (MANIFEST, *entries):
        stat = (folder / name).stat()
        times = [stat.st_mtime_ns, stat.st_ctime_ns]
        signature.append([name, stat.st_size, stat.st_ino, *times])
    return signature


def _was_verified(folder: Path, signature: Signature) -> bool:
    try:
        return bool(json.loads((folder / _VERIFIED).read_text("utf-8")) == signature)
    except (OSError, ValueError):
        return False


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
