"""Many episodes at once: stopping always stops, and saves are never half done."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from agentquest.errors import DataError
from agentquest.lib import Agent, Answer, Benchmark, Observation
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.records.outcome import End
from agentquest.running.events import RunEvents
from agentquest.running.executors.local import LocalExecutor
from agentquest.running.spec import EpisodeSpec
from episode_players import Given, a_context


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


class Kept(RunEvents):
    """A listener that keeps what it is given, slowly, and knows what it was in the middle of."""

    def __init__(
        self,
        on_save: Callable[[int], None] = lambda count: None,
        on_step: Callable[[Step], None] = lambda step: None,
    ) -> None:
        self.started_keys: list[str] = []
        self.begun: list[EpisodeRecord] = []
        self.done: list[EpisodeRecord] = []
        self.under_way = self.most = 0
        self._on_save, self._on_step = on_save, on_step

    def started(self, spec: EpisodeSpec, worker: str) -> None:
        self.started_keys.append(spec.key)
        self.under_way += 1
        self.most = max(self.most, self.under_way)

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        self._on_step(step)

    async def save(self, record: EpisodeRecord) -> None:
        self.begun.append(record)
        self._on_save(len(self.begun))
        for _ in range(5):
            await asyncio.sleep(0)
        self.done.append(record)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        self.under_way -= 1


async def run(
    homes: Benchmark,
    agent: Callable[[], Agent],
    kept: Kept,
    count: int,
    parallel: int,
    stop: asyncio.Event | None = None,
    **given: Any,
) -> None:
    context = a_context(**{"max_steps": 3, **given})
    specs = [EpisodeSpec(context, task) for task in homes.tasks()[:count]]
    resources = Given(context, homes, agent)
    await LocalExecutor().run(specs, resources, kept, parallel, stop or asyncio.Event())


@pytest.mark.parametrize("parallel", [1, 3, 100])
async def test_every_spec_is_played_once_and_no_more_at_once_than_allowed(
    homes: Benchmark, parallel: int
) -> None:
    kept = Kept()
    await run(homes, Looks, kept, 12, parallel, max_steps=60)
    assert sorted(record.key for record in kept.done) == sorted(kept.started_keys)
    assert len(set(kept.started_keys)) == 12
    assert kept.most == min(parallel, 12)


async def test_nothing_is_begun_when_it_is_stopped_before(homes: Benchmark) -> None:
    stop, kept = asyncio.Event(), Kept()
    stop.set()
    await run(homes, Looks, kept, 4, 2, stop)
    assert kept.started_keys == []


@pytest.mark.parametrize("agent", [Looks, Stubborn])
async def test_stopping_begins_no_other_episode_and_finishes_every_save(
    homes: Benchmark, agent: type[Agent]
) -> None:
    stop = asyncio.Event()
    kept = Kept(lambda count: stop.set() if count == 3 else None)
    await run(homes, agent, kept, 60, 4, stop)
    assert len(kept.started_keys) <= 12
    assert len(kept.done) == len(kept.begun) >= 3


async def test_what_was_under_way_is_kept(homes: Benchmark) -> None:
    stop = asyncio.Event()
    kept = Kept(on_step=lambda step: stop.set() if step.index == 10 else None)
    await run(homes, Looks, kept, 8, 4, stop, max_steps=10**6)
    assert [record.end for record in kept.done] == [End.CANCELLED] * 4


async def test_cancelling_the_whole_ends_every_episode(homes: Benchmark) -> None:
    kept = Kept()
    running = asyncio.create_task(run(homes, Looks, kept, 8, 4, max_steps=10**6))
    for _ in range(100):
        await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(asyncio.all_tasks()) == 1


async def test_a_disk_that_is_full_ends_the_run_with_its_error(homes: Benchmark) -> None:
    class Full(Kept):
        async def save(self, record: EpisodeRecord) -> None:
            raise DataError("cannot write: No space left on device")

    with pytest.raises(DataError, match="No space left"):
        await run(homes, Looks, Full(), 8, 4)
    assert len(asyncio.all_tasks()) == 1
