"""Episodes played again: environments are deterministic, so actions bring back every state.

Only registered benchmarks are opened, and only with the data that the record was played on: a
record must not be able to import anything, nor pass for another game. An episode is played
again to ask the oracle for its distance at each step. Where that is not possible (no data here,
no oracle) the record's own progress is shown alone.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import Any

from htpy import fragment
from markupsafe import Markup

from agentquest import registry
from agentquest.errors import AgentQuestError, UnknownName, UserError
from agentquest.lib import Benchmark, Driver, Moment, Task
from agentquest.lib.settings import validate_settings
from agentquest.metrics.behaviour import find_cycles
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import End


@dataclass(frozen=True)
class Analysis:
    """Where an episode went wrong. All have one entry per step; `distances` and `plans` have one
    more, for the start, or none at all."""

    distances: tuple[int | None, ...]
    plans: tuple[tuple[str, ...], ...]
    repeated: tuple[bool, ...]
    in_cycle: tuple[bool, ...]
    first_harmful: int | None
    lost_for_good: int | None
    can_play: bool


def benchmark_of(name: str, settings: Mapping[str, Any]) -> Benchmark:
    """A registered benchmark; the ones used last stay open."""
    return _benchmark(name, json.dumps(settings, sort_keys=True, default=str))


@lru_cache(maxsize=64)
def _benchmark_class(name: str) -> type[Benchmark]:
    """Looked up once: the registry reads what is installed each time."""
    found: type[Benchmark] = registry.load_registered("benchmark", name)
    return found


@lru_cache(maxsize=8)
def _benchmark(name: str, settings: str) -> Benchmark:
    found = _benchmark_class(name)
    return found(validate_settings(found.Settings, json.loads(settings), "benchmark_settings"))


def task_of(record: EpisodeRecord) -> Task:
    """The task that a record is of."""
    return Task(record.task_id, record.task_type, record.split, record.problem)


def pictures_of(record: EpisodeRecord) -> list[Markup]:
    """How the benchmark draws the start and each step; empty pictures if it is not installed."""
    moments = [Moment(record.first_observation, record.first_admissible)]
    moments += [Moment(one.observation, one.admissible, one.action or "") for one in record.steps]
    try:
        benchmark = _benchmark_class(record.benchmark)
    except UnknownName:
        return [Markup()] * len(moments)
    return [
        one if isinstance(one, Markup) else Markup(fragment[one])
        for one in benchmark.pictures(moments)
    ]


def open_game(record: EpisodeRecord, manifest: Manifest) -> tuple[Benchmark, Driver]:
    """The record's game, not yet reset; an error where this is not the data it was played on."""
    benchmark = benchmark_of(record.benchmark, manifest.section("benchmark_settings"))
    driver = benchmark.driver(task_of(record))
    if driver.data_hash != record.data_hash:
        raise UserError("the data of this game has changed, so it cannot be replayed")
    return benchmark, driver


def command_of(step: Step, driver: Driver) -> str | None:
    """The command of a step that the environment was given; None where it was given none:
    a reply without an action, or a question that the agent answered itself."""
    if step.action is None or (step.valid and not driver.accepts(step.action)):
        return None
    return step.action


def analyse_episode(record: EpisodeRecord, manifest: Manifest) -> Analysis:
    """Everything known about an episode's way to the goal."""
    actions = [action.strip().lower() for action in record.actions]
    seen: set[str] = set()
    repeated = []
    for action in actions:
        repeated.append(action in seen)
        seen.add(action)
    looped = {step for cycle in find_cycles(actions).cycle_patterns for step in cycle.steps}
    can_play = True
    try:
        distances, plans = _ask_oracle(record, manifest)
    except (AgentQuestError, OSError, AssertionError):
        distances, plans, can_play = (), (), False
    return Analysis(
        distances=distances,
        plans=plans,
        repeated=tuple(repeated),
        in_cycle=tuple(place in looped for place in range(len(actions))),
        first_harmful=first_harmful_step(distances, _find_discoveries(record)),
        lost_for_good=_lost_for_good(record),
        can_play=can_play,
    )


def first_harmful_step(distances: Sequence[int | None], discoveries: Sequence[bool]) -> int | None:
    """The first step after which the goal was further away than before; one that looked
    somewhere new did no harm, unless the goal was out of reach then."""
    for place in range(1, len(distances)):
        before, after, found = distances[place - 1], distances[place], discoveries[place - 1]
        if before is not None and (after is None or (after > before and not found)):
            return place
    return None


def _find_discoveries(record: EpisodeRecord) -> list[bool]:
    """Which steps looked for something and saw what the agent had not seen before."""
    try:
        exploring = _benchmark_class(record.benchmark).exploring
    except UnknownName:
        exploring = ()
    seen, found = {record.first_observation}, []
    for step in record.steps:
        looked = step.valid and (step.action or "").startswith(exploring)
        found.append(looked and step.observation not in seen)
        seen.add(step.observation)
    return found


def _reachable(record: EpisodeRecord) -> list[bool]:
    """Whether the goal could still be reached after each step: not once the game is lost."""
    over = len(record.steps) if record.end is End.FAILED else None
    return [step.reachable and step.index != over for step in record.steps]


def _lost_for_good(record: EpisodeRecord) -> int | None:
    """The step after which the goal stayed unreachable."""
    lost = list(takewhile(lambda fine: not fine, reversed(_reachable(record))))
    return len(record.steps) - len(lost) + 1 if lost else None


def _ask_oracle(
    record: EpisodeRecord, manifest: Manifest
) -> tuple[tuple[int | None, ...], tuple[tuple[str, ...], ...]]:
    """The distance to the goal and the plan, at the start and after each step."""
    benchmark, driver = open_game(record, manifest)
    driver.reset()
    oracle = benchmark.oracle(driver)
    if oracle is None:
        return (), ()
    plans = [tuple(oracle.plan())]
    for step in record.steps:
        command = command_of(step, driver)
        if command is not None:
            driver.step(driver.action_class(value=command))
        # A step that changed nothing leaves the distance as it was.
        plans.append(tuple(oracle.plan()) if command is not None and step.valid else plans[-1])
    reachable = [True, *_reachable(record)]
    distances = tuple(
        len(plan) if fine else None for plan, fine in zip(plans, reachable, strict=True)
    )
    return distances, tuple(plans)
