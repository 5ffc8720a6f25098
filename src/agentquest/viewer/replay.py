"""Episodes played again: the environments are deterministic, so actions bring back every state.

Only registered benchmarks are opened, and only data that is the same as the
record's: a record's words must neither import anything nor be taken for another game.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from htpy import fragment
from markupsafe import Markup

from agentquest import registry
from agentquest.errors import UnknownName, UserError
from agentquest.lib import Benchmark, Driver, Moment, Task
from agentquest.lib.settings import validated
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.manifest import Manifest
from agentquest.reports.safe_text import visible


def settings_of(manifest: Manifest) -> dict[str, Any]:
    """How the benchmark of a run was set, as far as its manifest says."""
    given = manifest.config.get("benchmark_settings")
    return dict(given) if isinstance(given, Mapping) else {}


def benchmark_of(name: str, settings: Mapping[str, Any]) -> Benchmark:
    """A registered benchmark; those asked for last stay open."""
    return _benchmark(name, json.dumps(settings, sort_keys=True, default=str))


@lru_cache(maxsize=64)
def _benchmark_class(name: str) -> type[Benchmark]:
    """Looked up once: the registry reads what is installed each time."""
    found: type[Benchmark] = registry.load_registered("benchmark", name)
    return found


@lru_cache(maxsize=8)
def _benchmark(name: str, settings: str) -> Benchmark:
    found = _benchmark_class(name)
    return found(validated(found.Settings, json.loads(settings), "benchmark_settings"))


def task_of(record: EpisodeRecord) -> Task:
    """The task that a record is of."""
    return Task(record.task_id, record.task_type, record.split, record.problem)


def pictures_of(record: EpisodeRecord) -> list[Markup]:
    """How the benchmark draws the start and each step; empty pictures if it is not installed."""
    moments = [moment(record.first_observation, record.first_admissible)]
    moments += [moment(one.observation, one.admissible, one.action) for one in record.steps]
    try:
        benchmark = _benchmark_class(record.benchmark)
    except UnknownName:
        return [Markup()] * len(moments)
    return [
        one if isinstance(one, Markup) else Markup(fragment[one])
        for one in benchmark.pictures(moments)
    ]


def moment(text: str, admissible: Sequence[str], action: str | None = None) -> Moment:
    """A moment of which nothing is hidden: a benchmark draws whatever a record says."""
    return Moment(visible(text), [visible(one) for one in admissible], visible(action or ""))


def opened(record: EpisodeRecord, manifest: Manifest) -> tuple[Benchmark, Driver]:
    """The record's game, not yet reset; an error where this is not the data it was played on."""
    benchmark = benchmark_of(record.benchmark, settings_of(manifest))
    driver = benchmark.driver(task_of(record))
    if driver.data_hash != record.data_hash:
        raise UserError("the data of this game has changed, so it cannot be replayed")
    return benchmark, driver


def carried_out(step: Step, driver: Driver) -> str | None:
    """The command of a step that the environment was given; None where it was given none:
    a reply without an action, or a question that the agent answered itself."""
    if step.action is None or (step.valid and not driver.accepts(step.action)):
        return None
    return step.action
