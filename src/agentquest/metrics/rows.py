"""An episode as one small row: all that figures need of it.

Records hold every word of an episode; a run of 100,000 does not fit into memory.
Rows do, and are kept beside the records, in a file that may be anybody's: types and bounds of
all fields are checked when they are read from there.
"""

import math
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field

from agentquest.metrics.table import Metric, NotMeasured
from agentquest.records.base import STOP_AT_FIRST
from agentquest.records.episode import Call, EpisodeRecord, Step
from agentquest.records.how import How
from agentquest.records.messages import ReplyKind
from agentquest.records.outcome import End
from agentquest.records.usage import Price

_TOO_LARGE = 1e15  # for a value of a metric: sums and their squares must not overflow
Whole = Annotated[int, Field(ge=0, le=_TOO_LARGE)]
Number = Annotated[float, Field(gt=-_TOO_LARGE, lt=_TOO_LARGE)]
_NO_ANSWER = frozenset(kind.value for kind in ReplyKind if kind is not ReplyKind.COMPLETE)


@dataclass(frozen=True)
class Setting:
    """What produced an episode; the same object for all rows that share it."""

    benchmark: str
    split: str
    agent: str
    model: str | None
    config_hash: str
    max_steps: Whole
    facts: tuple[tuple[str, str], ...]


@lru_cache(maxsize=1024)
def shared_setting(setting: Setting) -> Setting:
    """The same object for equal settings."""
    return setting


@dataclass(frozen=True, slots=True)
class Spent:
    """Tokens and money. `uncounted_calls` had no token counts from the server, `unpriced_calls`
    no price: the sums are lower bounds when they are not zero, and `cost` is None where no call
    has one. Of the calls without a price, `unknown_calls` had no counts either; the tokens of
    the others are kept, for a price that comes later."""

    calls: Whole = 0
    prompt_tokens: Whole = 0
    completion_tokens: Whole = 0
    reasoning_tokens: Whole = 0
    cached_tokens: Whole = 0
    cost: Number | None = 0.0
    uncounted_calls: Whole = 0
    unpriced_calls: Whole = 0
    retries: Whole = 0
    unknown_calls: Whole = 0
    unpriced_prompt: Whole = 0
    unpriced_completion: Whole = 0
    unpriced_cached: Whole = 0
    unpriced_cache_write: Whole = 0
    longest_unpriced: Whole = 0  # prompt

    @property
    def tokens(self) -> int | None:
        """Prompt and completion; None where not every call was counted."""
        if not self.calls or self.uncounted_calls:
            return None
        return self.prompt_tokens + self.completion_tokens

    @property
    def whole_cost(self) -> float | None:
        """The cost; None where not every call has one."""
        return self.cost if self.calls and not self.unpriced_calls else None

    def at(self, price: Price | None) -> "Spent":
        """The same with this price for the calls that have none but were counted."""
        if price is None or self.unpriced_calls == self.unknown_calls:
            return self
        if price.longest_prompt is not None and self.longest_unpriced > price.longest_prompt:
            return self
        added = price.of_tokens(
            self.unpriced_prompt,
            self.unpriced_completion,
            self.unpriced_cached,
            self.unpriced_cache_write,
        )
        cleared = dict.fromkeys(_OF_UNPRICED, 0)
        known = (self.cost or 0.0) + added
        return replace(self, cost=known, unpriced_calls=self.unknown_calls, **cleared)

    def plain(self) -> dict[str, Any]:
        """As documents have it: unknown sums are None, and lower bounds say so."""
        is_unknown = self.calls > 0 and self.uncounted_calls == self.calls
        tokens = {name: None if is_unknown else getattr(self, name) for name in _TOKENS}
        return {
            "calls": self.calls,
            **tokens,
            "cost": self.cost,
            "at_least": bool(self.uncounted_calls or self.unpriced_calls),
            "uncounted_calls": self.uncounted_calls,
            "unpriced_calls": self.unpriced_calls,
            "retries": self.retries,
        }


_TOKENS = ("prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens")
_OF_UNPRICED = (
    *("unpriced_prompt", "unpriced_completion", "unpriced_cached", "unpriced_cache_write"),
    "longest_unpriced",
)


@dataclass(frozen=True)
class Pace:
    """How fast episodes went: seconds of a model call (median and 95th percentile), seconds
    until the first action (median), and tokens per step. None where nobody counted."""

    latency_p50: float | None
    latency_p95: float | None
    time_to_first_action: float | None
    tokens_per_step: float | None


_LATENCY = "<f4"


