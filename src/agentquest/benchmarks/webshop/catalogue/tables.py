"""Many small texts in one memory-mapped file, by number or by key."""

import mmap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Rows:
    """Byte strings by number: `<name>.bin` and where each begins, `<name>.npy`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._data = map_file(folder / f"{name}.bin")
        self._starts = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._data[int(self._starts[number]) : int(self._starts[number + 1])])


class RowsWriter:
    """Appends byte strings; `close` makes them readable as `Rows`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder
        self._name = name
        self._file = (folder / f"{name}.bin").open("wb")
        self._sizes: list[NDArray[Any]] = [np.zeros(1, np.int64)]

    def extend(self, rows: Sequence[bytes]) -> None:
        """Append rows; their numbers follow on those of the last."""
        self._file.writelines(rows)
        self._sizes.append(np.array([len(row) for row in rows], np.int64))

    def close(self) -> None:
        """Write the list of where each row ends, without which they cannot be read."""
        self._file.close()
        np.save(self._folder / f"{self._name}.npy", np.cumsum(np.concatenate(self._sizes)))


class KeyedTexts:
    """Texts by key, on disk: what joins one huge file to another."""

    def __init__(self, folder: Path, name: str, entries: Iterable[tuple[str, str]]) -> None:
        keys: dict[bytes, int] = {}
        writer = RowsWriter(folder, name)
        for number, (key, text) in enumerate(entries):
            keys[key.encode("utf-8", "surrogatepass")] = number  # the last one wins, as in JSON
            writer.extend([text.encode("utf-8", "surrogatepass")])
        writer.close()
        self._keys, self._numbers = sorted_keys(list(keys), np.fromiter(keys.values(), np.int64))
        self._rows = Rows(folder, name)

    def get(self, key: str) -> str | None:
        """The text of a key; None if there is none."""
        at = find_key(self._keys, key)
        if at is None:
            return None
        return self._rows[int(self._numbers[at])].decode("utf-8", "surrogatepass")


def sorted_keys(keys: list[bytes], numbers: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Keys in order, and the numbers that belong to them."""
    array = np.array(keys, "S") if keys else np.empty(0, "S1")
    order = np.argsort(array, kind="stable")
    return array[order], numbers[order]


def find_key(keys: NDArray[Any], key: str) -> int | None:
    """Where `key` stands among sorted byte keys."""
    wanted = key.encode("utf-8", "surrogatepass")
    if len(wanted) > keys.dtype.itemsize or wanted.endswith(b"\0"):
        return None  # numpy would cut it, and take it for another
    at = int(np.searchsorted(keys, np.bytes_(wanted)))
    return at if at < len(keys) and keys[at] == wanted else None


def map_file(path: Path) -> mmap.mmap | bytes:
    """A file's bytes, read from disk when they are looked at; an empty file cannot be mapped."""
    with path.open("rb") as file:
        if path.stat().st_size == 0:
            return b""
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
