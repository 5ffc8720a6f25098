"""WebShop as the runner sees it: goals as tasks, a driver for each, where the data came from."""

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import field_validator

from agentquest.benchmarks.webshop import prompting
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.driver import WebshopDriver
from agentquest.benchmarks.webshop.explorer import WebshopExplorer
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.benchmarks.webshop.oracle import plan
from agentquest.benchmarks.webshop.shop.pages import SEPARATOR
from agentquest.benchmarks.webshop.shop.shop import Shop, ShoppingSession
from agentquest.benchmarks.webshop.tasks import (
    BUILTIN,
    CATEGORIES,
    TasksOfGoals,
    check_numbers,
    choose_numbers,
    data_root,
    numbers_of,
    task_of,
)
from agentquest.lib import (
    Benchmark,
    BenchmarkSettings,
    Briefing,
    Driver,
    Explorer,
    Moment,
    Observation,
    Oracle,
    Task,
    TerminalView,
)
from agentquest.records.manifest import Provenance

if TYPE_CHECKING:  # playing needs no HTML
    from htpy import Node

logger = logging.getLogger(__name__)
_INSTRUCTION = "Instruction:"
_PRODUCT_CODE = re.compile(r"[A-Z0-9]{10}")
_LONG = 50  # characters; shorter pieces of a page share a line in the terminal


class WebshopSettings(BenchmarkSettings):
    """Which catalogue and which goals are played, and how purchases are scored."""

    data_path: Path | None = None
    """Folder with the official files, or `builtin`; null: auto-detected."""

    goals: Literal["synthetic", "human"] = "synthetic"
    """Who worded the goals: a generator, or people."""

    strict: bool = False
    """Whether to keep the quirks of the original."""

    seed: int = 0
    """Fixes hidden prices and price limits."""

    size: Literal["small", "all"] | None = None
    """Which catalogue, if the data folder has both."""

    numbers: tuple[int, ...] | str | None = None
    """Only these goals, of whatever split: a list, `0-199`, or `gigpo-as-published` (the 128
    that GiGPO validates on, most of which it trains on); null: all of the split."""

    @field_validator("numbers")
    @classmethod
    def _readable(cls, value: tuple[int, ...] | str | None) -> tuple[int, ...] | str | None:
        if isinstance(value, str):
            check_numbers(value)
        return value


class WebshopTaskDriver(WebshopDriver):
    """Plays one goal of a shop that many drivers share; what is recorded as goal is the wish."""

    def __init__(self, shop: Shop, number: int) -> None:
        super().__init__(shop=shop)
        self.number = number
        self._shop = shop

    def reset(self, session: int | str | None = None) -> Observation:
        return super().reset(self.number if session is None else session)

    def _reset(self) -> tuple[str, Observation]:
        _, observation = super()._reset()
        return self._session.instruction, observation

    @property
    def data_hash(self) -> str:
        """Over the products, this goal and how it is judged."""
        return task_hash(self._shop, self.number)

    def oracle_actions(self) -> list[str]:
        """The shortest way from here to the best purchase there is; empty after a purchase."""
        return [] if self.outcome.done else plan(self._session)

    @property
    def _session(self) -> ShoppingSession:
        session = self._place.session
        assert isinstance(session, ShoppingSession), "call reset() first"
        return session


