"""Which failures may pass, how long to wait before the next attempt, and when to give up.

Waits grow exponentially from `wait_interval` with full jitter, so that calls that failed
together do not return together. A server that says when to return is believed.
"""

import json
import logging
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from agentquest.llms.clock import Clock, Deadline
from agentquest.llms.config import ModelSettings
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ContextTooLong,
    ModelFailure,
    ModelUnavailable,
    QuotaExhausted,
    ServerAway,
    Transient,
)
from agentquest.llms.redaction import Redactor
from agentquest.words import counted

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
# Bytes of an error to read: far more than is shown, so that no key is cut before masking.
READABLE = 65536

# 409 is a lock that another request holds, 425 a server not ready to take the request.
_CAN_PASS = frozenset({408, 409, 425, 429})
_NEVER_PASS = frozenset({501, 505})
# An account without credit, or with no requests left for the day: waiting does not help.
_NO_CREDIT = re.compile(
    r"insufficient_quota|billing_hard_limit|insufficient credits|credit balance is too low"
    r"|\"quotaid\": *\"[a-z-]*perday"
)
_WRONG_KEY = re.compile(r"api_key_invalid|api key not valid|invalid x-api-key")
# The time to wait, for servers that do not send it in a header: Google, OpenAI.
_DELAY = re.compile(
    r"\"retrydelay\": *\"(?P<delay>[\d.]+)s\""
    r"|try again in (?:(?P<minutes>\d+)m)?(?P<number>[\d.]+)(?P<unit>ms|s)"
)
# A request larger than what the account may send in a minute: no waiting makes it smaller.
_ABOVE_LIMIT = re.compile(r"request too large for .{0,200}(per min|rate limit)", re.DOTALL)
# How servers say that a prompt does not fit: codes first, then the words of those without one.
_TOO_LONG = re.compile(
    r"context_length_exceeded|exceed_context_size|contextwindowexceeded|request_too_large"
    # OpenAI, OpenRouter, vLLM, SGLang, Mistral; Responses; vLLM's prompts; xAI.
    r"|maximum context length|exceeds the context window|maximum model length"
    r"|maximum prompt length|longer than the model's context length"
    # llama.cpp; Ollama; Anthropic; Google; Bedrock; TGI.
    r"|exceeds the available context size|exceeds the context length|exceeded max context length"
    r"|prompt is too long|exceed context limit|input token count .{0,40}exceeds"
    r"|input is too long for requested model|tokens \+ `max_new_tokens` must be"
)


def retry_wait(
    interval: float, retry: int, rng: random.Random, retry_after: float | None = None
) -> float:
    """Seconds before the retry number `retry`, counted from 1."""
    if retry_after is not None:
        return retry_after + rng.uniform(0.0, interval)
    # The exponent is bounded only so that a float can hold the result.
    return rng.uniform(0.0, min(LONGEST_WAIT_S, interval * 2.0 ** min(retry - 1, 64)))


async def call_with_retries(
    attempt: Callable[[int, Deadline], Awaitable[T]],
    settings: ModelSettings,
    clock: Clock,
    rng: random.Random,
) -> T:
    """Call `attempt` until it succeeds, fails for good, or may not be tried again.

    A server that tells us to wait, or that is away, is waited for until the deadline; only
    other failures use up retries. A wait that leaves no time for another request is not believed.
    """
    deadline = Deadline(clock, settings.deadline_s)
    number = 1
    failures = 0
    while True:
        try:
            return await attempt(number, deadline)
        except Transient as transient:
            failure = transient
        failures += failure.unreasonable or not (failure.told_to_wait or failure.away)
        if failures > settings.max_retries:
            stopped = "no retries left"
            break
        wait = retry_wait(settings.wait_interval, number, rng, failure.retry_after)
        if wait >= deadline.left:
            stopped = f"the next attempt, in {wait:.1f} s, would be past the deadline"
            break
        logger.info("attempt %d failed: %s; retrying in %.2f s", number, failure, wait)
        await clock.sleep(wait)
        number += 1
    # Raised outside the handler, so that no low-level error with its request becomes its context.
    kind = ServerAway if failure.away else ModelUnavailable
    raise kind(
        f"{failure} (tried {counted(number, 'time')}; {stopped})",
        status=failure.status,
    )


