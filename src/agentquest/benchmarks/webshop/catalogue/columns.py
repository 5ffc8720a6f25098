"""What the catalogue keeps of each product beside its row: columns of numbers.

Goals, prices and special searches over a million products read these instead of
parsing rows.
"""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.catalogue.tables import RowsWriter, sorted_keys

_PLAIN = {"low": np.float64, "high": np.float64, "ranged": np.bool_, "goals": np.int64,
          "instructed": np.bool_, "listed": np.bool_}  # fmt: skip
_NAMED = {"category": "categories", "query": "queries"}

Facts = list[dict[str, Any]]


class Columns:
    """Collects the facts of batch after batch; `save` writes them."""

    def __init__(self) -> None:
        self._asins: list[bytes] = []
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._numbers: dict[str, dict[str, int]] = {"category": {}, "query": {}, "wish": {}}

    def add(self, facts: Facts) -> None:
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
