"""What can pass is tried again after the right waits; what cannot fails at once."""

import asyncio
import json
import random
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import ContextExceeded, ModelError
from agentquest.llms.clock import Deadline
from agentquest.llms.config import ModelSettings
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    ModelUnavailable,
    QuotaExhausted,
    Transient,
)
from agentquest.llms.redaction import Redactor
from agentquest.llms.retry import (
    LONGEST_WAIT_S,
    call_with_retries,
    failure_of_status,
    retry_after,
    retry_wait,
)
from fake_clock import FakeClock

KEY = "sk-a-key-that-nobody-may-see"


class TopOfRange(random.Random):
    """Draws the longest jitter, so that waits are known."""

    def uniform(self, a: float, b: float) -> float:
        return b


def failure(
    status: int, body: object = "", headers: dict[str, str] | None = None
) -> ModelFailure | Transient:
    raw = body if isinstance(body, str) else json.dumps(body)
    return failure_of_status(
        status,
        raw.encode(),
        headers or {},
        redact=Redactor(KEY),
        clock=FakeClock().clock,
    )


def said(message: str) -> dict[str, object]:
    """An error as OpenAI and others put it."""
    return {"error": {"message": message, "code": None}}


NOT_OF_IT = (401, 403, 404, 429, 500, 502, 503, 529)


class Calls:
    """Fails as told, then answers."""

    def __init__(self, clock: FakeClock, *failures: Transient | ModelFailure) -> None:
        self._failures = list(failures)
        self._clock = clock
        self.numbers: list[int] = []

    async def __call__(self, number: int, deadline: Deadline) -> str:
        self.numbers.append(number)
        if self._failures:
            raise self._failures.pop(0)
        return "answer"


def policy(retries: int, interval: float, deadline_s: float) -> ModelSettings:
    return ModelSettings(
        model="m", max_retries=retries, wait_interval=interval, deadline_s=deadline_s
    )


def run(calls: Calls, settings: ModelSettings, clock: FakeClock) -> str:
    return asyncio.run(call_with_retries(calls, settings, clock.clock, TopOfRange()))


@pytest.mark.parametrize(
    "status", [101, 204, 206, 300, 304, 307, 408, 409, 425, 429, 500, 502, 503, 504, 520, 529]
)
def test_these_can_pass(status: int) -> None:
    found = failure(status)
    assert isinstance(found, Transient)
    assert found.status == status


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, BadRequest),
        (401, AuthenticationFailed),
        (402, QuotaExhausted),
        (403, AuthenticationFailed),
        (404, BadRequest),
        (405, BadRequest),
        (413, BadRequest),
        (422, BadRequest),
        (501, BadRequest),
    ],
)
def test_these_cannot(status: int, kind: type[ModelFailure]) -> None:
    found = failure(status, {"error": {"message": "no"}})
    assert type(found) is kind
    assert isinstance(found, ModelError)
    assert found.status == status
    assert f"HTTP {status}: no" in str(found)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, {"error": {"message": "x", "code": "context_length_exceeded"}}),
        (400, {"message": "This model's maximum context length is 4096 tokens.", "code": 400}),
        (400, {"error": {"message": "x", "type": "exceed_context_size_error"}}),
        (400, {"error": {"message": "the request exceeds the available context size"}}),
        (400, {"error": {"message": "prompt is too long: 250000 tokens > 200000 maximum"}}),
        (400, said("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000")),
        (400, said("The input token count (2000000) exceeds the maximum number of tokens allowed")),
        (400, said("Your input exceeds the context window of this model.")),
        (400, said("The prompt (length 900) is longer than the maximum model length of 512.")),
        (400, said("The input (900 tokens) is longer than the model's context length (512).")),
        (400, said("This model's maximum prompt length is 131072 but the request has 140000.")),
        (400, said("litellm.ContextWindowExceededError: too much")),
        (400, said("input length exceeds the context length")),
        (400, [said("The input token count exceeds the maximum")]),
        (
            400,
            {
                "error": {
                    "message": "Provider returned error",
                    "metadata": {"raw": '{"error": {"code": "context_length_exceeded"}}'},
                }
            },
        ),
        (413, {"error": {"type": "request_too_large", "message": "Too large."}}),
        (
            422,
            {
                "error": "`inputs` tokens + `max_new_tokens` must be <= 4096",
                "error_type": "validation",
            },
        ),
    ],
)
def test_a_prompt_too_long_is_recognised_in_every_dialect(status: int, body: object) -> None:
    found = failure(status, body)
    assert isinstance(found, ContextTooLong)
    assert isinstance(found, ContextExceeded)


