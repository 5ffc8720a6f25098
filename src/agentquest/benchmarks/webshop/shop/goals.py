"""What shoppers are asked to buy, and the order of the tasks.

A synthetic goal is one combination of one product's options; a human goal is
one person's wording. A million products give millions of goals, so none is
stored: goal i is worked out from columns when it is asked for.

The order is that of the original: all goals in file order, shuffled by
`random.Random(233)`, whose next numbers then choose the sessions' goals. Prices:
a product sold at a range has one hidden price in it, and a goal's upper price is
2 to 4 steps of ten dollars above. The original draws both from one unseeded
stream. With `strict` we draw from that stream, seeded; otherwise from a seed of
the product's own, so that a task has the same instruction in every catalogue.
"""

import random
import zipfile
import zlib
from abc import abstractmethod
from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.benchmarks.webshop.catalogue.catalogue import Catalogue
from agentquest.benchmarks.webshop.catalogue.products import MOST_GOALS, Product
from agentquest.benchmarks.webshop.shop.prices import Draw, SeededPrices, StreamPrices
from agentquest.errors import ConfigError, DataError
from agentquest.files import replace_with_draft
from agentquest.words import counted

SEED = 233  # of the original's shuffle
WORTH_KEEPING = 200_000
_CACHED_GOALS = 4096
_STATE_NUMBERS = 625

GeneratorState = tuple[Any, ...]

GoalFilter = Callable[[int, dict[str, Any]], bool]
"""Whether to keep a goal, by its number and its record, as in the original."""


@dataclass(frozen=True)
class Goal:
    """One task; the fields are those of the original's goal records."""

    asin: str
    category: str
    query: str
    name: str
    product_category: str
    instruction_text: str
    attributes: tuple[str, ...]
    price_upper: float
    goal_options: Mapping[str, str] | tuple[str, ...]
    weight: float

    def as_dict(self) -> dict[str, Any]:
        """The goal as the original's own record: lists in place of tuples."""
        record = asdict(self)
        record["attributes"] = list(self.attributes)
        if isinstance(self.goal_options, tuple):
            record["goal_options"] = list(self.goal_options)
        return record


class Goals(Sequence[Goal]):
    """All goals of a catalogue, in the order of the original."""

    kind = ""

    def __init__(self, catalogue: Catalogue, seed: int, strict: bool) -> None:
        self.catalogue = catalogue
        owners = self._owners()
        self.prices: SeededPrices | StreamPrices = (
            StreamPrices(catalogue, seed, owners) if strict else SeededPrices(catalogue, seed)
        )
        counts, weights = self._counts_and_weights()
        self._ends = np.cumsum(counts)
        total = int(self._ends[-1]) if len(self._ends) else 0
        if total == 0:
            wanted = f"of {counted(len(catalogue), 'product')} none has a {self.kind} goal"
            raise DataError(f"{catalogue.source}: {wanted}")
        if total > MOST_GOALS:
            made = f"the products' options make {total:,} goals, more than {MOST_GOALS:,}"
            raise DataError(f"{catalogue.source}: {made}")
        self.order, self.state_after_shuffle = shuffle_goals(total, catalogue.folder)
        self._weights = weights

    @property
    def weights(self) -> NDArray[Any]:
        """How likely each goal is drawn, in the goals' order."""
        drawn: NDArray[Any] = self._weights[np.searchsorted(self._ends, self.order, side="right")]
        return drawn

    @cached_property
    def _cumulative(self) -> NDArray[Any]:
        return np.concatenate([[0.0], np.cumsum(self.weights)])

    def shuffle(self, seed: int) -> None:
        """Order all goals by another seed than the original's."""
        rng = random.Random(seed)
        numbers = list(range(len(self)))
        rng.shuffle(numbers)
        self.state_after_shuffle = rng.getstate()
        self._reorder(np.array(numbers))

    def numbers_shuffled(self, seed: int) -> NDArray[np.int64]:
        """The goals' numbers in the order that another seed gives them."""
        twin = copy(self)
        twin.shuffle(seed)
        numbers: NDArray[np.int64] = np.argsort(self.order)[twin.order]
        return numbers

    def narrow(self, keep: GoalFilter | None, limit: int | None) -> None:
        """Keep the goals that `keep` accepts, and of these `limit`, drawn by weight.

        As in the original: the kept goals are renumbered, the drawn ones are in the order of
        their draws, and later draws continue the same stream.
        """
        if keep is not None:
            kept = [n for n in range(len(self)) if keep(n, self[n].as_dict())]
            self._reorder(self.order[kept])
        if limit is not None and limit < len(self):
            rng = random.Random()
            rng.setstate(self.state_after_shuffle)
            drawn: dict[int, None] = {}
            while len(drawn) < limit:
                drawn[self.draw(rng)] = None
            self.state_after_shuffle = rng.getstate()
            self._reorder(self.order[list(drawn)])

    def _reorder(self, order: NDArray[np.int64]) -> None:
        if not len(order):
            raise ConfigError("the filter leaves no goal")
        self.order = order
        for name in ("_cumulative", "_cached_goal"):
            self.__dict__.pop(name, None)

    @abstractmethod
    def _owners(self) -> NDArray[Any]:
        """(product, entry) of each draw of a limit, in file order."""

    @abstractmethod
    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """For each owner in file order, how many goals it gives and their weight."""

    @abstractmethod
    def _goal(self, owner: int, within: int) -> Goal:
        """The goal of this place among those of its owner."""

    def __len__(self) -> int:
        return len(self.order)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._cached_goal(int(index))

    @cached_property
    def _cached_goal(self) -> Callable[[int], Goal]:
        """Goals by number; the most recent ones are cached."""
        return lru_cache(_CACHED_GOALS)(self._make)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_cached_goal"}

    def _make(self, index: int) -> Goal:
        original = int(self.order[index])
        owner = int(np.searchsorted(self._ends, original, side="right"))
        before = int(self._ends[owner - 1]) if owner else 0
        return self._goal(owner, original - before)

    def draw(self, rng: random.Random) -> int:
        """A goal's number by weight; off by one like the original, which never draws goal 0."""
        position = rng.uniform(0, float(self._cumulative[-1]))
        found = int(np.searchsorted(self._cumulative, position, side="right"))
        return min(found, len(self._cumulative) - 2)

    def choose(self, rng: random.Random) -> int:
        """A goal's number by weight, as the original's web site draws it: all can be drawn."""
        position = rng.random() * float(self._cumulative[-1])
        found = int(np.searchsorted(self._cumulative[1:], position, side="right"))
        return min(found, len(self) - 1)

    def _record(self, product: Product, limit: Draw, **rest: Any) -> Goal:
        return Goal(
            asin=product.asin,
            category=product.category,
            query=product.query,
            name=product.title,
            product_category=product.product_category,
            price_upper=limit[0],
            **rest,
        )