def failure_of_status(
    status: int,
    body: bytes,
    headers: Mapping[str, str],
    *,
    redact: Redactor,
    clock: Clock,
) -> ModelFailure | Transient:
    """The failure that a status other than 200 means."""
    said = body[:READABLE].decode("utf-8", "replace")
    kind, message = _error_class(status, said.lower()), redact.error(_message(said))
    text = f"HTTP {status}" + (f": {message}" if message else "")
    target = redact.error(headers.get("Location", "")) if 300 <= status < 400 else ""
    if target:
        text += f" (redirects to {target}; set that as base_url)"
        return BadRequest(text, status=status)
    if kind is None:
        wait = retry_after(headers, clock.wall())
        if wait is None and status == 429:
            wait = _read_delay(said.lower())
        return Transient(text, status=status, retry_after=wait)
    if kind is BadRequest and status in (404, 405):
        text += " (is base_url correct, and does the server have this model?)"
    return kind(text, status=status)


def _error_class(status: int, said: str) -> type[ModelFailure] | None:
    """The permanent failure that a status means, or None if it may pass."""
    if status in (413, 429) and _ABOVE_LIMIT.search(said):
        return QuotaExhausted
    # A prompt that does not fit is a score, so only the provider's own refusal counts as one; a
    # server that fails never does. Validation errors are 422 at TGI alone.
    is_refusal = status in (400, 413) or (status == 422 and '"error_type"' in said)
    if is_refusal and _TOO_LONG.search(_own_words(said)):
        return ContextTooLong
    if status == 402 or (status in (400, 403, 429) and _NO_CREDIT.search(said)):
        return QuotaExhausted
    if status in (401, 403) or (status == 400 and _WRONG_KEY.search(said)):
        return AuthenticationFailed
    if status in _CAN_PASS or status < 400 or (status >= 500 and status not in _NEVER_PASS):
        return None
    return BadRequest


def _own_words(said: str) -> str:
    """What an error in a provider's own format says of itself; nothing for any other body.

    The format is an object `error` (OpenAI, Anthropic, Google), a text of that name with its
    type (TGI), or the same fields without it (vLLM). OpenRouter quotes the provider's answer.
    """
    data = _parse(said)
    data = data[0] if isinstance(data, list) and data else data
    if not isinstance(data, dict):
        return ""
    error = data.get("error")
    shape = error if isinstance(error, dict) else {**data, "message": error or data.get("message")}
    metadata = shape.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else ""
    fields = [shape.get(name) for name in ("code", "type", "message", "detail")]
    return "\n".join(field for field in [*fields, raw] if isinstance(field, str))


def _message(said: str) -> str:
    """The human part of an error body, in the shapes servers use; else the body."""
    data = _parse(said)
    for _ in range(2):
        if isinstance(data, dict):
            data = next((data[k] for k in ("error", "message", "detail") if data.get(k)), None)
    return data if isinstance(data, str) else said


def _parse(said: str) -> Any:
    try:
        return json.loads(said)
    except (ValueError, RecursionError):
        return None


def retry_after(headers: Mapping[str, str], wall: float) -> float | None:
    """Seconds that the server asks us to wait, or None if it names no proper time."""
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


def _read_delay(said: str) -> float | None:
    """Seconds to wait according to the body of a refusal."""
    found = _DELAY.search(said)
    if found is None:
        return None
    if found["delay"] is not None:
        return _seconds(found["delay"])
    number = _seconds(found["number"])
    if number is None:
        return None
    return float(found["minutes"] or 0) * 60.0 + number / (1000.0 if found["unit"] == "ms" else 1.0)


def _seconds(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