@pytest.mark.parametrize(
    ("status", "body"),
    [
        *((status, said("This model's maximum context length is 4096.")) for status in NOT_OF_IT),
        (413, "<html><title>413 Request Entity Too Large</title>prompt is too long</html>"),
        (400, "Your input exceeds the context window of this model."),
        (400, {"request": {"prompt": "maximum context length"}, "error": {"message": "no"}}),
        (422, said("maximum context length")),
    ],
)
def test_only_the_provider_s_own_refusal_says_that_a_prompt_is_too_long(
    status: int, body: object
) -> None:
    assert not isinstance(failure(status, body), ContextExceeded)


def test_a_redirect_to_somewhere_else_is_not_followed_but_named() -> None:
    found = failure(307, "", {"Location": "https://elsewhere/v1"})
    assert isinstance(found, BadRequest)
    assert "redirects to https://elsewhere/v1" in str(found)


def doubted(wait: str) -> Transient:
    found = failure(429, "", {"Retry-After": wait})
    assert isinstance(found, Transient)
    found.doubt(1800.0)
    return found


def test_a_wait_longer_than_a_call_may_take_is_not_believed() -> None:
    absurd, long = doubted("1e9"), doubted("1800")
    assert (absurd.retry_after, absurd.unreasonable) == (None, True)
    assert "asks for a wait of 1000000000 s" in str(absurd)
    assert (long.retry_after, long.unreasonable) == (1800.0, False)


def test_one_absurd_wait_costs_one_retry() -> None:
    clock = FakeClock()
    assert run(Calls(clock, doubted("1e9")), policy(1, 1.0, 100.0), clock) == "answer"
    assert clock.now() < 2.0


def test_a_server_that_sends_only_absurd_waits_ends_the_call_and_says_why() -> None:
    clock = FakeClock()
    calls = Calls(clock, *[doubted("1e9") for _ in range(9)])
    with pytest.raises(ModelUnavailable, match=r"asks for a wait of 1000000000 s.*no retries left"):
        run(calls, policy(3, 1.0, 100.0), clock)
    assert calls.numbers == [1, 2, 3, 4]


def test_a_rate_limit_that_speaks_of_the_context_is_still_a_rate_limit() -> None:
    assert isinstance(failure(429, "Busy. The maximum context length is 4096."), Transient)


@pytest.mark.parametrize("status", [413, 429])
def test_a_request_above_the_account_s_limit_is_neither_waited_for_nor_a_score(status: int) -> None:
    said = "Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 7000"
    assert isinstance(failure(status, {"error": {"message": said}}), QuotaExhausted)


def test_an_account_without_credit_is_not_a_rate_limit() -> None:
    assert isinstance(failure(429, {"error": {"code": "insufficient_quota"}}), QuotaExhausted)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ({"error": {"message": "said"}}, "HTTP 400: said"),
        ({"error": "said"}, "HTTP 400: said"),
        ({"message": "said"}, "HTTP 400: said"),
        ({"detail": "said"}, "HTTP 400: said"),
        ("said\n  plainly", "HTTP 400: said plainly"),
        ("", "HTTP 400"),
    ],
)
def test_the_message_is_found_in_every_shape_of_error(body: object, shown: str) -> None:
    assert str(failure(400, body)) == shown


