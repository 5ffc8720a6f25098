"""Keeping visitors: bounded in number and in time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.serving.store import RecentlyUsed
from agentquest.errors import ConfigError


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


def test_what_is_unused_for_too_long_is_gone():
    clock = Clock()
    store = RecentlyUsed(limit=10, ttl_s=5, clock=clock)
    store.put("a", 1)
    store.put("b", 2)
    clock.now = 4
    assert store.get("a") == 1
    clock.now = 6
    assert store.get("b") is None
    assert store.drop() == [2]
    assert store.get("a") == 1
    clock.now = 12
    assert store.drop_all() == [1]
    assert len(store) == 0


keys = st.integers(0, 8)


@given(st.lists(st.tuples(st.sampled_from(["put", "get", "pop"]), keys), max_size=60))
def test_past_the_limit_the_longest_unused_goes(calls):
    limit = 4
    store = RecentlyUsed(limit, ttl_s=1e9)
    model = []  # longest unused first
    for call, key in calls:
        known = key in model
        if call != "put":
            assert (getattr(store, call)(key) == key) == known
        else:
            store.put(key, key)
        if known:
            model.remove(key)
        if call == "put" or (known and call == "get"):
            model.append(key)
        over = max(0, len(model) - limit)
        assert store.drop() == model[:over]
        del model[:over]
    assert store.drop_all() == model


@pytest.mark.parametrize(("limit", "ttl"), [(0, 1), (-1, 1), (1, 0), (1, -1), (1, float("nan"))])
def test_limits_that_make_no_sense_are_refused(limit, ttl):
    with pytest.raises(ConfigError):
        RecentlyUsed(limit, ttl)
