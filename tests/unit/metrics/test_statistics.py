"""Intervals and tests against published or hand-computed values, and their laws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import UserError
from agentquest.metrics.statistics import (
    Estimate,
    bootstrap_mean,
    chance_of_all,
    chance_of_any,
    pass_at_k,
    pass_hat_k,
    rate,
    wilson,
)

Z = 1.959963984540054
numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30)


@st.composite
def trials_and_successes(draw: st.DrawFn) -> tuple[int, int]:
    total = draw(st.integers(1, 300))
    return total, draw(st.integers(0, total))


# --- Wilson ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "total", "low", "high"),
    [
        # 81/263, 15/148 and 0/20, 1/29: Newcombe's examples for one proportion.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (10, 10, 0.7225, 1.0),
    ],
)
def test_wilson_gives_published_values(successes: int, total: int, low: float, high: float) -> None:
    found = wilson(successes, total)
    assert found is not None
    assert found.value == successes / total
    assert found.n == total
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_wilson_of_nothing_is_nothing() -> None:
    assert wilson(0, 0) is None


@given(trials_and_successes())
def test_wilson_bounds_are_where_the_score_test_just_accepts(case: tuple[int, int]) -> None:
    total, successes = case
    found = wilson(successes, total)
    assert found is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    for bound in (found.low, found.high):
        if 0 < bound < 1:
            distance = abs(found.value - bound) / math.sqrt(bound * (1 - bound) / total)
            assert distance == pytest.approx(Z, rel=1e-6)


@given(trials_and_successes())
def test_wilson_treats_failures_as_the_mirror_of_successes(case: tuple[int, int]) -> None:
    total, successes = case
    found, mirror = wilson(successes, total), wilson(total - successes, total)
    assert found is not None
    assert mirror is not None
    assert found.low == pytest.approx(1 - mirror.high, abs=1e-12)


@pytest.mark.parametrize(("successes", "total"), [(-1, 3), (4, 3), (0, -1)])
def test_wilson_refuses_impossible_counts(successes: int, total: int) -> None:
    with pytest.raises(UserError, match="successes"):
        wilson(successes, total)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, math.nan])
def test_confidence_is_a_fraction(confidence: float) -> None:
    with pytest.raises(UserError, match="confidence"):
        wilson(1, 2, confidence)
    with pytest.raises(UserError, match="confidence"):
        bootstrap_mean([1.0], confidence=confidence)


# --- bootstrap ------------------------------------------------------------------


def test_bootstrap_of_nothing_is_nothing() -> None:
    assert bootstrap_mean([]) is None


def test_bootstrap_of_one_or_equal_values_is_a_point() -> None:
    assert bootstrap_mean([0.1] * 7) == Estimate(0.1, 0.1, 0.1, 7)
    assert bootstrap_mean([3.0]) == Estimate(3.0, 3.0, 3.0, 1)


def test_bootstrap_approaches_the_exact_distribution() -> None:
    """All 3^3 resamples of (0, 3, 9) can be listed, so the quantiles are known."""
    exact = sorted(sum(pick) / 3 for pick in itertools.product((0.0, 3.0, 9.0), repeat=3))
    found = bootstrap_mean([0.0, 3.0, 9.0], resamples=20_000, confidence=0.7)
    assert found is not None
    assert found.value == 4.0
    assert found.low == pytest.approx(exact[math.floor(0.15 * 27)])
    assert found.high == pytest.approx(exact[math.floor(0.85 * 27)])


@pytest.mark.parametrize("size", [400, 1001, 20_000])
def test_bootstrap_agrees_with_the_normal_theory_on_many_values(size: int) -> None:
    values = np.random.default_rng(1).normal(10, 2, size).tolist()
    found = bootstrap_mean(values)
    assert found is not None
    mean = sum(values) / len(values)
    error = math.sqrt(sum((v - mean) ** 2 for v in values)) / len(values)
    assert found.low == pytest.approx(mean - Z * error, abs=0.15 * error)
    assert found.high == pytest.approx(mean + Z * error, abs=0.15 * error)


@given(numbers, st.integers(0, 5))
def test_bootstrap_is_repeatable_and_stays_in_range(values: list[float], seed: int) -> None:
    state = repr(np.random.get_state())
    found = bootstrap_mean(values, seed=seed, resamples=50)
    assert found == bootstrap_mean(values, seed=seed, resamples=50)
    assert repr(np.random.get_state()) == state
    assert found is not None
    slack = 1e-9 * max(1.0, *map(abs, values))
    assert min(values) - slack <= found.low <= found.high <= max(values) + slack
    assert found.n == len(values)


def test_another_seed_gives_another_interval() -> None:
    values = [float(v * v) for v in range(20)]
    assert bootstrap_mean(values, seed=1) != bootstrap_mean(values, seed=2)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bootstrap_names_the_value_that_is_no_number(bad: float) -> None:
    with pytest.raises(UserError, match=r"values\[1\]"):
        bootstrap_mean([1.0, bad])


def test_bootstrap_needs_resamples() -> None:
    with pytest.raises(UserError, match="resamples"):
        bootstrap_mean([1.0], resamples=0)


@pytest.mark.parametrize("spread", [1.0, 2.0])
def test_bins_lose_nothing_of_long_tails(spread: float) -> None:
    """Most of the variance is in the last of the bins; against resamples drawn one by one."""
    rng = np.random.default_rng(7)
    values = rng.lognormal(0, spread, 3000)
    means = [values[rng.integers(0, 3000, 3000)].mean() for _ in range(3000)]
    low, high = np.quantile(means, (0.025, 0.975))
    found = bootstrap_mean(values)
    assert found is not None
    assert found.low == pytest.approx(low, abs=0.15 * np.std(means))
    assert found.high == pytest.approx(high, abs=0.2 * np.std(means))


def test_few_different_values_are_resampled_exactly_however_many_there_are() -> None:
    """5,000 values of 0 and 1: the resampled mean is a binomial's."""
    values = [1.0] * 1500 + [0.0] * 3500
    found = bootstrap_mean(values, resamples=20_000)
    assert found is not None
    error = math.sqrt(0.3 * 0.7 / 5000)
    assert (found.value, found.n) == (0.3, 5000)
    assert found.low == pytest.approx(0.3 - Z * error, abs=0.06 * error)
    assert found.high == pytest.approx(0.3 + Z * error, abs=0.06 * error)