class WebshopBenchmark(Benchmark):
    """Shopping by search and clicks; a task is won by buying exactly what was asked for."""

    name: ClassVar[str] = "webshop"
    title: ClassVar[str] = "WebShop"
    Settings: ClassVar[type[BenchmarkSettings]] = WebshopSettings
    splits: ClassVar[Mapping[str, int | None]] = {"test": 500, "dev": 1000, "train": None}
    split_aliases: ClassVar[Mapping[str, str]] = {
        "eval": "dev",
        "eval_out_of_distribution": "test",
        "eval_in_distribution": "dev",
    }
    task_types: ClassVar[tuple[str, ...]] = CATEGORIES
    exploring: ClassVar[tuple[str, ...]] = ("search[", "click[")
    commands: ClassVar[Mapping[str, str]] = {
        "download": "agentquest.benchmarks.webshop.commands:download",
        "serve": "agentquest.benchmarks.webshop.commands:serve",
    }

    def __init__(self, settings: BenchmarkSettings | None = None, **given: Any) -> None:
        super().__init__(settings, **given)
        self.root = data_root(self.settings.data_path)

    @cached_property
    def shop(self) -> Shop:
        """The shop of these settings; its catalogue is made on first use, which takes a while."""

        def on_progress(done: int, total: int) -> None:
            if not done:
                logger.warning(
                    "building the WebShop catalogue of %s; this happens once", self.root or BUILTIN
                )

        settings = self.settings
        catalogue = open_catalogue(self.root, size=settings.size, progress=on_progress)
        return Shop(catalogue, goals=settings.goals, seed=settings.seed, strict=settings.strict)

    def tasks(self) -> list[Task]:
        goals = self.shop.goals
        tasks = (task_of(goals, number) for number in self._numbers())
        return [task for task in tasks if task.task_type in self.wanted_types]

    def driver(self, task: Task) -> WebshopTaskDriver:
        return WebshopTaskDriver(self.shop, task.place(len(self.shop.goals)))

    def game(self, task: Task) -> WebshopGame:
        return WebshopGame(self.shop, task.place(len(self.shop.goals)))

    def task_list(self) -> Sequence[Task]:
        return self._goal_tasks if self._wants_all else super().task_list()

    def task_named(self, task_id: str) -> Task | None:
        return self._goal_tasks.find(task_id) if self._wants_all else super().task_named(task_id)

    @property
    def _goal_tasks(self) -> TasksOfGoals:
        return TasksOfGoals(self.shop.goals, self._numbers())

    def _numbers(self) -> Sequence[int]:
        """The goals that are tasks."""
        goals, wanted = self.shop.goals, self.settings.numbers
        if wanted is None:
            return numbers_of(self.split, len(goals))
        return choose_numbers(wanted, goals)

    @property
    def _wants_all(self) -> bool:
        return self.wanted_types == self.task_types

    def in_split(self, name: str) -> Benchmark:
        self.shop  # noqa: B018  opened here, so that the twin shares it
        return super().in_split(name)

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        wish = self.shop.goals[task.place(len(self.shop.goals))].instruction_text
        played = prompting.examples(task.task_type, self.settings.goals, demonstrations + 1)
        others = [example for example in played if example.goal != wish]
        return Briefing(
            instructions=prompting.INSTRUCTIONS,
            role=prompting.ROLE,
            examples=prompting.EXAMPLES,
            demonstrations=tuple(others[:demonstrations]),
            tools=prompting.TOOLS,
        )

    def data_hash(self, task: Task) -> str:
        return task_hash(self.shop, task.place(len(self.shop.goals)))

    def explorer(self) -> Explorer:
        return WebshopExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, WebshopTaskDriver)
        return Oracle(driver.oracle_actions)

    def view(self) -> TerminalView:
        return WebshopView()

    @classmethod
    def pictures(cls, moments: Sequence[Moment]) -> "Iterable[Node]":
        from agentquest.benchmarks.webshop.pictures import draw_pages

        return draw_pages(moments)

    @classmethod
    def controls(cls, moments: Sequence[Moment]) -> "Node":
        from agentquest.benchmarks.webshop.pictures import draw_controls

        return draw_controls(moments)

    def provenance(self) -> Provenance:
        return Provenance(
            data=BUILTIN if self.root is None else "real",
            data_path=None if self.root is None else str(self.root),
            split=self.split,
            details={
                "goals": self.settings.goals,
                "strict": str(self.settings.strict).lower(),
                "seed": str(self.settings.seed),
                "products": str(len(self.shop.catalogue)),
                "nouns": self.shop.nouns.name,
            },
        )


class WebshopView(TerminalView):
    """Shows a page without its instruction, each product of the results on a line."""

    def room(self, observation: Observation) -> str:
        return "The search page of a shop: search[<words>] looks for products."

    def show(self, observation: Observation) -> str:
        texts = observation.text.split(SEPARATOR)
        if texts[0] == _INSTRUCTION:
            del texts[:2]
        if _INSTRUCTION in texts:
            return self.room(observation)
        lines = [""]
        for place, text in enumerate(texts):
            if _begins_line(text, texts[place - 1] if place else ""):
                lines.append("")
            lines[-1] += f"  {text}" if lines[-1] else text
        return "\n".join(line for line in lines if line)

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        verb, _, rest = command.partition("[")
        return verb, rest.removesuffix("]")


def _begins_line(text: str, before: str) -> bool:
    """Whether a text begins a line: results and long texts do, short texts share one."""
    if _PRODUCT_CODE.fullmatch(before) or text.startswith("$"):
        return False
    begins = _PRODUCT_CODE.fullmatch(text) or text.startswith(("Page ", "Price: ", "Description"))
    return bool(begins) or len(text) > _LONG or len(before) > _LONG


def task_hash(shop: Shop, number: int) -> str:
    """SHA-256 over all that decides what goal `number` is and what a purchase is worth."""
    goal = shop.goals[number].as_dict()
    decides = [shop.catalogue.digest, shop.strict, shop.seed, shop.nouns.name, goal]
    return hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()
