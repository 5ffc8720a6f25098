"""Many episodes at once: stopping always stops, and saves are never half done."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentquest.errors import Cause, DataError
from agentquest.lib import Agent, Answer, Benchmark, Observation
from agentquest.records.episode import EpisodeRecord
from agentquest.running.assemble import make_benchmark
from agentquest.running.many_episodes import Job, Stage, Watcher, run_many
from agentquest.running.one_episode import Origin, Rules, versions


@pytest.fixture(scope="module")
def homes() -> Benchmark:
    return make_benchmark("alfworld", data_path="builtin")


class Looks(Agent):
    async def act(self, observation: Observation) -> Answer:
        await asyncio.sleep(0)
        return Answer("look")


class Stubborn(Looks):
    """Will not be cancelled."""

    async def act(self, observation: Observation) -> Answer:
        try:
            await asyncio.sleep(0.001)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
        return Answer("look")


class Counts(Watcher):
    def __init__(self) -> None:
        self.begun: list[str] = []
        self.under_way = self.most = 0

    def started(self, job: Job) -> None:
        self.begun.append(job.key)
        self.under_way += 1
        self.most = max(self.most, self.under_way)

    def finished(self, job: Job, record: EpisodeRecord) -> None:
        self.under_way -= 1


def a_stage(homes: Benchmark, agent: Callable[[], Agent], **rules: Any) -> Stage:
    return Stage(
        new_driver=homes.driver,
        new_agent=lambda job: agent(),
        rules=Rules(**{"max_steps": 3, **rules}),
        origin=Origin("r", "c", versions(), homes.name, "agent"),
    )


def some_jobs(homes: Benchmark, count: int) -> list[Job]:
    return [Job(task, 0, 0) for task in homes.tasks()[:count]]


class Saved:
    """Keeps what it was given, slowly, and knows what it was in the middle of."""

    def __init__(self, then: Callable[[int], None] | None = None) -> None:
        self.begun: list[EpisodeRecord] = []
        self.done: list[EpisodeRecord] = []
        self._then = then

    async def __call__(self, record: EpisodeRecord) -> None:
        self.begun.append(record)
        if self._then is not None:
            self._then(len(self.begun))
        for _ in range(5):
            await asyncio.sleep(0)
        self.done.append(record)


@pytest.mark.parametrize("parallel", [1, 3, 100])
async def test_every_job_is_played_once_and_no_more_at_once_than_allowed(
    homes: Benchmark, parallel: int
) -> None:
    saved, counts, jobs = Saved(), Counts(), some_jobs(homes, 12)
    await run_many(jobs, a_stage(homes, Looks, max_steps=60), saved, parallel, counts)
    assert sorted(record.key for record in saved.done) == sorted(job.key for job in jobs)
    assert counts.most == min(parallel, 12)


async def test_nothing_is_begun_when_it_is_stopped_before(homes: Benchmark) -> None:
    stop, counts = asyncio.Event(), Counts()
    stop.set()
    await run_many(some_jobs(homes, 4), a_stage(homes, Looks), Saved(), 2, counts, stop)
    assert counts.begun == []


@pytest.mark.parametrize("agent", [Looks, Stubborn])
async def test_stopping_begins_no_other_episode_and_finishes_every_save(
    homes: Benchmark, agent: type[Agent]
) -> None:
    stop, counts = asyncio.Event(), Counts()
    saved = Saved(lambda count: stop.set() if count == 3 else None)
    await run_many(some_jobs(homes, 60), a_stage(homes, agent), saved, 4, counts, stop)
    assert len(counts.begun) <= 12
    assert len(saved.done) == len(saved.begun) >= 3


@pytest.mark.parametrize("wanted", [True, False])
async def test_what_was_under_way_is_kept_if_that_is_wanted(homes: Benchmark, wanted: bool) -> None:
    stop = asyncio.Event()
    saved = Saved()

    class StopsAtTen(Counts):
        def stepped(self, job: Job, step: Any) -> None:
            if step.index == 10:
                stop.set()

    stage = a_stage(homes, Looks, max_steps=10**6)
    await run_many(some_jobs(homes, 8), stage, saved, 4, StopsAtTen(), stop, wanted)
    assert {record.end for record in saved.done} == ({Cause.CANCELLED} if wanted else set())
    assert len(saved.done) == (4 if wanted else 0)


async def test_cancelling_the_whole_ends_every_episode(homes: Benchmark) -> None:
    saved, counts = Saved(), Counts()
    stage = a_stage(homes, Looks, max_steps=10**6)
    running = asyncio.create_task(run_many(some_jobs(homes, 8), stage, saved, 4, counts))
    for _ in range(100):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asyncio.all_tasks()) == 1


async def test_a_disk_that_is_full_ends_the_run_with_its_error(homes: Benchmark) -> None:
    async def full(record: EpisodeRecord) -> None:
        raise DataError("cannot write: No space left on device")

    with pytest.raises(DataError, match="No space left"):
        await run_many(some_jobs(homes, 8), a_stage(homes, Looks), full, 4)
    assert len(asyncio.all_tasks()) == 1
