"""Which failures can pass, how long to wait for that, and when to stop.

Waits grow exponentially from `wait_interval` with full jitter, so that many
calls that failed together do not come back together. A server that says when
to come back is believed.
"""

import json
import logging
import math
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import TypeVar

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    ModelUnavailable,
    QuotaExhausted,
    Redactor,
    Transient,
)

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
# Bytes of an error that are looked at; far more than is shown, so a key is not cut before masking.
READABLE = 65536

# 409 is a lock that another request holds, 425 a server not ready to take the request.
_CAN_PASS = frozenset({408, 409, 425, 429})
_NEVER_PASS = frozenset({501, 505})
_NO_CREDIT = ("insufficient_quota", "billing_hard_limit", "insufficient credits")
# OpenAI and vLLM; llama.cpp; Anthropic and Google behind OpenRouter.
_TOO_LONG = (
    "context_length_exceeded",
    "maximum context length",
    "exceed_context_size",
    "exceeds the available context size",
    "prompt is too long",
    "input token count exceeds",
)


@dataclass(frozen=True)
class RetryPolicy:
    """How often and how long a call is tried."""

    max_retries: int
    wait_interval: float
    deadline_s: float

    def wait(self, retry: int, rng: random.Random, retry_after: float | None = None) -> float:
        """Seconds before the retry number `retry`, counted from 1."""
        if retry_after is not None:
            return retry_after + rng.uniform(0.0, self.wait_interval)
        # The exponent is bounded only so that a float can hold the result.
        longest = min(LONGEST_WAIT_S, self.wait_interval * 2.0 ** min(retry - 1, 64))
        return rng.uniform(0.0, longest)


async def retrying(
    attempt: Callable[[int, Deadline], Awaitable[T]],
    policy: RetryPolicy,
    clock: Clock,
    rng: random.Random,
) -> T:
    """Call `attempt` until it succeeds, fails for good, or may not be tried again."""
    deadline = Deadline(clock, policy.deadline_s)
    number = 1
    while True:
        try:
            return await attempt(number, deadline)
        except Transient as transient:
            failure = transient
        if number > policy.max_retries:
            stopped = "no retries left"
            break
        wait = policy.wait(number, rng, failure.retry_after)
        if wait >= deadline.left:
            stopped = f"the next try in {wait:.1f} s would be after the deadline"
            break
        logger.info("try %d failed: %s; again in %.2f s", number, failure, wait)
        await clock.sleep(wait)
        number += 1
    # Raised out here so that no low-level error, with its request, hangs on it as context.
    raise ModelUnavailable(
        f"{failure} (tried {number} times; {stopped})", status=failure.status, attempts=number
    )


def failure_of_status(
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    *,
    redact: Redactor,
    clock: Clock,
    attempts: int,
) -> ModelFailure | Transient:
    """What an answer other than 200 means."""
    said = body[:READABLE].decode("utf-8", "replace")
    kind, message = _error_class(status, said.lower()), redact.error(_message(said))
    text = f"HTTP {status}" + (f": {message}" if message else "")
    if kind is None:
        return Transient(text, status=status, retry_after=retry_after(headers, clock.wall()))
    if kind is BadRequest and status in (404, 405):
        text += " (is base_url right, and does the server know this model?)"
    if 300 <= status < 400:
        text += f" (redirects to {redact.error(headers.get('Location', ''))}; set that as base_url)"
    return kind(text, status=status, attempts=attempts)


def _error_class(status: int, said: str) -> type[ModelFailure] | None:
    """The failure that `status` is for good, or None when it can pass."""
    if status == 413 or (status not in (401, 403, 429) and any(s in said for s in _TOO_LONG)):
        return ContextTooLong
    if status == 402 or (status == 429 and any(s in said for s in _NO_CREDIT)):
        return QuotaExhausted
    if status in (401, 403):
        return AuthenticationFailed
    if status in _CAN_PASS or (status >= 500 and status not in _NEVER_PASS):
        return None
    return BadRequest


def _message(said: str) -> str:
    """The human part of an error body, in the shapes servers use; else the body."""
    try:
        data = json.loads(said)
    except (ValueError, RecursionError):
        return said
    for _ in range(2):
        if not isinstance(data, dict):
            break
        inner = next((data[k] for k in ("error", "message", "detail") if data.get(k)), None)
        if inner is None:
            break
        data = inner
    return data if isinstance(data, str) else said


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds the server asks us to wait, or None where it does not say so properly."""
    milliseconds = _seconds(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    value = headers.get("Retry-After")
    if value is None:
        return None
    seconds = _seconds(value)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(value)
        if date.tzinfo is None:
            date = date.replace(tzinfo=timezone.utc)
        return max(0.0, date.timestamp() - wall)
    except (ValueError, TypeError, OverflowError):
        return None


def _seconds(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
