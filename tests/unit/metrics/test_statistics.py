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
    AT_EACH_BOUND,
    CLEAR,
    Estimate,
    can_differ,
    chance_of_all,
    chance_of_any,
    correct_p_values,
    estimate_difference,
    estimate_mean,
    pass_at_k,
    pass_hat_k,
    spread_from,
)

Z = 1.959963984540054
shares = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=1, max_size=30)


def width(found: Estimate | None) -> float:
    assert found is not None
    return found.high - found.low


# --- one interval ----------------------------------------------------------------


def test_an_interval_by_hand() -> None:
    """Two tasks, 0 and 1, and three quarters of one more at each end: 3.5 values of variance
    3.5 · 0.25 / 2.5 about 0.5, and the 0.975 quantile of Student's t with 2.5 degrees."""
    error = math.sqrt(3.5 * 0.25 / 2.5 / 3.5)
    found = estimate_mean([0.0, 1.0], bounds=(0.0, 1.0))
    low, high = spread_from(2, 0.5, 0.25, (0.0, 1.0), 0.75).interval()
    # The quantile for 2.5 degrees of freedom, from tables between 4.3027 and 3.1824.
    assert 3.1824 < (high - 0.5) / error < 4.3027
    assert low == pytest.approx(1 - high)
    assert found is not None
    assert (found.low, found.value, found.high) == (0.0, 0.5, 1.0)  # no rate is beyond its bounds
    assert (found.n, found.tasks) == (2, 2)


def test_nothing_has_no_figure() -> None:
    assert estimate_mean([]) is None
    assert estimate_mean([], []) is None