# --- several values of one task -------------------------------------------------


def test_tasks_are_resampled_whole() -> None:
    """Four equal trials of each task tell as much as one."""
    values = [float(v) for v in range(40)]
    clusters = [task for task in range(40) for _ in range(4)]
    once, four_times = bootstrap_mean(values), bootstrap_mean(np.repeat(values, 4), clusters)
    assert once is not None
    assert four_times == Estimate(once.value, once.low, once.high, 160)


def test_trials_that_differ_as_tasks_do_tell_as_much_as_tasks() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(size=800)
    alone = bootstrap_mean(values)
    clustered = bootstrap_mean(values, np.repeat(np.arange(200), 4))
    assert alone is not None
    assert clustered is not None
    assert clustered.high - clustered.low == pytest.approx(alone.high - alone.low, rel=0.2)


@pytest.mark.parametrize("tasks", [300, 3000])
def test_uneven_trials_agree_with_the_cluster_robust_theory(tasks: int) -> None:
    """The variance of a ratio of cluster sums, by linearisation."""
    rng = np.random.default_rng(4)
    trials = rng.integers(1, 6, size=tasks)
    clusters = np.repeat(np.arange(tasks), trials)
    values = rng.normal(size=tasks)[clusters] + 0.3 * rng.normal(size=clusters.size)
    found = bootstrap_mean(values, clusters)
    assert found is not None
    mean = values.mean()
    residuals = np.bincount(clusters, values - mean)
    error = math.sqrt((residuals**2).sum()) / values.size
    assert found.value == pytest.approx(mean)
    assert found.low == pytest.approx(mean - Z * error, abs=0.15 * error)
    assert found.high == pytest.approx(mean + Z * error, abs=0.15 * error)


def test_clusters_belong_to_values() -> None:
    with pytest.raises(UserError, match="2 values but 1 clusters"):
        bootstrap_mean([1.0, 2.0], [0])