def _check_latencies(packed: bytes) -> bytes:
    import numpy as np  # here as in `statistics`: a run starts without it

    if packed and not np.isfinite(np.frombuffer(packed, _LATENCY)).all():
        raise ValueError("there are no such seconds")
    return packed


@dataclass(frozen=True, slots=True)
class EpisodeRow:
    """`replies` counts how replies were read, `unread` those of them that gave no answer.
    `values` has every metric of the table, `failed` why a metric could not be computed.
    `progress_curve` has one value a step. `latencies` are the seconds of its model calls, four
    bytes each."""

    key: str
    task_id: str
    task_type: str
    trial: Whole
    setting: Annotated[Setting, AfterValidator(shared_setting)]
    data_hash: str
    scored: bool
    end: End
    success: bool
    error: str | None
    steps: Whole
    unreachable: bool
    seconds: Number
    spent: Spent
    replies: dict[str, Whole]
    unread: dict[str, Whole]
    values: dict[str, Number | None]
    failed: dict[str, str]
    latencies: Annotated[bytes, AfterValidator(_check_latencies)] = b""
    first_action_s: Number | None = None
    goal: str = ""
    progress_curve: Annotated[tuple[Number, ...], STOP_AT_FIRST] = ()


_NONE: dict[str, str] = {}
_NO_READING: dict[str, int] = {}
NO_CALLS = Spent()


A = TypeVar("A", EpisodeRecord, EpisodeRow)


def keep_newest(kept: dict[str, A], attempt: A) -> bool:
    """A later attempt at an episode replaces the earlier one, unless a score would be lost.
    Says whether it did."""
    before = kept.get(attempt.key)
    if before is not None and before.scored and not attempt.scored:
        return False
    kept[attempt.key] = attempt
    return True


def row_of(record: EpisodeRecord, table: Sequence[Metric]) -> EpisodeRow:
    """The row of a record; a metric that cannot be computed is noted in it, and has no value."""
    values, failed = measure(record, table)
    readings = [(_reading(step), step) for step in record.steps]
    replies = Counter(reading for reading, _ in readings)
    unread = Counter(reading for reading, step in readings if _is_unread(reading, step))
    return EpisodeRow(
        key=record.key,
        task_id=record.task_id,
        task_type=sys.intern(record.task_type),
        trial=record.trial,
        setting=shared_setting(
            Setting(
                record.benchmark,
                record.split,
                record.agent,
                record.model,
                record.config_hash,
                record.max_steps,
                tuple(record.facts.items()),
            )
        ),
        data_hash=record.data_hash,
        scored=record.scored,
        end=record.end,
        success=record.success,
        error=sys.intern(record.error.kind) if record.error else None,
        steps=len(record.steps),
        unreachable=any(not step.reachable for step in record.steps),
        seconds=record.seconds,
        spent=add_up_calls(record.calls),
        replies=dict(replies),
        unread=dict(unread) or _NO_READING,
        values=values,
        failed=failed or _NONE,
        latencies=_pack_latencies(record.calls),
        first_action_s=_time_to_first_action(record.steps),
        goal=record.goal,
        progress_curve=tuple(round(step.progress, 4) for step in record.steps),
    )


def _pack_latencies(calls: Iterable[Call]) -> bytes:
    """Of replies that were asked for now; 0 is how older records wrote that it is unknown."""
    import numpy as np

    known = [call.latency_s for call in calls if call.latency_s and not call.cached]
    return np.array(known, _LATENCY).tobytes()


def _time_to_first_action(steps: Iterable[Step]) -> float | None:
    passed = 0.0
    for step in steps:
        passed += step.seconds
        if step.action is not None:
            return passed
    return None


def measure_pace(rows: Iterable[EpisodeRow]) -> Pace:
    """The pace over all calls and steps of these episodes."""
    import numpy as np

    every = list(rows)
    latencies = np.frombuffer(b"".join(row.latencies for row in every), _LATENCY)
    waits = [row.first_action_s for row in every if row.first_action_s is not None]
    counted = [(row.spent.tokens, row.steps) for row in every if row.spent.tokens is not None]
    steps = sum(number for _, number in counted)
    tokens = sum(number or 0 for number, _ in counted)
    return Pace(
        latency_p50=_percentile(latencies, 50),
        latency_p95=_percentile(latencies, 95),
        time_to_first_action=_percentile(waits, 50),
        tokens_per_step=tokens / steps if steps else None,
    )


def _percentile(values: Any, share: float) -> float | None:
    import numpy as np

    return float(np.percentile(values, share)) if len(values) else None


