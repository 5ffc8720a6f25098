"""Limits hold in every minute and are fair."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.llms.clock import Deadline
from agentquest.llms.config import ModelSettings
from agentquest.llms.limits import Bucket, Concurrency, Permit, RequestLimits
from agentquest.records.messages import Usage
from fake_clock import FakeClock

# Grants exactly a minute apart lie in different minutes; rounding must not join them.
MINUTE = 60.0 - 1e-6


async def grants(
    bucket: Bucket, clock: FakeClock, demands: list[tuple[float, float]]
) -> list[tuple[float, float]]:
    """When each demand, made `gap` seconds after the one before, was granted."""
    granted = []
    for gap, amount in demands:
        clock.time += gap
        await bucket.take(amount)
        granted.append((clock.time, amount))
    return granted


def busiest_minute(granted: list[tuple[float, float]]) -> float:
    return max(
        sum(amount for at, amount in granted if start <= at < start + MINUTE)
        for start, _ in granted
    )


@settings(max_examples=60, deadline=None)
@given(
    per_minute=st.integers(1, 120),
    gaps=st.lists(st.one_of(st.just(0.0), st.floats(0, 90)), min_size=1, max_size=150),
)
def test_no_minute_has_more_requests_than_allowed(per_minute: int, gaps: list[float]) -> None:
    clock = FakeClock()
    bucket = Bucket(per_minute, clock.clock)
    granted = asyncio.run(grants(bucket, clock, [(gap, 1.0) for gap in gaps]))
    assert busiest_minute(granted) <= per_minute


@settings(max_examples=60, deadline=None)
@given(
    per_minute=st.integers(100, 100_000),
    shares=st.lists(st.tuples(st.floats(0, 20), st.floats(0.001, 0.04)), min_size=1, max_size=150),
)
def test_no_minute_has_more_tokens_than_allowed(
    per_minute: int, shares: list[tuple[float, float]]
) -> None:
    clock = FakeClock()
    demands = [(gap, share * per_minute) for gap, share in shares]
    granted = asyncio.run(grants(Bucket(per_minute, clock.clock), clock, demands))
    assert busiest_minute(granted) <= per_minute + 1


@pytest.mark.parametrize("per_minute", [1, 7, 60, 600])
def test_under_pressure_the_limit_is_nearly_reached_and_never_passed(per_minute: int) -> None:
    clock = FakeClock()
    demands = [(0.0, 1.0)] * (5 * per_minute)
    granted = asyncio.run(grants(Bucket(per_minute, clock.clock), clock, demands))
    assert busiest_minute(granted) <= per_minute
    assert clock.time <= 5 * 60 * 1.06


def test_a_demand_beyond_the_burst_is_granted_and_paid_for_by_waiting() -> None:
    clock = FakeClock()
    bucket = Bucket(600, clock.clock)
    granted = asyncio.run(grants(bucket, clock, [(0.0, 300.0), (0.0, 1.0)]))
    assert granted[0][0] == 0.0
    assert granted[1][0] >= 270 / 10


def test_what_was_not_used_is_given_back_and_what_was_overused_is_waited_off() -> None:
    clock = FakeClock()
    bucket = Bucket(600, clock.clock)
    asyncio.run(grants(bucket, clock, [(0.0, 30.0)]))
    bucket.settle(-30.0)
    asyncio.run(grants(bucket, clock, [(0.0, 30.0)]))
    assert clock.time == 0.0
    bucket.settle(+30.0)
    asyncio.run(grants(bucket, clock, [(0.0, 30.0)]))
    assert clock.time > 5.0


def test_a_bucket_serves_in_order_of_arrival() -> None:
    async def scenario() -> list[int]:
        clock = FakeClock()
        bucket = Bucket(30, clock.clock)
        order: list[int] = []

        async def one(number: int) -> None:
            await bucket.take()
            order.append(number)

        await asyncio.gather(*(one(number) for number in range(50)))
        return order

    assert asyncio.run(scenario()) == list(range(50))


def test_concurrency_never_exceeds_what_is_allowed_and_is_fair() -> None:
    async def scenario() -> None:
        limit = Concurrency(7)
        order: list[int] = []

        async def one(number: int) -> None:
            await limit.acquire()
            order.append(number)
            assert limit.in_flight <= 7
            await asyncio.sleep(0)
            limit.release()

        await asyncio.gather(*(one(number) for number in range(100)))
        assert order == list(range(100))
        assert limit.in_flight == limit.waiting == 0

    asyncio.run(scenario())


@settings(max_examples=100, deadline=None)
@given(cancelled=st.sets(st.integers(0, 19)), late=st.booleans())
def test_cancelled_waiters_take_no_place_with_them(cancelled: set[int], late: bool) -> None:
    async def scenario() -> None:
        limit = Concurrency(2)
        await limit.acquire()
        await limit.acquire()
        tasks = [asyncio.ensure_future(limit.acquire()) for _ in range(20)]
        await asyncio.sleep(0)
        if late:
            # The places are given away before the cancellation is noticed.
            limit.release()
            limit.release()
        for number in cancelled:
            tasks[number].cancel()
        if not late:
            limit.release()
            limit.release()
        for number, task in enumerate(tasks):
            if number not in cancelled:
                await asyncio.wait_for(task, 5)
                limit.release()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert {number for number, task in enumerate(tasks) if task.cancelled()} == cancelled
        assert limit.in_flight == limit.waiting == 0

    asyncio.run(scenario())


def limits_of(clock: FakeClock, **limits: int | None) -> RequestLimits:
    settings_ = ModelSettings.model_validate({"model": "m", "max_concurrency": 8, **limits})
    return RequestLimits(settings_, clock.clock)


@asynccontextmanager
async def passing(
    door: RequestLimits, clock: FakeClock, deadline: Deadline | None = None
) -> AsyncIterator[Permit]:
    permit = await door.enter(400, deadline or Deadline(clock.clock, 10))
    try:
        yield permit
    finally:
        door.leave(permit)


def test_a_call_that_fails_gives_its_place_back() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        door = limits_of(clock, max_concurrency=1)
        for _ in range(3):
            with pytest.raises(KeyError):
                async with passing(door, clock):
                    raise KeyError
        assert door.concurrency.in_flight == 0

    asyncio.run(scenario())


def test_queueing_postpones_the_deadline() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        door = limits_of(clock, requests_per_minute=1)
        for _ in range(3):
            deadline = Deadline(clock.clock, 10)
            async with passing(door, clock, deadline):
                assert deadline.left == pytest.approx(10)
        assert clock.time == pytest.approx(120)

    asyncio.run(scenario())


def test_tokens_are_settled_with_what_the_server_counted() -> None:
    """Answers far shorter than guessed must not hold the run back once that is known."""

    async def minutes(prompt: int, completion: int) -> float:
        clock = FakeClock()
        door = limits_of(clock, tokens_per_minute=60_000)
        for _ in range(400):
            async with passing(door, clock) as permit:
                permit.succeeded = True
                permit.usage = Usage(prompt_tokens=prompt, completion_tokens=completion)
        return clock.time / 60

    assert asyncio.run(minutes(100, 50)) == pytest.approx(1.0, abs=0.2)
    assert asyncio.run(minutes(100, 500)) == pytest.approx(4.0, abs=0.4)
    assert asyncio.run(minutes(1000, 50)) == pytest.approx(7.0, abs=0.6)


def test_an_absurd_count_of_tokens_stops_no_run() -> None:
    async def minutes(prompt: int, completion: int) -> float:
        clock = FakeClock()
        door = limits_of(clock, tokens_per_minute=60_000, max_tokens=None)
        for usage in (Usage(prompt_tokens=prompt, completion_tokens=completion), *[None] * 9):
            async with passing(door, clock) as permit:
                permit.succeeded, permit.usage = True, usage
        return clock.time / 60

    assert asyncio.run(minutes(10**9, 1)) < 2
    assert asyncio.run(minutes(1, 10**9)) < 3
