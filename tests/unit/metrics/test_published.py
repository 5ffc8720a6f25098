"""A run beside published scores: one sample, its own interval, and only verified ones."""

import pytest

from agentquest.metrics.published import compare_with_published, list_published
from agentquest.metrics.statistics import estimate_mean
from agentquest.protocols import all_protocols
from agentquest.records.manifest import Manifest, PublishedScore
from report_runs import manifest

SEEN = {"address": "https://example.org", "looked_up": "2026-11-18", "verified": True}


def compared_with(*scores: PublishedScore, tasks: int = 134) -> Manifest:
    ids = [f"t{number}" for number in range(tasks)]
    return manifest(comparable_with=list(scores), task_ids=ids)


def test_the_interval_is_the_run_s_less_the_score_and_decides_the_verdict() -> None:
    score = PublishedScore(
        source="A", setting="all", scores={"low": 40, "near": 60, "high": 80}, n=134, **SEEN
    )
    figure = estimate_mean([1] * 80 + [0] * 54)
    assert figure is not None
    low, near, high = compare_with_published(compared_with(score), {"success": figure})
    assert low.difference == pytest.approx(80 / 134 - 0.4)
    assert (low.low, low.high) == (
        pytest.approx(figure.low - 0.4),
        pytest.approx(figure.high - 0.4),
    )
    assert [one.is_clear for one in (low, near, high)] == [True, False, True]
    lines = list_published(compared_with(score), {"success": figure})
    assert lines == (
        "A (all; 134 games; https://example.org; seen there on 2026-11-18): "
        f"low 40 ({low.text}), near 60 ({near.text}), high 80 ({high.text})",
    )
    assert low.text.endswith(": above")
    assert near.text.endswith(": no clear difference")
    assert high.text.startswith("this run -20.3 [-2")
    assert high.text.endswith(": below")


def test_an_unverified_score_is_marked_and_never_beside_a_verdict() -> None:
    score = PublishedScore(source="A", setting="all", scores={"m": 10})
    figures = {"success": estimate_mean([1] * 134)}
    assert compare_with_published(compared_with(score), figures) == ()
    assert list_published(compared_with(score), figures) == (
        "A (all; not verified in the source): m 10",
    )


def test_mean_rewards_are_compared_with_mean_rewards() -> None:
    score = PublishedScore(source="A", setting="all", scores={"m": 50}, metric="reward", **SEEN)
    figures = {"success": estimate_mean([0] * 20), "reward": estimate_mean([0.9] * 19 + [0.8])}
    (one,) = compare_with_published(compared_with(score, tasks=20), figures)
    assert one.difference == pytest.approx(0.395)
    assert "mean reward" in list_published(compared_with(score, tasks=20), figures)[0]


def test_part_of_a_run_and_few_tasks_give_no_verdict() -> None:
    score = PublishedScore(source="A", setting="all", scores={"m": 0}, **SEEN)
    assert compare_with_published(compared_with(score), {"success": estimate_mean([1] * 50)}) == ()
    figures = {"success": estimate_mean([1] * 5)}
    (one,) = compare_with_published(compared_with(score, tasks=5), figures)
    assert one.text.endswith("too few tasks to say")


def test_a_verified_score_says_where_and_when() -> None:
    with pytest.raises(ValueError, match="needs its address and the date"):
        PublishedScore(source="A", setting="all", scores={}, verified=True)


def test_every_published_score_says_where_it_stands() -> None:
    found = [entry for one in all_protocols().values() for entry in one.published]
    assert len(found) >= 15
    assert all(entry.address.startswith("https://") for entry in found)
    assert all(0 <= score <= 100 for entry in found for score in entry.scores.values())
    assert any(entry.verified for entry in found)
    assert any(not entry.verified for entry in found)
