"""ALFWorld as the rest of AgentQuest knows it, and as people see it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import field_validator

from agentquest.benchmarks.alfworld import prompting
from agentquest.benchmarks.alfworld.driver import AlfWorldDriver
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.dialects import dialect as dialect_named
from agentquest.benchmarks.alfworld.engine.narrator import ROOM, TASK
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.benchmarks.alfworld.game import AlfWorldGame, open_game
from agentquest.benchmarks.alfworld.reading import kind_of, read_goal, read_statements
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES, task_type
from agentquest.benchmarks.alfworld.tasks import (
    BUILTIN,
    CHECKED_COPIES,
    data_root,
    find_tasks,
    hash_copy,
    open_problem,
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
    Verbs,
)
from agentquest.records.manifest import Provenance

if TYPE_CHECKING:  # playing needs no HTML
    from htpy import Node


class AlfWorldSettings(BenchmarkSettings):
    """Which games are played, and how they are worded."""

    data_path: Path | None = None
    """Folder with the official games, or `builtin`; null: auto-detected."""

    dialect: str | None = None
    """Dialect of the engine, 0.3 or 0.4; null: the game file's own."""

    playable: bool = True
    """Whether to use only games that the original marks as playable."""

    goals: Literal["template", "human"] = "template"
    """Who worded the goals: the generator, or people who annotated the real games."""

    goal_seed: int = 0
    """Chooses among several people's wordings of the same goal."""

    @field_validator("dialect", mode="before")
    @classmethod
    def _number_to_text(cls, value: Any) -> Any:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return str(value) if is_number else value


class AlfWorldBenchmark(Benchmark):
    """Household tasks in text: find things, treat them, and bring them to their place."""

    name: ClassVar[str] = "alfworld"
    title: ClassVar[str] = "ALFWorld"
    Settings: ClassVar[type[BenchmarkSettings]] = AlfWorldSettings
    splits: ClassVar[Mapping[str, int | None]] = {
        "valid_unseen": 134,
        "valid_seen": 140,
        "valid_train": 200,
        "train": 3553,
    }
    split_aliases: ClassVar[Mapping[str, str]] = {
        "eval_out_of_distribution": "valid_unseen",
        "eval_in_distribution": "valid_seen",
    }
    task_types: ClassVar[tuple[str, ...]] = TASK_TYPE_NAMES
    verbs: ClassVar[Verbs] = Verbs(open="open", close="close", walk="go to")
    exploring: ClassVar[tuple[str, ...]] = ("go to ", "open ", "examine ", "look")
    commands: ClassVar[Mapping[str, str]] = {
        "download": "agentquest.benchmarks.alfworld.commands:download",
        "homes": "agentquest.benchmarks.alfworld.commands:homes",
    }

    def __init__(self, settings: BenchmarkSettings | None = None, **given: Any) -> None:
        super().__init__(settings, **given)
        self.dialect = dialect_named(self.settings.dialect)

    @classmethod
    def type_named(cls, wanted: str | int) -> str:
        return task_type(wanted).name

    def tasks(self) -> list[Task]:
        settings = self.settings
        return find_tasks(self.split, self.wanted_types, settings.data_path, settings.playable)

    def driver(self, task: Task) -> AlfWorldDriver:
        settings = self.settings
        return AlfWorldDriver(task.problem, self.dialect, settings.goals, settings.goal_seed)

    def game(self, task: Task) -> AlfWorldGame:
        return open_game(task.problem, self.dialect)

    def briefing(self, driver: Driver, task: Task, demonstrations: int) -> Briefing:
        dialect = Dialect(driver.facts()["dialect"])
        wanted = (task.task_type, dialect, demonstrations)
        shown = prompting.examples(*wanted) if demonstrations else ()  # finding them takes a while
        return prompting.briefing(dialect, shown)

    def goal_in(self, observation: str) -> str:
        return read_goal(observation) or ""

    def data_hash(self, task: Task) -> str:
        settings = self.settings
        return open_problem(task.problem, settings.goals, settings.goal_seed).sha256

    def folder(self, task: Task) -> Path | None:
        return None if task.problem.startswith(f"{BUILTIN}:") else Path(task.problem)

    def explorer(self) -> Explorer:
        return AlfWorldExplorer()

    def oracle(self, driver: Driver) -> Oracle | None:
        assert isinstance(driver, AlfWorldDriver)
        return Oracle(driver.oracle_actions)

    def view(self) -> TerminalView:
        return AlfWorldView()

    @classmethod
    def pictures(cls, moments: Sequence[Moment]) -> "Iterable[Node]":
        from agentquest.benchmarks.alfworld.pictures import draw_maps

        return draw_maps(moments)

    def provenance(self) -> Provenance:
        root = data_root(self.settings.data_path)
        details = {
            "dialect": self.dialect.value if self.dialect else "the game file's own",
            "games": "playable only" if self.settings.playable else "all",
        }
        warning = ""
        if self._copy:
            is_known = self._copy == CHECKED_COPIES[self.split]
            known = "the one AgentQuest is checked with" if is_known else "unknown"
            details["copy"] = f"{self._copy[:12]} ({known})"
            if not is_known:
                warning = (
                    f"The games of {self.split} are an unknown copy of the data"
                    f" ({self._copy[:12]}): copies differ in the wording of goals, so compare only"
                    " with runs on the same one."
                )
        return Provenance(
            data=BUILTIN if root is None else "real",
            data_path=None if root is None else str(root),
            split=self.split,
            details=details,
            warning=warning,
        )

    @cached_property
    def _copy(self) -> str:
        """The hash of the copy of the data, for splits of which one is known; else empty."""
        root = data_root(self.settings.data_path)
        return hash_copy(root, self.split) if root and self.split in CHECKED_COPIES else ""


class AlfWorldView(TerminalView):
    """Shows the room with its furniture counted by kind, and groups commands by their verb."""

    def room(self, observation: Observation) -> str:
        said = read_statements(observation.text)
        names = [name for one in said if one.sentence == ROOM for name in one.names]
        if names:
            return f"You are in the middle of a room. Around you: {group_names(names)}."
        scene, _, _ = observation.text.partition(f"\n\n{TASK}")
        return scene.partition("\n\n")[2] or scene

    def verb_and_rest(self, command: str) -> tuple[str, str]:
        if command.startswith("go to "):
            return "go to", command.removeprefix("go to ")
        return super().verb_and_rest(command)

    def suggestion(self, command: str, admissible: Sequence[str]) -> str | None:
        """What was meant, here or elsewhere: `open fridge` is `open fridge 1` from everywhere."""
        meant = super().suggestion(command, admissible)
        verb, _, place = command.strip().lower().rpartition(" ")
        if meant is None and verb:
            there = (each.removeprefix("go to ") for each in admissible if each.startswith("go to"))
            named = next((name for name in there if kind_of(name) == place), None)
            meant = f"{verb} {named}" if named else None
        return meant


def group_names(names: Iterable[str]) -> str:
    """`desk 1`, `shelf 2` and `shelf 1` as `desk 1, shelf 1–2`."""
    numbers: dict[str, set[int]] = {}
    for name in names:
        kind, _, number = name.partition(" ")
        numbers.setdefault(kind, set()).add(int(number))
    return ", ".join(f"{kind} {_group_runs(numbers[kind])}" for kind in sorted(numbers))


def _group_runs(numbers: set[int]) -> str:
    runs = []
    # Within a run of consecutive numbers, number minus position stays the same.
    for _, members in groupby(enumerate(sorted(numbers)), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in members]
        runs.append(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}")
    return " ".join(runs)
