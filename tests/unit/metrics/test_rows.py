"""What a row keeps of a record, and the figures of many rows."""

import math
import pickle
import tracemalloc
from dataclasses import replace
from typing import Any

import pytest

from agentquest.metrics.rows import EpisodeRow, Spent, row_of, total
from agentquest.metrics.summary import summarise
from agentquest.metrics.table import Metric, metrics_table
from agentquest.records.episode import Call, EpisodeRecord, Failure
from agentquest.records.messages import Message, Usage
from agentquest.records.outcome import End
from report_runs import manifest, play, record, rows_of, step

TABLE = metrics_table(manifest())


def test_a_row_by_hand() -> None:
    counted = Usage(prompt_tokens=100, completion_tokens=20, reasoning_tokens=5, cached_tokens=40)
    steps = [
        step(1, calls=[Call(model="m", kind="complete", usage=counted, cost=0.5)]),
        step(2, how="undecorated", calls=[Call(model="m", kind="complete")]),
        step(3, action=None, how="empty", valid=False, reachable=False,
             calls=[Call(model="m", kind="empty", usage=counted, cost=0.25)]),
    ]  # fmt: skip
    error = Failure(source="agent", kind="timeout", message="late")
    row = row_of(record("a", End.AGENT_FAULT, steps, trial=2, error=error), TABLE)
    assert (row.key, row.task_id, row.trial, row.steps) == ("a#2", "a", 2, 3)
    assert (row.scored, row.end, row.success, row.error) == (
        False,
        End.AGENT_FAULT,
        False,
        "timeout",
    )
    assert row.unreachable
    assert row.spent == Spent(3, 200, 40, 10, 80, 0.75, 1, 1, unknown_calls=1)
    assert row.replies == {"exact": 1, "undecorated": 1, "empty": 1}
    assert row.unread == {"empty": 1}
    assert row.values["invalid"] == pytest.approx(1 / 3)
    assert row.values["steps_of_successes"] is None
    assert dict(row.setting.facts) == {"dialect": "0.4"}


def test_unknown_tokens_are_not_zero() -> None:
    assert Spent().tokens is None
    assert Spent(calls=2, uncounted_calls=1, prompt_tokens=7).tokens is None
    assert Spent(calls=1, prompt_tokens=7, completion_tokens=2).tokens == 9


def test_sums_of_what_was_spent() -> None:
    one = Spent(1, 2, 3, 4, 5, 0.5, 6, 7)
    assert total([one, one]) == Spent(2, 4, 6, 8, 10, 1.0, 12, 14)
    assert total([]) == Spent()


def test_the_newest_try_with_a_score_counts() -> None:
    lost = record("a", End.INFRASTRUCTURE_FAULT, 1)
    won = record("a", End.SOLVED, 5)
    rows = rows_of([lost, record("b"), won, lost], TABLE)
    assert [(row.key, row.end) for row in rows] == [("a#0", End.SOLVED), ("b#0", End.SOLVED)]


def raising(one: EpisodeRecord) -> float:
    raise LookupError("no such word")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value": raising}, "LookupError: no such word"),
        ({"value": lambda one: math.nan}, "ValueError: nan is not a finite number"),
        ({"value": lambda one: 1.7e308}, "ValueError: 1.7e+308 is not a finite number below"),
        ({"value": lambda one: "many"}, "ValueError: could not convert"),
        ({"value": lambda one: 0.5, "estimator": "rate"}, "ValueError: values of a rate must be"),
    ],
)
def test_a_metric_that_fails_gives_no_value_and_its_reason(
    changes: dict[str, Any], said: str
) -> None:
    metric = replace(Metric("mine", "mine", "", "", raising), **changes)
    row = row_of(record(), (*TABLE, metric))
    assert row.values["mine"] is None
    assert row.failed["mine"].startswith(said)
    assert summarise([row], (*TABLE, metric)).overall.figures["mine"] is None


def test_a_metric_may_have_nothing_to_say() -> None:
    metric = Metric("mine", "mine", "", "", lambda one: None)
    row = row_of(record(), (metric,))
    assert (row.values["mine"], dict(row.failed)) == (None, {})


def test_rows_can_leave_the_process() -> None:
    row = row_of(record(), TABLE)
    assert pickle.loads(pickle.dumps(row)) == row


def test_what_many_rows_share_is_held_once() -> None:
    first, second = (row_of(one, TABLE) for one in play("scripted")[:2])
    assert first.setting is second.setting


def test_rows_are_small_whatever_was_said() -> None:
    """200 episodes with 100 KB of prompts each: none of it stays."""
    words = [Message(role="user", content="w" * 100_000)]

    def records() -> Any:
        for i in range(200):
            steps = [step(n, prompt=[0]) for n in range(1, 21)]
            yield record(f"t{i}", steps=steps, messages=words)

    tracemalloc.start()
    rows = rows_of(records(), TABLE)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(rows) == 200
    assert held / len(rows) < 4_000


def many(tasks: int, trials: int) -> list[EpisodeRow]:
    """Rows that differ as a run's do, made from one."""
    model = row_of(record("t", End.STEP_LIMIT, 5), TABLE)
    return [
        replace(
            model,
            key=f"t{task}#{trial}",
            task_id=f"t{task}",
            task_type=f"type {task % 3}",
            trial=trial,
            success=task % 2 == 0,
            values={**model.values, "success": float(task % 2 == 0), "steps": float(task % 50)},
        )
        for task in range(tasks)
        for trial in range(trials)
    ]


def test_figures_of_a_large_run_agree_with_a_plain_count() -> None:
    rows = many(tasks=3000, trials=2)
    found = summarise(rows, TABLE)
    overall = found.overall
    assert (overall.episodes, overall.scored, overall.successes) == (6000, 6000, 3000)
    steps, success = overall.figures["steps"], overall.figures["success"]
    assert steps is not None
    assert success is not None
    assert steps.value == pytest.approx(sum(task % 50 for task in range(3000)) / 3000)
    assert success.value == 0.5
    # 3,000 tasks tell: a standard error of 0.5 / sqrt(3000), not of 6,000 episodes.
    assert success.high - success.low == pytest.approx(2 * 1.96 * 0.5 / math.sqrt(3000), rel=0.1)
    assert list(found.by_type) == ["type 0", "type 1", "type 2"]
    assert sum(group.episodes for group in found.by_type.values()) == 6000
    assert set(found.pass_at) == {1, 2}


def test_figures_do_not_depend_on_which_episode_was_finished_first() -> None:
    rows = many(tasks=40, trials=3)
    mixed = rows[::-1]
    assert summarise(mixed, TABLE) == summarise(rows, TABLE)


def test_pass_at_k_is_listed_for_some_ks_of_many() -> None:
    found = summarise(many(tasks=4, trials=33), TABLE)
    assert list(found.pass_at) == [*range(1, 11), 20, 33]


def test_pass_at_k_needs_k_scored_trials_of_every_task() -> None:
    """A run that is not finished has more trials of some tasks than of others."""
    played = [("a", 0), ("a", 1), ("a", 2), ("b", 0), ("b", 1)]
    records = [record(task, trial=trial) for task, trial in played]
    records.append(record("b", End.INFRASTRUCTURE_FAULT, trial=2))
    found = summarise(rows_of(records, TABLE), TABLE)
    assert list(found.pass_at) == list(found.pass_hat) == [1, 2]