@pytest.mark.parametrize(("tasks", "trials"), [(20, 5), (134, 3), (100, 1), (5, 2)])
def test_a_perfect_run_is_surer_than_an_imperfect_one(tasks: int, trials: int) -> None:
    """Each further failure widens the interval or moves it down; there is no jump."""
    clusters = np.repeat(np.arange(tasks), trials)
    before = estimate_mean(np.ones(tasks * trials), clusters)
    assert before is not None
    assert 0.2 < before.low < 1
    assert before.high == 1.0
    for failures in range(1, tasks * trials // 2):
        found = estimate_mean(np.arange(tasks * trials) >= failures, clusters)
        assert found is not None
        assert found.low < before.low
        assert found.high <= before.high
        assert abs(found.low - before.low) < 2.5 / tasks
        before = found


@given(shares)
def test_the_interval_holds_its_value_and_mirrors(values: list[float]) -> None:
    found = estimate_mean(values)
    mirror = estimate_mean([1 - value for value in values])
    assert found is not None
    assert mirror is not None
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.low < found.high
    assert found.low == pytest.approx(1 - mirror.high, abs=1e-12)


@given(shares, st.floats(0.1, 50), st.floats(-20, 20))
def test_the_interval_follows_the_unit(values: list[float], scale: float, shift: float) -> None:
    plain = estimate_mean(values)
    moved = estimate_mean([shift + scale * v for v in values], bounds=(shift, shift + scale))
    assert plain is not None
    assert moved is not None
    assert moved.low == pytest.approx(shift + scale * plain.low, abs=1e-9)
    assert moved.high == pytest.approx(shift + scale * plain.high, abs=1e-9)


def test_the_same_outcomes_have_one_interval_as_a_rate_and_as_a_mean() -> None:
    assert estimate_mean([1.0, 0, 0, 0, 0]) == estimate_mean([False] * 4 + [True])


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_the_value_that_is_no_number_is_named(bad: float) -> None:
    with pytest.raises(UserError, match=r"values\[1\]"):
        estimate_mean([1.0, bad])


def test_without_bounds_the_interval_is_students_alone() -> None:
    assert width(estimate_mean([0.1] * 7, bounds=None)) < 1e-12
    assert estimate_mean([3.0], bounds=None) == Estimate(3.0, 3.0, 3.0, 1, 1)
    # 1 to 9: mean 5, standard deviation √7.5, t(8) = 2.306.
    found = estimate_mean(range(1, 10), bounds=None)
    assert found is not None
    assert found.high == pytest.approx(5 + 2.3060 * math.sqrt(7.5 / 9), abs=1e-4)


@pytest.mark.parametrize("size", [400, 20_000])
def test_many_values_agree_with_the_normal_theory(size: int) -> None:
    values = np.random.default_rng(1).uniform(0, 1, size)
    found = estimate_mean(values)
    assert found is not None
    error = values.std() / math.sqrt(size)
    assert width(found) == pytest.approx(2 * Z * error, rel=4 * AT_EACH_BOUND / size + 0.01)


def test_few_tasks_are_known_by_their_number_not_by_that_of_their_trials() -> None:
    few = estimate_mean([1] * 45, np.repeat(np.arange(9), 5))
    enough = estimate_mean([1] * 10)
    assert few is not None
    assert enough is not None
    assert few.of_few_tasks
    assert not enough.of_few_tasks


# --- several values of one task -------------------------------------------------


def test_four_equal_trials_of_each_task_tell_as_much_as_one() -> None:
    values = [v / 40 for v in range(40)]
    clusters = [task for task in range(40) for _ in range(4)]
    once, four_times = estimate_mean(values), estimate_mean(np.repeat(values, 4), clusters)
    assert once is not None
    assert four_times is not None
    assert (four_times.n, four_times.tasks) == (160, 40)
    assert (four_times.low, four_times.high) == pytest.approx((once.low, once.high))


@pytest.mark.parametrize("tasks", [300, 3000])
def test_uneven_trials_agree_with_the_cluster_robust_theory(tasks: int) -> None:
    """The variance of a ratio of cluster sums, by linearisation."""
    rng = np.random.default_rng(4)
    trials = rng.integers(1, 6, size=tasks)
    clusters = np.repeat(np.arange(tasks), trials)
    values = rng.normal(size=tasks)[clusters] + 0.3 * rng.normal(size=clusters.size)
    found = estimate_mean(values, clusters, bounds=None)
    assert found is not None
    mean = values.mean()
    residuals = np.bincount(clusters, values - mean)
    error = math.sqrt((residuals**2).sum()) / values.size
    assert found.value == pytest.approx(mean)
    assert found.low == pytest.approx(mean - Z * error, abs=0.02 * error)
    assert found.high == pytest.approx(mean + Z * error, abs=0.02 * error)


def test_tasks_belong_to_values() -> None:
    with pytest.raises(UserError, match="2 values but 1 tasks"):
        estimate_mean([1.0, 2.0], [0])


# --- two runs -------------------------------------------------------------------

differences = st.lists(st.sampled_from([-1.0, -0.4, 0.0, 0.2, 1.0]), min_size=1, max_size=40)


@given(differences, st.sampled_from([1, 3, 5]))
def test_interval_and_test_never_contradict_each_other(values: list[float], trials: int) -> None:
    result = estimate_difference([0.0] * len(values), values, trials=trials)
    assert result is not None
    found, spread = result
    assert (spread.p_value() < CLEAR) == (not found.low <= 0 <= found.high)
    assert -1 <= found.low <= found.value <= found.high <= 1


@given(differences)
def test_runs_that_change_places_have_the_mirrored_difference(values: list[float]) -> None:
    zeros = [0.0] * len(values)
    there, back = estimate_difference(zeros, values), estimate_difference(values, zeros)
    assert there is not None
    assert back is not None
    assert there[0].low == pytest.approx(-back[0].high, abs=1e-12)
    assert there[1].p_value() == pytest.approx(back[1].p_value())


def test_runs_that_never_disagree_still_leave_doubt() -> None:
    few, many = (estimate_difference([1.0] * n, [1.0] * n) for n in (5, 500))
    assert few is not None
    assert many is not None
    assert few[0].low < many[0].low < 0 < many[0].high < few[0].high
    assert few[1].p_value() == 1.0


def test_a_difference_needs_pairs() -> None:
    assert estimate_difference([], []) is None
    with pytest.raises(UserError, match="2 against 1"):
        estimate_difference([1.0, 1.0], [1.0])


def test_without_bounds_a_difference_is_the_paired_t_test() -> None:
    first = [10.0, 50.0, 30.0, 90.0]
    result = estimate_difference(first, [v + 2 for v in first], bounds=None)
    assert result is not None
    assert result[0] == Estimate(2.0, 2.0, 2.0, 4, 4)
    assert result[1].p_value() == 0.0


def test_four_tasks_cannot_show_any_difference() -> None:
    assert [tasks for tasks in range(1, 8) if not can_differ(tasks)] == [1, 2, 3, 4]
    result = estimate_difference([0.0] * 4, [1.0] * 4)
    assert result is not None
    assert result[1].p_value() >= CLEAR


def test_holms_correction_by_hand() -> None:
    """Ordered 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, and never less than the one before."""
    assert correct_p_values([0.03, 0.01, 0.04, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert correct_p_values([0.6, 0.7]) == [1.0, 1.0]
    assert correct_p_values([0.03]) == [0.03]
    assert correct_p_values([]) == []


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