def test_a_rate_of_single_trials_is_wilsons() -> None:
    assert rate([1, 0, 1], ["a", "b", "c"]) == rate([True, False, True]) == wilson(2, 3)
    assert rate([]) is None


def test_a_rate_of_several_trials_is_as_sure_as_its_tasks() -> None:
    """27 tasks with 5 trials each, 36 successes that crowd in 9 tasks."""
    won = [1] * 5 * 6 + [1, 1, 0, 0, 0] * 3 + [0] * 5 * 18
    tasks = np.repeat(np.arange(27), 5)
    found, naive = rate(won, tasks), wilson(36, 135)
    assert found is not None
    assert naive is not None
    assert found.value == naive.value
    assert found.n == 135
    assert found.high - found.low > 1.8 * (naive.high - naive.low)


@pytest.mark.parametrize(("won", "tasks"), [(1, 10), (0, 10), (1, 1)])
def test_a_rate_where_all_trials_agree_keeps_the_doubt_of_its_tasks(won: int, tasks: int) -> None:
    found, once = (
        rate([won] * 3 * tasks, np.repeat(np.arange(tasks), 3)),
        wilson(won * tasks, tasks),
    )
    assert once is not None
    assert found == Estimate(once.value, once.low, once.high, 3 * tasks)


# --- several trials a task --------------------------------------------------------


def test_known_chances() -> None:
    assert chance_of_any(5, 2, 1) == 0.4
    assert chance_of_any(5, 2, 3) == 0.9  # 1 - C(3,3)/C(5,3)
    assert chance_of_any(5, 2, 4) == 1.0
    assert chance_of_all(5, 2, 2) == 0.1  # C(2,2)/C(5,2)
    assert chance_of_all(5, 2, 3) == 0.0
    assert chance_of_all(8, 8, 8) == 1.0
    assert chance_of_any(10, 0, 10) == 0.0


@given(st.integers(1, 7), st.data())
def test_chances_are_those_of_drawing_k_trials(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    k = data.draw(st.integers(1, trials))
    outcomes = [True] * successes + [False] * (trials - successes)
    draws = list(itertools.combinations(outcomes, k))
    assert chance_of_any(trials, successes, k) == float(Fraction(sum(map(any, draws)), len(draws)))
    assert chance_of_all(trials, successes, k) == float(Fraction(sum(map(all, draws)), len(draws)))


@given(st.integers(1, 200), st.data())
def test_more_trials_help_any_and_hurt_all(trials: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, trials))
    any_k = [chance_of_any(trials, successes, k) for k in range(1, trials + 1)]
    all_k = [chance_of_all(trials, successes, k) for k in range(1, trials + 1)]
    assert any_k[0] == all_k[0] == successes / trials
    assert any_k == sorted(any_k)
    assert all_k == sorted(all_k, reverse=True)


@pytest.mark.parametrize(
    ("trials", "successes", "k"), [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)]
)
def test_impossible_trials_are_refused(trials: int, successes: int, k: int) -> None:
    with pytest.raises(UserError):
        chance_of_any(trials, successes, k)
    with pytest.raises(UserError):
        chance_of_all(trials, successes, k)


def test_tasks_weigh_the_same_however_many_trials_they_had() -> None:
    trials = {"t1": [True, False], "t2": [True] * 4, "t3": [False] * 3}
    at_2, hat_2 = pass_at_k(trials, 2), pass_hat_k(trials, 2)
    assert at_2 is not None
    assert hat_2 is not None
    assert (at_2.value, hat_2.value) == pytest.approx((2 / 3, 1 / 3))
    assert at_2.n == hat_2.n == 3
    assert 0 <= at_2.low <= at_2.value <= at_2.high <= 1
    assert pass_at_k({}, 3) is None
    assert pass_hat_k({}, 3) is None


def test_a_task_with_too_few_trials_is_named() -> None:
    trials = {"t1": [True, False], "t2": [True]}
    for measure in (pass_at_k, pass_hat_k):
        with pytest.raises(UserError, match=r"k=2 .*'t2' has 1"):
            measure(trials, 2)
        with pytest.raises(UserError, match="k must be"):
            measure(trials, 0)
