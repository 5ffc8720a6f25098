"""WebShop as the runner sees it: goals as tasks, a driver for each, where the data came from."""

import hashlib
import json
import logging
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from agentquest.benchmarks.webshop import prompting
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.driver import WebshopDriver
from agentquest.benchmarks.webshop.explorer.player import WebshopExplorer
from agentquest.benchmarks.webshop.oracle import Purchase, best_purchase, plan
from agentquest.benchmarks.webshop.shop.shop import Session, Shop
from agentquest.benchmarks.webshop.tasks import (
    BUILTIN,
    CATEGORIES,
    category_named,
    data_root,
    numbers_of,
    split_named,
    task_of,
)
from agentquest.errors import ConfigError
from agentquest.lib import Benchmark, Demonstration, Explorer, Observation, Task

logger = logging.getLogger(__name__)

GOAL_KINDS = ("synthetic", "human")


class WebshopTaskDriver(WebshopDriver):
    """Plays one goal of a shop that many drivers share; what is recorded as goal is the wish."""

    def __init__(self, shop: Shop, number: int) -> None:
        super().__init__(shop=shop)
        self.number = number
        self._shop = shop
        self._purchase: Purchase | None = None

    def reset(self, session: int | str | None = None) -> Observation:
        return super().reset(self.number if session is None else session)

    def _reset(self) -> tuple[str, Observation]:
        _, observation = super()._reset()
        self._purchase = None
        return self._session.instruction, observation

    @property
    def data_hash(self) -> str:
        """Over the products, this goal and how it is judged."""
        return task_hash(self._shop, self.number)

    def oracle_actions(self) -> list[str]:
        """The shortest way from here to the best purchase there is; empty after a purchase."""
        if self.outcome.done:
            return []
        session = self._session
        if self._purchase is None:
            self._purchase = best_purchase(self._shop, session.goal)
        return plan(session, self._purchase)

    @property
    def _session(self) -> Session:
        session = self._place.session
        assert isinstance(session, Session), "call reset() first"
        return session


class WebshopBenchmark(Benchmark):
    """`goals` is "synthetic" or "human"; `strict` keeps the quirks of the original, `seed` fixes
    hidden prices and price limits, `size` chooses where the data folder has both catalogues."""

    name: ClassVar[str] = "webshop"
    task_types: ClassVar[tuple[str, ...]] = CATEGORIES

    def __init__(
        self,
        split: str = "test",
        task_types: Iterable[str | int] | None = None,
        data_path: str | Path | None = None,
        goals: str = "synthetic",
        strict: bool = False,
        seed: int = 0,
        size: str | None = None,
    ) -> None:
        self.split = split_named(split)
        self.wanted = [category_named(wanted) for wanted in task_types or CATEGORIES]
        self.root = data_root(data_path)
        if goals not in GOAL_KINDS:
            raise ConfigError(f"goals must be {' or '.join(GOAL_KINDS)}, not {goals!r}")
        if not isinstance(strict, bool) or isinstance(seed, bool) or not isinstance(seed, int):
            raise ConfigError(
                f"strict must be true or false ({strict!r}), seed a number ({seed!r})"
            )
        self.goals = goals
        self.strict = strict
        self.seed = seed
        self.size = size

    @cached_property
    def shop(self) -> Shop:
        def on_progress(done: int, total: int) -> None:
            if not done:
                logger.warning("making the WebShop catalogue of %s, once", self.root or BUILTIN)

        catalogue = open_catalogue(self.root, size=self.size, progress=on_progress)
        return Shop(catalogue, goals=self.goals, seed=self.seed, strict=self.strict)

    def tasks(self) -> list[Task]:
        goals = self.shop.goals
        tasks = (task_of(goals, number) for number in numbers_of(self.split, len(goals)))
        return [task for task in tasks if task.task_type in self.wanted]

    def driver(self, task: Task) -> WebshopTaskDriver:
        return WebshopTaskDriver(self.shop, int(task.problem))

    def instructions(self, dialect: str) -> str:
        return prompting.INSTRUCTIONS

    def demonstrations(self, task: Task, dialect: str, count: int) -> list[Demonstration]:
        played = prompting.examples(task.task_type, self.goals, count + 1)
        wish = self.shop.goals[int(task.problem)].instruction_text
        return [example for example in played if example.goal != wish][:count]

    def fingerprint(self, tasks: Sequence[Task]) -> str:
        digest = hashlib.sha256()
        for task in tasks:
            digest.update(f"{task.id}\0{task_hash(self.shop, int(task.problem))}\n".encode())
        return digest.hexdigest()

    def explorer(self) -> Explorer:
        return WebshopExplorer()

    def provenance(self) -> dict[str, Any]:
        return {
            "benchmark": self.name,
            "data": BUILTIN if self.root is None else "real",
            "data_path": None if self.root is None else str(self.root),
            "split": self.split,
            "goals": self.goals,
            "strict": self.strict,
            "seed": self.seed,
            "products": len(self.shop.catalogue),
            "nouns": self.shop.nouns.name,
        }


def task_hash(shop: Shop, number: int) -> str:
    """SHA-256 over all that decides what goal `number` is and what a purchase is worth."""
    goal = shop.goals[number].as_dict()
    decides = [shop.catalogue.digest, shop.strict, shop.seed, shop.nouns.name, goal]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
