"""From a spec to a record, in this process: one episode at a time."""

import asyncio
import contextlib
import gc
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from agentquest.errors import UserError
from agentquest.lib import Benchmark, Driver, Episode, InformedAgent
from agentquest.records.episode import EpisodeRecord
from agentquest.records.messages import ToolSpec
from agentquest.running.episode import EpisodePlayer
from agentquest.running.events import RunEvents
from agentquest.running.factory import Resources, asks_a_model, shares_something
from agentquest.running.spec import EpisodeSpec

T = TypeVar("T")
# A run holds many objects until their episode ends, and hardly any cycles.
_GC_THRESHOLDS = (50_000, 20, 50)
_LEAVING_S = 5.0


async def play(spec: EpisodeSpec, resources: Resources | None = None) -> EpisodeRecord:
    """Play one episode. Without `resources` everything it needs is opened and closed again."""
    own = resources or Resources(spec.context)
    try:
        await own.open()
        return await make_player(spec, own).play()
    finally:
        if resources is None:
            await own.close()


async def play_one(
    spec: EpisodeSpec,
    resources: Resources,
    events: RunEvents,
    worker: str = "",
    setting_up: asyncio.Lock | None = None,
) -> EpisodeRecord:
    """Play one episode of a run and report it; the record is saved when this returns.

    A cancelled episode is saved as far as it got. Episodes with the same `setting_up` are
    made one at a time, so that the first have asked their model before the last are made.
    """
    async with setting_up or contextlib.nullcontext():
        player = make_player(spec, resources, worker, partial(events.introduced, spec))
        await asyncio.sleep(0)
    events.started(spec, worker)
    try:
        record = await player.play(partial(events.stepped, spec))
    except asyncio.CancelledError:
        rest = player.cut_short()
        if rest is not None:
            await report_record(spec, rest, events, cut_short=True)
        raise
    await _finish(report_record(spec, record, events))
    return record


async def report_record(
    spec: EpisodeSpec, record: EpisodeRecord, events: RunEvents, *, cut_short: bool = False
) -> None:
    """Save the record of an episode that is over, or was cut short, and only then tell of it."""
    await events.save(record)
    if cut_short:
        events.cut_short(spec, record)
    else:
        events.finished(spec, record)


async def _finish(work: Coroutine[Any, Any, None]) -> None:
    """Do it to its end, and only then be cancelled."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def make_player(
    spec: EpisodeSpec,
    resources: Resources,
    worker: str = "",
    introduced: Callable[[str], None] | None = None,
) -> EpisodePlayer:
    """The environment and the agent of one episode, ready to play; `introduced` hears its goal."""
    benchmark = resources.benchmark
    driver, agent = benchmark.driver(spec.task), resources.agent()
    if isinstance(agent, InformedAgent):
        oracle = benchmark.oracle(driver)
        if oracle is None:
            raise UserError(f"{benchmark.title} has no oracle")
        agent.oracle = oracle

    def introduce(driver: Driver) -> Episode:
        context = spec.context
        seed, goal = context.model_seed, driver.metrics.goal
        if introduced is not None:
            introduced(goal)
        return Episode(
            benchmark=context.benchmark.name,
            goal=goal,
            task_type=spec.task.task_type,
            max_steps=context.max_steps,
            seed=spec.seed,
            briefing=benchmark.briefing(driver, spec.task, agent.demonstrations_wanted),
            facts=driver.facts(),
            model_seed=None if seed is None else seed + spec.trial,
        )

    return EpisodePlayer(spec, driver, agent, introduce, benchmark.slow_steps, worker)


async def preflight(spec: EpisodeSpec, benchmark: Benchmark) -> tuple[str, ...]:
    """Make this episode's agent and ask its model one small thing, so that problems show at once.

    The model is asked with tools if the agent calls them. Raises an error whose one line
    says what is wrong; returns what is worth knowing.
    """
    context = spec.context
    asks = context.model is not None and asks_a_model(context.agent.name)
    resources = Resources(context, benchmark)
    try:
        # What agents share is opened when they play: those that share something are made then.
        agent = None if shares_something(context.agent.name) else resources.agent()
        if not asks:
            return ()
        tools: tuple[ToolSpec, ...] = ()
        if agent is not None and agent.calls_tools:
            driver = benchmark.driver(spec.task)
            driver.reset()
            tools = benchmark.briefing(driver, spec.task, 0).tools
        return await resources.model().preflight(tools=tools)
    finally:
        await resources.close()


def run_to_end(work: Coroutine[Any, Any, T]) -> T:
    """A coroutine's result, from an event loop of its own, whatever agents do beside it.

    `asyncio.run` stops where any task calls `sys.exit`, and waits for tasks and threads that
    never end.
    """
    loop = asyncio.new_event_loop()
    try:
        asyncio.set_event_loop(loop)
        return _complete(loop, work)
    finally:
        _complete(loop, _end_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _complete(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    task = loop.create_task(work)
    while True:
        try:
            return loop.run_until_complete(task)
        except SystemExit:
            if task.done():
                raise


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_LEAVING_S)


def run_in_thread(work: Coroutine[Any, Any, T], stop: asyncio.Event | None = None) -> T:
    """A coroutine's result, also where an event loop is running already, as in a notebook.

    Ctrl-C sets `stop`, so that the work ends in an orderly way, and is raised afterwards.
    """
    loops: list[asyncio.AbstractEventLoop] = []

    async def main() -> T:
        loops.append(asyncio.get_running_loop())
        return await work

    with ThreadPoolExecutor(1, thread_name_prefix="agentquest") as thread:
        result = thread.submit(lambda: run_to_end(main()))
        try:
            return result.result()
        except KeyboardInterrupt:
            if stop is not None and loops:
                with contextlib.suppress(RuntimeError):  # the loop is closed: it is over already
                    loops[0].call_soon_threadsafe(stop.set)
            raise


@contextmanager
def rare_collections() -> Iterator[None]:
    """Keep Python's garbage collector out of a run's way.

    It would look at all living objects again and again, which is a tenth of the processor
    time of a step and holds every episode up while it lasts.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(*_GC_THRESHOLDS)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
