"""Keeping visitors: bounded in number and in time, and nobody pushed out by others."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.serving.kept import FLOOD, LEFT_ALONE_S, Full, Kept, Stage
from agentquest.errors import ConfigError


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_what_is_unused_for_too_long_is_gone():
    clock, told = Clock(), []
    store = Kept(10, 5, lambda key, value: told.append((key, value)), clock)
    store.put("a", 1)
    store.put("b", 2)
    clock.now = 4
    assert store.get("a") == 1
    clock.now = 6
    assert store.get("b") is None
    assert store.peek("a") == 1
    assert store.sweep() == [2]
    assert told == [("b", 2)]
    assert store.get("a") == 1
    clock.now = 12
    assert store.drop_all() == [1]
    assert len(store) == 0


def test_looking_at_somebody_elses_is_no_use_of_it():
    clock = Clock()
    store = Kept(10, 5, clock=clock)
    store.put("a", 1)
    clock.now = 4
    store.peek("a")
    clock.now = 6
    assert store.peek("a") is None


async def test_what_is_past_its_time_goes_by_itself():
    store, saved = Kept(10, 0.05), []

    async def save(values):
        saved.extend(values)

    async with store.swept(save):
        store.put("a", 1)
        for _ in range(400):
            if saved:
                break
            await asyncio.sleep(0.01)
    assert (saved, len(store)) == ([1], 0)


keys = st.integers(0, 8)


@given(st.lists(st.tuples(st.sampled_from(["put", "get", "use", "end"]), keys), max_size=60))
def test_past_the_limit_what_is_over_goes_first_then_the_longest_unused(calls):
    limit, clock = 4, Clock()
    store = Kept(limit, ttl_s=1e9, clock=clock)
    model = {}  # longest unused first: whether it is over
    for call, key in calls:
        clock.now += 1
        if call == "get":
            assert (store.get(key) == key) == (key in model)
            if key in model:
                model[key] = model.pop(key)
        elif call != "put":
            store.mark(key, Stage.OVER if call == "end" else Stage.USED)
            if key in model:
                del model[key]
                model[key] = call == "end"
        else:
            model.pop(key, None)
            expected = []
            if len(model) == limit:
                expected = [next((k for k, over in model.items() if over), next(iter(model)))]
                del model[expected[0]]
            assert store.put(key, key) == expected
            model[key] = False
        assert len(store) == len(model) <= limit
    assert sorted(store.drop_all()) == sorted(model)


def test_many_starts_of_one_machine_push_out_its_own():
    store = Kept(20, 1e9)
    for number in range(5):
        store.put(f"guest {number}", number, "10.0.0.1")
    for number in range(500):
        store.put(f"flood {number}", number, "10.0.0.2")
    assert [store.peek(f"guest {number}") for number in range(5)] == list(range(5))
    assert len(store) == 20


def test_many_starts_over_one_connection_push_out_its_own():
    store = Kept(100, 1e9)
    store.put("guest", 0, "127.0.0.1", "7")
    for number in range(1000):
        store.put(f"flood {number}", number, "127.0.0.1", "8")
    assert store.peek("guest") == 0


def test_many_starts_over_many_connections_are_refused_in_the_end():
    clock = Clock()
    store = Kept(FLOOD + 50, 1e9, clock=clock)
    store.put("guest", 0, "127.0.0.1", "guest")
    refused = 0
    for number in range(10_000):
        try:
            store.put(f"flood {number}", number, "127.0.0.1", str(number))
        except Full:
            refused += 1
    assert refused == 10_000 - FLOOD - 49
    assert store.get("guest") == 0
    clock.now = LEFT_ALONE_S + 1
    store.put("late", 1, "127.0.0.1", "late")  # the flood has been left alone
    assert store.peek("guest") == 0


@pytest.mark.parametrize(("limit", "ttl"), [(0, 1), (-1, 1), (1, 0), (1, -1), (1, float("nan"))])
def test_limits_that_make_no_sense_are_refused(limit, ttl):
    with pytest.raises(ConfigError):
        Kept(limit, ttl)
