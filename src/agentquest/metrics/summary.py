"""The figures of a run, overall and by task type, from its records and nothing else.

Denominators are the episodes that were scored. Episodes lost to infrastructure
are counted beside them, never as failures.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from agentquest.metrics.statistics import (
    Estimate,
    bootstrap_mean,
    pass_at_k,
    pass_hat_k,
    wilson,
)
from agentquest.records.episode import EpisodeRecord


@dataclass(frozen=True)
class Group:
    """Figures over some episodes; None where no episode has the figure."""

    episodes: int
    scored: int
    successes: int
    success: Estimate | None
    reward: Estimate | None
    steps: Estimate | None
    steps_of_successes: Estimate | None
    progress: Estimate | None
    repetition: Estimate | None
    invalid: Estimate | None
    ends: dict[str, int]

    @property
    def unscored(self) -> int:
        return self.episodes - self.scored


@dataclass(frozen=True)
class Spent:
    """Tokens and money over all episodes, the unscored ones included.

    `uncounted_calls` had no token counts from the server, `unpriced_calls` no
    price: the sums are lower bounds when they are not zero.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasoning_tokens: int = 0
    cost: float = 0.0
    uncounted_calls: int = 0
    unpriced_calls: int = 0


@dataclass(frozen=True)
class Summary:
    overall: Group
    by_type: dict[str, Group]
    spent: Spent
    pass_at: dict[int, Estimate] = field(default_factory=dict)
    pass_hat: dict[int, Estimate] = field(default_factory=dict)


def summarise(records: Iterable[EpisodeRecord]) -> Summary:
    everything = list(records)
    types = list(dict.fromkeys(record.task_type for record in everything))
    at, hat = _several_trials(everything)
    return Summary(
        overall=_group(everything),
        by_type={
            name: _group([record for record in everything if record.task_type == name])
            for name in sorted(types)
        },
        spent=_spent(everything),
        pass_at=at,
        pass_hat=hat,
    )


def _group(records: Sequence[EpisodeRecord]) -> Group:
    scored = [record for record in records if record.scored]
    won = [record for record in scored if record.success]
    return Group(
        episodes=len(records),
        scored=len(scored),
        successes=len(won),
        success=wilson(len(won), len(scored)),
        reward=bootstrap_mean([record.reward for record in scored]),
        steps=bootstrap_mean([float(len(record.steps)) for record in scored]),
        steps_of_successes=bootstrap_mean([float(len(record.steps)) for record in won]),
        progress=bootstrap_mean([record.progress for record in scored]),
        repetition=bootstrap_mean([record.repetition_rate for record in scored]),
        invalid=bootstrap_mean(
            [record.invalid_actions / len(record.steps) for record in scored if record.steps]
        ),
        ends=dict(sorted(Counter(record.end.value for record in records).items())),
    )


def _spent(records: Sequence[EpisodeRecord]) -> Spent:
    calls = [call for record in records for call in record.calls]
    return Spent(
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens or 0 for call in calls),
        completion_tokens=sum(call.completion_tokens or 0 for call in calls),
        reasoning_tokens=sum(call.reasoning_tokens or 0 for call in calls),
        cost=sum(call.cost or 0.0 for call in calls),
        uncounted_calls=sum(call.prompt_tokens is None for call in calls),
        unpriced_calls=sum(call.cost is None for call in calls),
    )


def _several_trials(
    records: Sequence[EpisodeRecord],
) -> tuple[dict[int, Estimate], dict[int, Estimate]]:
    """pass@k and pass^k up to the smallest number of scored trials any task has."""
    trials: dict[str, list[bool]] = {}
    for record in records:
        if record.scored:
            trials.setdefault(record.task_id, []).append(record.success)
    most = min((len(outcomes) for outcomes in trials.values()), default=0)
    if most < 2:
        return {}, {}
    at = {k: pass_at_k(trials, k) for k in range(1, most + 1)}
    hat = {k: pass_hat_k(trials, k) for k in range(1, most + 1)}
    return _known(at), _known(hat)


def _known(estimates: dict[int, Estimate | None]) -> dict[int, Estimate]:
    return {k: estimate for k, estimate in estimates.items() if estimate is not None}