def plain_row(row: EpisodeRow) -> dict[str, Any]:
    """A row as plain data; what is not known is None."""
    setting, spent = row.setting, row.spent
    is_counted = spent.calls > 0 and not spent.uncounted_calls
    return {
        "benchmark": setting.benchmark,
        "split": setting.split,
        "task_id": row.task_id,
        "task_type": row.task_type,
        "trial": row.trial,
        "agent": setting.agent,
        "model": setting.model,
        **dict(setting.facts),
        **row.values,
        "success": row.success,
        "scored": row.scored,
        "end": row.end.value,
        "error": row.error,
        "steps": row.steps,
        "seconds": row.seconds,
        "model_calls": spent.calls,
        "prompt_tokens": spent.prompt_tokens if is_counted else None,
        "completion_tokens": spent.completion_tokens if is_counted else None,
        "cost": spent.whole_cost,
        **asdict(measure_pace([row])),
    }


def total(spent: Iterable[Spent]) -> Spent:
    """The sum, field by field."""
    every = list(spent)
    sums: dict[str, Any] = {
        field.name: sum(getattr(one, field.name) or 0 for one in every) for field in fields(Spent)
    }
    if sums["calls"] and sums["calls"] == sums["unpriced_calls"]:
        sums["cost"] = None
    longest = max((one.longest_unpriced for one in every), default=0)
    return Spent(**{**sums, "longest_unpriced": longest})


def measure(record: Any, table: Sequence[Metric]) -> tuple[dict[str, float | None], dict[str, str]]:
    """The values of these metrics, and why some could not be computed. Metrics that only look
    values up (see `measured`) are content with a row in place of the record."""
    values: dict[str, float | None] = {}
    failed: dict[str, str] = {}
    for metric in table:
        values[metric.key] = None
        if metric.only_solved and not record.success:
            continue
        try:
            values[metric.key] = _number(metric, metric.value(record))
        except Exception as error:
            # A user's own code runs here. No figure is made of what it could not
            # compute, and every report says so.
            known = isinstance(error, NotMeasured)
            failed[metric.key] = str(error) if known else f"{type(error).__name__}: {error}"
    return values, failed


def _number(metric: Metric, value: float | None) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not abs(number) < _TOO_LARGE:
        raise ValueError(f"{number:g} is not a finite number below {_TOO_LARGE:g}")
    if metric.estimator == "rate" and number not in (0.0, 1.0):
        raise ValueError(f"values of a rate must be 0 or 1, not {number:g}")
    if metric.path and metric.bounds and not metric.bounds[0] <= number <= metric.bounds[1]:
        low, high = metric.bounds
        raise ValueError(f"{number:g} is not within its bounds, {low:g} to {high:g}")
    return number


def _reading(step: Step) -> str:
    """How a reply was read; one that was cut off, empty or refused is that, whoever read it."""
    kind = step.calls[-1].kind if step.calls else ""
    return sys.intern(kind if kind in _NO_ANSWER else step.how)


def _is_unread(reading: str, step: Step) -> bool:
    return reading in _NO_ANSWER or (not step.action and reading != How.GAVE_UP)


def add_up_calls(calls: Sequence[Call]) -> Spent:
    """What these model calls took."""
    if not calls:
        return NO_CALLS
    counted = [call.usage for call in calls if call.usage is not None]
    known = [call.cost for call in calls if call.cost is not None]
    # A reply from our own cache costs nothing, at whatever price.
    unpriced = [
        call.usage
        for call in calls
        if call.cost is None and call.usage is not None and not call.cached
    ]
    return Spent(
        calls=len(calls),
        prompt_tokens=sum(usage.prompt_tokens for usage in counted),
        completion_tokens=sum(usage.completion_tokens for usage in counted),
        reasoning_tokens=sum(usage.reasoning_tokens for usage in counted),
        cached_tokens=sum(usage.cached_tokens for usage in counted),
        cost=math.fsum(known) if known else None,
        uncounted_calls=len(calls) - len(counted),
        unpriced_calls=len(calls) - len(known),
        unknown_calls=sum(call.cost is None and call.usage is None for call in calls),
        unpriced_prompt=sum(usage.prompt_tokens for usage in unpriced),
        unpriced_completion=sum(usage.completion_tokens for usage in unpriced),
        unpriced_cached=sum(usage.cached_tokens for usage in unpriced),
        unpriced_cache_write=sum(usage.cache_write_tokens for usage in unpriced),
        longest_unpriced=max((usage.prompt_tokens for usage in unpriced), default=0),
        retries=sum(call.attempts - 1 for call in calls),
    )
