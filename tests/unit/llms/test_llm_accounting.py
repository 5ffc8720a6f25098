"""Tokens and money add up, in any order, and a limit stops before the next call."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import ConfigError, ModelError
from agentquest.llms.accounting import CostLimit, Ledger, Price
from agentquest.llms.failures import CostLimitReached
from agentquest.llms.messages import Reply, Usage

PRICE = Price(prompt=0.15, completion=0.6)

counts = st.integers(0, 100_000)
replies = st.builds(
    Reply,
    text=st.just("x"),
    usage=st.one_of(st.none(), st.builds(Usage, counts, counts, counts)),
    attempts=st.integers(1, 9),
    cached=st.booleans(),
)


def test_a_million_tokens_cost_their_price() -> None:
    reply = Reply("x", usage=Usage(1_000_000, 2_000_000, 500_000))
    assert PRICE.of_reply(reply) == pytest.approx(0.15 + 2 * 0.6)


@given(st.lists(st.lists(replies, max_size=8), max_size=6), st.randoms())
def test_a_run_is_the_sum_of_its_episodes_in_any_order(
    episodes: list[list[Reply]], rng: random.Random
) -> None:
    run = Ledger(PRICE)
    ledgers = [run.for_episode() for _ in episodes]
    calls = [
        (ledger, reply) for ledger, told in zip(ledgers, episodes, strict=True) for reply in told
    ]
    rng.shuffle(calls)
    for ledger, reply in calls:
        ledger.add(reply)
    for field in ("calls", "attempts", "cached_calls", "prompt_tokens", "completion_tokens"):
        total = sum(getattr(ledger.totals, field) for ledger in ledgers)
        assert getattr(run.totals, field) == total
    paid = [reply.usage for _, reply in calls if reply.usage and not reply.cached]
    exact = PRICE.of(sum(u.prompt_tokens for u in paid), sum(u.completion_tokens for u in paid))
    assert run.cost == exact
    assert exact == pytest.approx(sum(PRICE.of_reply(reply) for _, reply in calls))


def test_cached_replies_have_tokens_but_no_cost() -> None:
    ledger = Ledger(PRICE)
    ledger.add(Reply("x", usage=Usage(1000, 1000), cached=True))
    assert ledger.totals.prompt_tokens == 1000
    assert ledger.totals.cached_calls == 1
    assert ledger.totals.attempts == 0
    assert ledger.cost == 0.0


def test_without_a_price_the_cost_is_unknown_rather_than_zero() -> None:
    ledger = Ledger()
    ledger.add(Reply("x", usage=Usage(1000, 1000)))
    assert ledger.totals.export()["cost"] is None


def test_the_limit_stops_before_the_next_call() -> None:
    run = Ledger(Price(prompt=1.0, completion=1.0))
    limit = CostLimit(3.0, run)
    limit.check()
    run.for_episode().add(Reply("x", usage=Usage(1_000_000, 1_000_000)))
    limit.check()
    run.for_episode().add(Reply("x", usage=Usage(1_000_000, 0)))
    assert limit.reached
    with pytest.raises(CostLimitReached, match=r"3\.0000 of 3\.0000") as caught:
        limit.check()
    assert isinstance(caught.value, ModelError)


def test_a_resumed_run_goes_on_from_what_was_spent() -> None:
    assert CostLimit(3.0, Ledger(PRICE), already_spent=3.0).reached


@pytest.mark.parametrize("limit", [0.0, -1.0, float("nan"), float("inf")])
def test_an_amount_that_is_none_is_refused(limit: float) -> None:
    with pytest.raises(ConfigError, match="cost limit"):
        CostLimit(limit, Ledger(PRICE))


def test_a_limit_that_cannot_be_kept_is_refused() -> None:
    with pytest.raises(ConfigError, match="price"):
        CostLimit(1.0, Ledger())
    run = Ledger(PRICE)
    run.add(Reply("x", usage=None))
    with pytest.raises(ConfigError, match="does not count tokens"):
        CostLimit(1.0, run).check()
