"""A call costs what its server says, else what its tokens cost, else nobody knows what."""

import pytest

from agentquest.llms.prices import Price, estimate_tokens, estimate_usage
from agentquest.llms.types import Reply
from agentquest.records.messages import Message, ToolCall, Usage

PRICE = Price(prompt=0.15, completion=0.6)
USAGE = Usage(prompt_tokens=1_000_000, completion_tokens=2_000_000, reasoning_tokens=500_000)


def test_a_million_tokens_cost_their_price() -> None:
    assert PRICE.of(USAGE) == pytest.approx(0.15 + 2 * 0.6)


@pytest.mark.parametrize(
    ("reply", "price", "cost"),
    [
        (Reply(usage=USAGE), PRICE, 1.35),
        (Reply(usage=USAGE, cost=0.5), PRICE, 0.5),
        (Reply(usage=USAGE, cost=0.5), None, 0.5),
        (Reply(cost=0.5), PRICE, 0.5),
        (Reply(usage=USAGE), None, None),
        (Reply(), PRICE, None),
        (Reply(usage=USAGE, cached=True), PRICE, 0.0),
        (Reply(usage=USAGE, cost=0.5, cached=True), None, 0.0),
        (Reply(usage=USAGE, cached=True), None, None),
    ],
)
def test_what_a_call_cost(reply: Reply, price: Price | None, cost: float | None) -> None:
    assert reply.cost_at(price) == (None if cost is None else pytest.approx(cost))


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 0), ("a", 1), ("Go to the shelf.", 4), ("你好", 2), ("né", 1)]
)
def test_tokens_can_be_estimated(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_an_estimate_has_everything_that_was_said_in_it() -> None:
    call = ToolCall(id="c", name="act", arguments='{"command": "look"}')
    prompt = [Message(role="system", content="x" * 400), Message(role="user", content="y" * 40)]
    reply = Message(role="assistant", content="z" * 8, reasoning="r" * 80, tool_calls=(call,))
    usage = estimate_usage(prompt, reply)
    assert usage.prompt_tokens == 4 + 100 + 4 + 10
    assert usage.completion_tokens == 4 + 2 + 20 + 6
    assert usage.reasoning_tokens == 20
