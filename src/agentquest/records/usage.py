"""What others say that a model call took: tokens, money, seconds. Read here, whoever says it.

A server, a program or a foreign record can say anything, an integer of 400 digits included.
Whatever is not a number from 0 to `MOST` is unknown (None), with one line in the log: it
never ends an episode, and no sum of the rest can overflow.
"""

import json
import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from agentquest.records.base import Record

logger = logging.getLogger(__name__)

MOST = 1_000_000_000  # tokens, units of money or seconds of one call
_MOST_DIGITS = 1000


def read_json(text: str | bytes) -> Any:
    """JSON from outside; a `ValueError` or `RecursionError` if it is none.

    Python refuses to convert numbers of thousands of digits. Such a number is infinite here, so
    that it counts as unknown where it is read, and what stands around it is not lost with it.
    """
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(text, parse_int=_read_integer)


def _read_integer(digits: str) -> float:
    return int(digits) if len(digits) <= _MOST_DIGITS else math.inf


def read_number(value: object, what: str, most: float = MOST) -> float | None:
    """The number, or None if there is no sensible one; `what` names it in the log."""
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
        return value
    _warn_once(what)
    return None


def read_count(value: object, what: str) -> int | None:
    """As `read_number`, for things that are counted; some formats send counts as 12.0."""
    number = read_number(value, what)
    return None if number is None or number != int(number) else int(number)


def read_amount(text: str) -> float | None:
    """A number that somebody typed; None if it is none of that range."""
    try:
        return read_number(float(text), "it")
    except ValueError:
        return None


@lru_cache(maxsize=256)
def _warn_once(what: str) -> None:
    logger.warning("%s is not a number from 0 to %s, so it counts as unknown", what, f"{MOST:,}")


def _forget(value: object) -> None:
    if value is not None:
        _warn_once("a recorded usage, cost or latency")


# What a record stores of such numbers: one that is not sensible reads as unknown, and one that is
# takes no detour through Python.
_FirstThatFits = Field(union_mode="left_to_right")
_Unknown = Annotated[None, BeforeValidator(_forget)]
Count = Annotated[int, Field(ge=0, le=MOST, strict=True)]
Amount = Annotated[Annotated[float, Field(ge=0.0, le=MOST, strict=True)] | _Unknown, _FirstThatFits]
# What an environment or our own clock says: may be negative, and is never unknown.
Figure = Annotated[float, Field(ge=-1e12, le=1e12)]


class Usage(Record):
    """Tokens as the server counted them; reasoning is in the completion, cached in the prompt."""

    prompt_tokens: Count
    completion_tokens: Count
    reasoning_tokens: Count = 0
    cached_tokens: Count = 0
    cache_write_tokens: Count = 0


KnownUsage = Annotated[Usage | _Unknown, _FirstThatFits]
_Rate = Annotated[float, Field(ge=0.0, le=MOST)]


@dataclass(frozen=True)
class Price:
    """Price per million tokens, in whatever currency the user thinks in.

    `cached` is for prompt tokens read from the server's cache, `cache_write` for those
    written to it; without one they cost what others do. A prompt above `longest_prompt` has
    another price, which is not known. `source` and `date` say who stated it, and when.
    """

    prompt: _Rate
    completion: _Rate
    cached: _Rate | None = None
    cache_write: _Rate | None = None
    longest_prompt: int | None = None
    source: str = field(default="", compare=False)
    date: str = field(default="", compare=False)

    def of(self, usage: Usage) -> float | None:
        """What these tokens cost; reasoning is part of the completion."""
        if self.longest_prompt is not None and usage.prompt_tokens > self.longest_prompt:
            return None
        return self.of_tokens(
            usage.prompt_tokens,
            usage.completion_tokens,
            usage.cached_tokens,
            usage.cache_write_tokens,
        )

    def of_tokens(self, prompt: int, completion: int, cached: int, written: int) -> float:
        """What so many tokens cost, in prompts of any number that are short enough."""
        cached_price = self.prompt if self.cached is None else self.cached
        written_price = self.prompt if self.cache_write is None else self.cache_write
        total = max(0, prompt - cached - written) * self.prompt + completion * self.completion
        return (total + cached * cached_price + written * written_price) / 1e6


