"""Whether a catalogue folder is what was built: sizes and checksums of all its files.

A folder is sealed at the end of its build: everything is synced, and a manifest
names each file with its size and SHA-256. Opening compares. A catalogue that
passed is not read again while its files keep their size, times and inode: in a
process, and for large ones, which take seconds to read, from process to process.
"""

import hashlib
import json
import os
from contextlib import suppress
from pathlib import Path

MANIFEST = "manifest.json"
_VERIFIED = "verified.json"
_LARGE = 256 << 20
_BLOCK = 1 << 20

Signature = list[list[int | str]]
_sound: dict[Path, Signature] = {}  # folders that this process has compared


def seal(folder: Path) -> None:
    """Write the manifest of a finished folder, and have all of it on the disk."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    entries = {path.name: [path.stat().st_size, _digest(path)] for path in files}
    text = json.dumps(entries, sort_keys=True)
    manifest = folder / MANIFEST
    manifest.write_text(json.dumps({"files": entries, "check": _hash(text)}), "utf-8")
    for path in (*files, manifest, folder):
        sync(path)


def sync(path: Path) -> None:
    """Have a file, or the names in a folder, on the disk."""
    with suppress(PermissionError):  # a system that opens no folders
        number = os.open(path, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)


def damage(folder: Path) -> str | None:
    """What is wrong with a sealed folder; None when nothing is."""
    try:
        entries = _entries(folder)
        if entries is None:
            return f"{MANIFEST} is missing or damaged"
        signature = _signature(folder, entries)
        if _sound.get(folder) == signature or _was_verified(folder, signature, entries):
            _sound[folder] = signature
            return None
        for name, (size, digest) in entries.items():
            path = folder / name
            if path.stat().st_size != size:
                return f"{name} has {path.stat().st_size} bytes instead of {size}"
            if _digest(path) != digest:
                return f"{name} has changed"
    except OSError as error:
        return f"{Path(error.filename or folder).name}: {error.strerror}"
    _sound[folder] = signature
    _remember(folder, signature, entries)
    return None


def _entries(folder: Path) -> dict[str, tuple[int, str]] | None:
    """What the manifest says, if it is whole."""
    try:
        written = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = written["files"]
        if written["check"] != _hash(json.dumps(files, sort_keys=True)):
            return None
        return {name: (size, digest) for name, (size, digest) in files.items()}
    except (ValueError, KeyError, TypeError, FileNotFoundError):
        return None


def _signature(folder: Path, entries: dict[str, tuple[int, str]]) -> Signature:
    """What changes whenever a file is written to."""
    signature: Signature = []
    for name in (MANIFEST, *entries):
        stat = (folder / name).stat()
        times = [stat.st_mtime_ns, stat.st_ctime_ns]
        signature.append([name, stat.st_size, stat.st_ino, *times])
    return signature


def _was_verified(folder: Path, signature: Signature, entries: dict[str, tuple[int, str]]) -> bool:
    if not _is_large(entries):
        return False
    try:
        return bool(json.loads((folder / _VERIFIED).read_text("utf-8")) == signature)
    except (OSError, ValueError):
        return False


def _remember(folder: Path, signature: Signature, entries: dict[str, tuple[int, str]]) -> None:
    if _is_large(entries):
        scratch = folder / f"{_VERIFIED}.{os.getpid()}.tmp"
        with suppress(OSError):  # a cache that cannot be written to costs time, nothing else
            scratch.write_text(json.dumps(signature), "utf-8")
            scratch.replace(folder / _VERIFIED)


def _is_large(entries: dict[str, tuple[int, str]]) -> bool:
    return sum(size for size, _ in entries.values()) > _LARGE


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