@given(before=st.integers(0, 400), after=st.integers(0, 400))
def test_a_key_echoed_anywhere_is_masked_whole(before: int, after: int) -> None:
    shown = str(failure(400, "x" * before + KEY + "y" * after))
    assert not any(KEY[i : i + 6] in shown for i in range(len(KEY) - 5))
    assert len(shown) < 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.25"}, 0.25),
        ({"Retry-After": "0"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"retry-after-ms": "soon", "Retry-After": "9"}, 9.0),
        ({"Retry-After": formatdate(1_700_000_030, usegmt=True)}, 30.0),
        ({"Retry-After": "Tue, 14 Nov 2023 22:13:50 -0000"}, 30.0),
        ({"Retry-After": formatdate(1_600_000_000, usegmt=True)}, 0.0),
        ({"Retry-After": "-3"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "tomorrow"}, None),
    ],
)
def test_when_to_come_back(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, wall=1_700_000_000.0) == seconds


def test_waits_double_from_the_interval_up_to_a_minute() -> None:
    clock = FakeClock()
    calls = Calls(clock, *(Transient("again") for _ in range(9)))
    assert run(calls, policy(9, 0.5, 1e6), clock) == "answer"
    assert clock.sleeps == [0.5, 1, 2, 4, 8, 16, 32, 60, 60]
    assert calls.numbers == list(range(1, 11))


@given(
    retry=st.integers(1, 10_000),
    interval=st.floats(0, 100),
    seed=st.integers(0, 100),
)
def test_jitter_is_full_and_bounded(retry: int, interval: float, seed: int) -> None:
    wait = retry_wait(interval, retry, random.Random(seed))
    assert 0 <= wait <= min(LONGEST_WAIT_S, interval * 2 ** min(retry - 1, 64))


def test_jitter_spreads_over_the_whole_interval() -> None:
    rng = random.Random(1)
    waits = [retry_wait(8.0, 1, rng) for _ in range(500)]
    assert min(waits) < 0.5
    assert max(waits) > 7.5


@given(asked=st.floats(0, 1000), seed=st.integers(0, 100))
def test_the_server_is_never_asked_before_the_time_it_named(asked: float, seed: int) -> None:
    wait = retry_wait(2.0, 1, random.Random(seed), asked)
    assert asked <= wait <= asked + 2.0


def test_the_time_named_is_waited() -> None:
    clock = FakeClock()
    calls = Calls(clock, Transient("busy", status=429, retry_after=7.0))
    run(calls, policy(3, 0.0, 100), clock)
    assert clock.sleeps == [7.0]


@pytest.mark.parametrize("retries", [0, 1, 5])
def test_retries_are_counted(retries: int) -> None:
    clock = FakeClock()
    calls = Calls(clock, *(Transient("HTTP 503", status=503) for _ in range(20)))
    with pytest.raises(ModelUnavailable, match="HTTP 503") as caught:
        run(calls, policy(retries, 1.0, 1e6), clock)
    assert len(calls.numbers) == retries + 1
    assert len(clock.sleeps) == retries
    assert caught.value.status == 503


def test_what_cannot_pass_is_not_tried_again() -> None:
    clock = FakeClock()
    calls = Calls(clock, Transient("again"), BadRequest("no"))
    with pytest.raises(BadRequest):
        run(calls, policy(9, 1.0, 1e6), clock)
    assert calls.numbers == [1, 2]


def test_no_wait_goes_past_the_deadline() -> None:
    clock = FakeClock()
    calls = Calls(clock, *(Transient("again") for _ in range(20)))
    with pytest.raises(ModelUnavailable, match="deadline"):
        run(calls, policy(20, 1.0, 10.0), clock)
    assert clock.sleeps == [1, 2, 4]


def test_a_server_that_asks_for_longer_than_the_deadline_is_given_up_at_once() -> None:
    clock = FakeClock()
    calls = Calls(clock, Transient("busy", status=429, retry_after=3600.0))
    with pytest.raises(ModelUnavailable, match="deadline"):
        run(calls, policy(20, 1.0, 600.0), clock)
    assert clock.sleeps == []


def test_time_in_our_own_queue_does_not_count() -> None:
    clock = FakeClock()
    deadline = Deadline(clock.clock, 10.0)
    clock.time = 60.0
    deadline.postpone(60.0)
    assert deadline.left == 10.0