# The names of one count in the formats of OpenAI (both), Anthropic, Google, LangChain and ours.
_GOOGLE = ("candidatesTokenCount", "candidates_token_count")
_PROMPT = ("prompt_tokens", "input_tokens", "promptTokenCount", "prompt_token_count")
_COMPLETION = ("completion_tokens", "output_tokens", *_GOOGLE)
_REASONING = ("reasoning_tokens", "thinking_tokens", "reasoning")
_THOUGHTS = ("thoughtsTokenCount", "thoughts_token_count")
_CACHED = (
    *("cached_tokens", "cache_read", "cache_read_tokens"),
    *("cachedContentTokenCount", "cached_content_token_count"),
)
_WRITTEN = ("cache_write_tokens", "cache_creation")
_ANTHROPIC_CACHED, _ANTHROPIC_WRITTEN = "cache_read_input_tokens", "cache_creation_input_tokens"
_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details", "input_token_details")
_COMPLETION_DETAILS = (
    *("completion_tokens_details", "output_tokens_details", "output_token_details"),
)


def read_usage(block: object) -> Usage | None:
    """The token counts that a provider or a framework reports; None without proper ones.

    Formats differ in what a count includes: Anthropic counts cached tokens beside the prompt,
    Google thoughts beside the candidates, and xAI reasoning beside the completion, which only
    the total shows.
    """
    block = _as_mapping(block)
    if block is None:
        return None
    prompt, completion = _find(block, _PROMPT), _find(block, _COMPLETION)
    thoughts = _find(block, _THOUGHTS) or 0
    is_google = "promptTokenCount" in block or "prompt_token_count" in block
    if completion is None and is_google:  # nothing but thoughts was generated
        completion = 0
    if prompt is None or completion is None:
        return None
    reasoning = _find_detail(block, _COMPLETION_DETAILS, _REASONING) or thoughts
    cached = _find_detail(block, _PROMPT_DETAILS, _CACHED) or 0
    written = _find_detail(block, _PROMPT_DETAILS, _WRITTEN) or 0
    if "prompt_tokens" not in block and not is_google:
        beside = [_find(block, (name,)) or 0 for name in (_ANTHROPIC_CACHED, _ANTHROPIC_WRITTEN)]
        prompt += sum(beside)
        cached, written = cached or beside[0], written or beside[1]
    total = _find(block, ("total_tokens",))
    is_beside = reasoning > 0 and total == prompt + completion + reasoning
    try:
        return Usage(
            prompt_tokens=prompt,
            completion_tokens=completion + (reasoning if is_beside else thoughts),
            reasoning_tokens=reasoning,
            cached_tokens=cached,
            cache_write_tokens=written,
        )
    except ValidationError:  # a sum above the bound
        return None


_TICKS = 1e10  # of xAI, for one dollar


def read_cost(block: object) -> float | None:
    """What the server says the call cost (OpenRouter and xAI do), in its currency.

    With a key of the user's own, OpenRouter's `cost` is only its fee; the price of the model
    stands beside it.
    """
    if not isinstance(block, Mapping):
        return None
    cost = read_number(block.get("cost"), "cost")
    if cost is None:
        ticks = read_number(block.get("cost_in_usd_ticks"), "cost_in_usd_ticks", MOST * _TICKS)
        return None if ticks is None else ticks / _TICKS
    details = block.get("cost_details")
    name = "upstream_inference_cost"
    upstream = read_number(details.get(name), name) if isinstance(details, Mapping) else None
    if upstream is not None and block.get("is_byok", upstream > cost) is True:
        return read_number(cost + upstream, "cost")
    return float(cost)


def _as_mapping(value: object) -> Mapping[str, Any] | None:
    """A block of counts; frameworks have them as objects of their own."""
    if value is None or isinstance(value, Mapping):
        return value
    return getattr(value, "__dict__", None)


def _find(block: Mapping[str, Any], names: tuple[str, ...]) -> int | None:
    for name in names:
        if name in block:
            return read_count(block[name], name)
    return None


def _find_detail(
    block: Mapping[str, Any], holders: tuple[str, ...], names: tuple[str, ...]
) -> int | None:
    """A count in the block's details, or else beside the main counts."""
    for holder in holders:
        details = _as_mapping(block.get(holder))
        count = None if details is None else _find(details, names)
        if count is not None:
            return count
    return _find(block, names)
