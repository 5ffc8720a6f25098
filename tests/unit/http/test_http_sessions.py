"""The session store: limited in number and idle time, and no client pushes out others."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import ConfigError
from agentquest.http.sessions import FLOOD, SessionStore, Stage, StoreFull


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_a_session_expires_when_it_is_unused_for_too_long(clock):
    store = SessionStore(10, 5, clock=clock)
    store.add("a", 1)
    store.add("b", 2)
    clock.now = 4
    assert store.get("a") == 1
    clock.now = 6
    assert store.get("b") is None
    assert "b" not in store
    assert list(store) == ["a"]
    store.mark("b", Stage.BUSY)
    assert store.expire() == [2]
    assert store.get("a") == 1
    clock.now = 12
    assert store.clear() == [1]
    assert len(store) == 0


def test_a_look_at_a_session_is_no_use_of_it(clock):
    store = SessionStore(10, 5, clock=clock)
    store.add("a", 1)
    clock.now = 4
    assert store.peek("a") == 1
    clock.now = 6
    assert store.peek("a") is None


def test_a_session_is_removed_once():
    store = SessionStore(10, 5)
    store.add("a", 1)
    assert (store.remove("a"), store.remove("a"), list(store)) == (1, None, [])


async def test_sessions_expire_by_themselves():
    store, closed = SessionStore(10, 0.05), []

    async def close(values):
        closed.extend(values)

    async with store.expire_regularly(close):
        store.add("a", 1)
        for _ in range(400):
            if closed:
                break
            await asyncio.sleep(0.01)
    assert (closed, len(store)) == ([1], 0)


def test_a_busy_session_neither_expires_nor_makes_room(clock):
    store = SessionStore(2, 5, clock=clock)
    store.add("a", 1)
    store.mark("a", Stage.BUSY)
    store.add("b", 2)
    assert store.add("c", 3) == [2]
    clock.now = 6
    assert store.expire() == [3]
    assert store.peek("a") == 1
    store.add("d", 4)
    store.mark("d", Stage.BUSY)
    with pytest.raises(StoreFull):
        store.add("e", 5)
    store.mark("a", Stage.IN_USE)
    assert store.add("e", 5) == [1]


def test_busy_sessions_of_one_address_do_not_shield_others(clock):
    store = SessionStore(3, 5, clock=clock)
    for key in "ab":
        store.add(key, key, "10.0.0.1")
        store.mark(key, Stage.BUSY)
    store.add("c", "c", "10.0.0.2")
    assert store.add("d", "d", "10.0.0.1") == ["c"]


def test_a_store_that_evicts_nobody_drops_idle_sessions_only(clock):
    store = SessionStore(2, 5, evicts=False, clock=clock)
    store.add(1, "a")
    clock.now = 4
    store.add(2, "b")
    with pytest.raises(StoreFull, match="limit of 2"):
        store.make_room()
    clock.now = 6
    assert store.make_room() == ["a"]
    assert store.add(3, "c") == []


keys = st.integers(0, 8)


@given(st.lists(st.tuples(st.sampled_from(["add", "get", "use", "end"]), keys), max_size=60))
def test_past_the_limit_finished_sessions_go_first_then_the_longest_unused(calls):
    limit, clock = 4, Clock()
    store = SessionStore(limit, 1e9, clock=clock)
    model = {}  # longest unused first: whether it is finished
    for call, key in calls:
        clock.now += 1
        if call == "get":
            assert (store.get(key) == key) == (key in model)
            if key in model:
                model[key] = model.pop(key)
        elif call != "add":
            store.mark(key, Stage.FINISHED if call == "end" else Stage.IN_USE)
            if key in model:
                del model[key]
                model[key] = call == "end"
        else:
            model.pop(key, None)
            expected = []
            if len(model) == limit:
                expected = [next((k for k, over in model.items() if over), next(iter(model)))]
                del model[expected[0]]
            assert store.add(key, key) == expected
            model[key] = False
        assert len(store) == len(model) <= limit
    assert sorted(store.clear()) == sorted(model)


def test_many_starts_of_one_machine_push_out_its_own():
    store = SessionStore(20, 1e9)
    for number in range(5):
        store.add(f"guest {number}", number, "10.0.0.1")
    for number in range(500):
        store.add(f"flood {number}", number, "10.0.0.2")
    assert [store.peek(f"guest {number}") for number in range(5)] == list(range(5))
    assert len(store) == 20


def test_many_starts_over_one_connection_push_out_its_own():
    store = SessionStore(100, 1e9)
    store.add("guest", 0, "127.0.0.1", "7")
    for number in range(1000):
        store.add(f"flood {number}", number, "127.0.0.1", "8")
    assert store.peek("guest") == 0


def test_many_starts_over_many_connections_take_no_place_from_players_or_newcomers(clock):
    store = SessionStore(FLOOD + 50, 1e9, clock=clock)
    store.add("guest", 0, "127.0.0.1", "guest")
    store.mark("guest", Stage.IN_USE)
    for number in range(10_000):
        clock.now += 1
        store.add(f"flood {number}", number, "127.0.0.1", str(number))
    assert store.peek("guest") == 0
    store.add("late", 1, "127.0.0.1", "late")
    for number in range(FLOOD - 1):
        store.add(f"more {number}", number, "127.0.0.1", f"more {number}")
    assert store.peek("late") == 1, "the oldest of the flood go first"


@pytest.mark.parametrize("connections", [1, 4, 40])
def test_a_full_store_drops_the_longest_idle_and_none_just_started(clock, connections):
    """Unfinished games on kept connections; then all clients start again at once."""
    limit = 40
    store = SessionStore(limit, 1e9, clock=clock)

    def start(name, number):
        clock.now += 1
        return store.add(f"{name} {number}", number, "127.0.0.1", str(number % connections))

    for number in range(limit):
        start("old", number)
        store.mark(f"old {number}", Stage.IN_USE)
    dropped = [start("new", number) for number in range(limit)]
    assert all(store.peek(f"new {number}") == number for number in range(limit))
    assert sorted(old for each in dropped for old in each) == list(range(limit))


@pytest.mark.parametrize(("limit", "idle"), [(0, 1), (-1, 1), (1, 0), (1, -1), (1, float("nan"))])
def test_limits_that_make_no_sense_are_refused(limit, idle):
    with pytest.raises(ConfigError):
        SessionStore(limit, idle)
