"""What a catalogue folder is made of: texts by number or key, and columns of numbers."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.search.search import map_array


class Rows:
    """Byte strings by number: `<name>.bin` and where each begins, `<name>.npy`."""

    def __init__(self, folder: Path, name: str) -> None:
        self._data = map_array(folder / f"{name}.bin", np.uint8)
        self._starts = np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, number: int) -> bytes:
        start, end = int(self._starts[number]), int(self._starts[number + 1])
        return self._data[start:end].tobytes()


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
    """The position of `key` among sorted byte keys; None if it is missing."""
    wanted = key.encode("utf-8", "surrogatepass")
    if len(wanted) > keys.dtype.itemsize or wanted.endswith(b"\0"):
        return None  # numpy would cut it, and take it for another
    at = int(np.searchsorted(keys, np.bytes_(wanted)))
    return at if at < len(keys) and keys[at] == wanted else None


_PLAIN = {"low": np.float64, "high": np.float64, "ranged": np.bool_, "goals": np.int64,
          "instructed": np.bool_, "listed": np.bool_}  # fmt: skip
_NAMED = {"category": "categories", "query": "queries"}

ProductFacts = list[dict[str, Any]]


class Columns:
    """Collects facts about products, batch by batch; `save` writes them as columns.

    Goals, prices and special searches over a million products read these instead of
    parsing rows.
    """

    def __init__(self) -> None:
        self._asins: list[bytes] = []
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._numbers: dict[str, dict[str, int]] = {"category": {}, "query": {}, "wish": {}}

    def add(self, facts: ProductFacts) -> None:
        """Append the facts of the next products."""
        first = len(self._asins)
        self._asins += [fact["asin"].encode("utf-8", "surrogatepass") for fact in facts]
        for name, dtype in _PLAIN.items():
            self._keep(name, [fact[name] for fact in facts], dtype)
        for name, column in _NAMED.items():
            self._keep(column, [self._number(name, fact[name]) for fact in facts], np.int32)
        wishes = [[self._number("wish", wish) for wish in fact["wishes"]] for fact in facts]
        self._keep("wishes", [wish for each in wishes for wish in each], np.int32)
        self._keep("wish_counts", [len(each) for each in wishes], np.int32)
        human = [(first + i, n) for i, fact in enumerate(facts) for n in fact["human"]]
        self._parts.setdefault("human", []).append(np.array(human, np.int64).reshape(-1, 2))

    def _keep(self, name: str, values: list[Any], dtype: Any) -> None:
        self._parts.setdefault(name, []).append(np.array(values, dtype))

    def _number(self, kind: str, text: str) -> int:
        numbers = self._numbers[kind]
        return numbers.setdefault(text, len(numbers))

    def _whole(self, name: str) -> NDArray[Any]:
        return np.concatenate(self._parts[name])

    def save(self, folder: Path) -> NDArray[Any]:
        """Write the columns; returns each product's rank by ASIN."""
        if not self._asins:
            self.add([])
        for name in (*_PLAIN, *_NAMED.values(), "human"):
            np.save(folder / f"{name}.npy", self._whole(name))
        np.save(folder / "weights.npy", self._weights())
        for kind in _NAMED:
            names = RowsWriter(folder, f"{kind}_names")
            names.extend([name.encode("utf-8", "surrogatepass") for name in self._numbers[kind]])
            names.close()
        keys, numbers = sorted_keys(self._asins, np.arange(len(self._asins)))
        np.save(folder / "asins.npy", keys)
        np.save(folder / "asin_numbers.npy", numbers)
        ranks = np.empty(len(numbers), np.int64)
        ranks[numbers] = np.arange(len(numbers))
        return ranks

    def _weights(self) -> NDArray[Any]:
        """The weight of each product's synthetic goals: rare attributes weigh more.

        The mean, over a goal's attributes, of one by the number of goals that wish it.
        """
        wishes, counts, goals = (self._whole(n) for n in ("wishes", "wish_counts", "goals"))
        owners = np.repeat(np.arange(len(counts)), counts)
        wished = np.bincount(wishes, weights=goals[owners], minlength=1)
        shares = 1.0 / np.maximum(wished[wishes], 1.0)
        sums = np.bincount(owners, weights=shares, minlength=len(counts))
        return np.where(goals > 0, sums / np.maximum(counts, 1), 0.0)
