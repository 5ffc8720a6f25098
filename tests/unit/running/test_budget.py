"""The cost limit holds, whatever the server tells of costs."""

import pytest
from run_events import a_spec, a_step

from agentquest.llms.prices import Price
from agentquest.records.episode import Call
from agentquest.records.messages import Message, Usage
from agentquest.running.monitor import Budget

PROMPT = (Message(role="user", content="What do you do? " * 50),)


class Ledger:
    """A budget, and what it said."""

    def __init__(self, limit: float | None, price: Price | None = None) -> None:
        self.notes: list[str] = []
        self.reasons: list[str] = []
        self.budget = Budget(limit, price, self.notes.append, self.reasons.append)

    def spend(self, *calls: Call) -> None:
        self.budget.stepped(a_spec(), a_step(reply="look", calls=list(calls)), PROMPT)


def _call(cost: float | None, **given: object) -> Call:
    return Call(model="m", kind="act", cost=cost, **given)  # type: ignore[arg-type]


def test_reported_costs_add_up_to_the_limit_and_not_beyond() -> None:
    ledger = Ledger(1.0)
    ledger.spend(_call(0.25), _call(0.25))
    ledger.spend(_call(0.25))
    assert ledger.reasons == []
    ledger.spend(_call(0.25))
    assert ledger.reasons == ["the cost limit of 1 is reached (1.0000)"]
    assert ledger.notes == []


def test_without_a_limit_a_run_is_never_stopped() -> None:
    ledger = Ledger(None)
    ledger.spend(_call(1e9))
    assert ledger.reasons == []
    assert ledger.budget.cost == 1e9


def test_what_earlier_parts_cost_counts() -> None:
    ledger = Ledger(1.0)
    ledger.budget.resume(0.9, 0)
    assert ledger.reasons == []
    ledger.spend(_call(0.2))
    assert len(ledger.reasons) == 1
    spent = Ledger(1.0)
    spent.budget.resume(1.0, 0)
    assert len(spent.reasons) == 1, "nothing more is played"


def test_calls_without_token_counts_are_estimated_and_that_is_said_once() -> None:
    ledger = Ledger(100.0, Price(1.0, 1.0))
    ledger.spend(_call(None))
    each = ledger.budget.cost
    assert each > 0
    ledger.spend(_call(None))
    assert ledger.budget.cost == pytest.approx(2 * each)
    (note,) = ledger.notes
    assert note.startswith("the server reports no token counts")


def test_earlier_calls_without_token_counts_cost_the_average() -> None:
    ledger = Ledger(100.0, Price(1.0, 1.0))
    ledger.budget.resume(0.0, 3)
    assert ledger.budget.cost == 0
    ledger.spend(_call(None))
    once = Ledger(100.0, Price(1.0, 1.0))
    once.spend(_call(None))
    assert ledger.budget.cost == pytest.approx(4 * once.budget.cost)


def test_an_estimate_says_that_it_is_one() -> None:
    ledger = Ledger(1e-9, Price(1.0, 1.0))
    ledger.spend(_call(None))
    assert "reached (about " in ledger.reasons[0]


def test_a_call_from_the_cache_costs_nothing() -> None:
    ledger = Ledger(1.0, Price(1.0, 1.0))
    ledger.spend(_call(None, cached=True, usage=Usage(prompt_tokens=9, completion_tokens=9)))
    assert (ledger.budget.cost, ledger.notes) == (0, [])