class SyntheticGoals(Goals):
    """One goal for each combination of options of each product that has an instruction."""

    kind = "synthetic"

    def __init__(self, catalogue: Catalogue, seed: int, strict: bool) -> None:
        if strict and not bool(catalogue.listed.all()):
            missing = catalogue.product(int(np.argmin(catalogue.listed))).asin
            raise DataError(
                f"{catalogue.source}: product {missing} is not in the instructions file"
            )
        super().__init__(catalogue, seed, strict)

    def _owners(self) -> NDArray[Any]:
        numbers = np.flatnonzero(self.catalogue.instructed)
        return np.stack([numbers, np.zeros_like(numbers)], axis=1)

    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        return self.catalogue.goal_counts, self.catalogue.goal_weights

    def _goal(self, owner: int, within: int) -> Goal:
        product = self.catalogue.product(owner)
        names = sorted(product.options)
        options = _combination({name: product.options[name] for name in names}, within)
        limit = self.prices.limit(owner, 0)
        chosen = ", and ".join(f"{name}: {value}" for name, value in options.items())
        text = f"{product.instruction}{f' with {chosen}' if chosen else ''}{limit[1]}"
        return self._record(
            product, limit, instruction_text=text, goal_options=options,
            attributes=product.instruction_attributes, weight=float(self._weights[owner]),
        )  # fmt: skip


class HumanGoals(Goals):
    """One goal for each wording of a person that names attributes."""

    kind = "human"

    def _owners(self) -> NDArray[Any]:
        return self.catalogue.human

    def _counts_and_weights(self) -> tuple[NDArray[Any], NDArray[Any]]:
        count = len(self.catalogue.human)
        return np.ones(count, np.int64), np.ones(count)

    def _goal(self, owner: int, within: int) -> Goal:
        number, entry = (int(n) for n in self.catalogue.human[owner])
        product = self.catalogue.product(number)
        wording = product.human[entry]
        limit = self.prices.limit(number, entry)
        return self._record(
            product, limit, instruction_text=wording.text.strip(".") + limit[1],
            goal_options=wording.options, weight=1, attributes=wording.attributes,
        )  # fmt: skip


def _combination(options: dict[str, tuple[str, ...]], number: int) -> dict[str, str]:
    """One value of each group: the `number`-th choice, the last group changing fastest."""
    chosen = {}
    for name in reversed(options):
        number, at = divmod(number, len(options[name]))
        chosen[name] = options[name][at]
    return {name: chosen[name] for name in options}


def make_goals(catalogue: Catalogue, kind: str, seed: int, strict: bool) -> Goals:
    """The goals of a catalogue, `synthetic` or `human`; raises ConfigError for another kind."""
    kinds: dict[str, type[Goals]] = {"synthetic": SyntheticGoals, "human": HumanGoals}
    if kind not in kinds:
        raise ConfigError(f"goals must be one of {', '.join(kinds)}, not {kind!r}")
    return kinds[kind](catalogue, seed, strict)


def shuffle_goals(count: int, folder: Path) -> tuple[NDArray[np.int64], GeneratorState]:
    """The numbers below `count` in the order of the goals, and the generator's state after it.

    Python needs seconds to shuffle millions of goals, so a long order is cached beside the
    catalogue, with the generator's state.
    """
    path = folder / f"order-{count}.npz"
    known = _load_order(path, count)
    if known is not None:
        return known
    rng = random.Random(SEED)
    numbers = array("q", range(count))
    rng.shuffle(numbers)
    order, state = np.frombuffer(numbers, np.int64), rng.getstate()
    if count > WORTH_KEEPING:
        # A cache that cannot be written to costs time, nothing else.
        with suppress(OSError), replace_with_draft(path) as draft, draft.open("wb") as file:
            np.savez(file, order=order, state=np.array(state[1], np.uint64))
    return order, state


def _load_order(path: Path, count: int) -> tuple[NDArray[np.int64], GeneratorState] | None:
    """The cached order; None if it is missing or damaged (the file has checksums)."""
    try:
        with np.load(path) as cached:
            order, state = cached["order"], cached["state"]
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error):
        return None
    if order.shape != (count,) or state.shape != (_STATE_NUMBERS,):
        return None
    return order, (3, tuple(state.tolist()), None)
