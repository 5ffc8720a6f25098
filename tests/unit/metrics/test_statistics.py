"""Intervals and tests against published or hand-computed values, and their laws."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import UserError
from agentquest.metrics.statistics import (
    Estimate,
    McNemar,
    PairedCounts,
    bootstrap_mean,
    chance_of_all,
    chance_of_any,
    count_pairs,
    mcnemar,
    paired_mean_difference,
    paired_rate_difference,
    pass_at_k,
    pass_hat_k,
    wilson,
)

Z = 1.959963984540054
counts = st.integers(0, 60)
tables = st.builds(PairedCounts, counts, counts, counts, counts)
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


def test_bootstrap_agrees_with_the_normal_theory_on_many_values() -> None:
    rng = random.Random(1)
    values = [rng.gauss(10, 2) for _ in range(400)]
    found = bootstrap_mean(values)
    assert found is not None
    mean = sum(values) / len(values)
    error = math.sqrt(sum((v - mean) ** 2 for v in values)) / len(values)
    assert found.low == pytest.approx(mean - Z * error, abs=0.15 * error)
    assert found.high == pytest.approx(mean + Z * error, abs=0.15 * error)


@given(numbers, st.integers(0, 5))
def test_bootstrap_is_repeatable_and_stays_in_range(values: list[float], seed: int) -> None:
    state = random.getstate()
    found = bootstrap_mean(values, seed=seed, resamples=50)
    assert found == bootstrap_mean(values, seed=seed, resamples=50)
    assert random.getstate() == state
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
    assert (at_2.value, at_2.n) == (pytest.approx(2 / 3), 3)
    assert (hat_2.value, hat_2.n) == (pytest.approx(1 / 3), 3)
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


# --- two runs on the same tasks -----------------------------------------------------


def test_pairs_are_counted_by_position() -> None:
    found = count_pairs([True, True, False, False, True], [True, False, True, False, True])
    assert found == PairedCounts(both=2, only_first=1, only_second=1, neither=1)
    with pytest.raises(UserError, match="2 against 1"):
        count_pairs([True, True], [True])


@pytest.mark.parametrize(
    ("only_first", "only_second", "p_value"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (1, 0, 1.0),
        (0, 5, 2 / 32),
        (1, 5, 2 * (1 + 6) / 64),
        (2, 8, 2 * (1 + 10 + 45) / 1024),
        (6, 16, 2 * 110056 / 2**22),
        (4, 10, 2 * 1471 / 16384),
    ],
)
def test_mcnemar_known_values(only_first: int, only_second: int, p_value: float) -> None:
    found = mcnemar(PairedCounts(30, only_first, only_second, 7))
    assert found.p_value == pytest.approx(p_value, rel=1e-6)
    assert found == McNemar(found.p_value, only_first, only_second, 37 + only_first + only_second)


@given(tables)
def test_mcnemar_is_the_chance_of_at_least_as_uneven_a_split(table: PairedCounts) -> None:
    b, c = table.only_first, table.only_second
    uneven = [i for i in range(b + c + 1) if abs(2 * i - b - c) >= abs(b - c)]
    expected = Fraction(sum(math.comb(b + c, i) for i in uneven), 2 ** (b + c))
    assert mcnemar(table).p_value == pytest.approx(float(expected), rel=1e-12)


def test_mcnemar_of_very_many_disagreements_does_not_overflow() -> None:
    assert mcnemar(PairedCounts(0, 3000, 3000, 0)).p_value == 1.0
    assert mcnemar(PairedCounts(0, 0, 3000, 0)).p_value == 0.0


def test_paired_rate_difference_gives_the_published_value() -> None:
    """Newcombe's example of 50 pairs; his difference is first minus second."""
    found = paired_rate_difference(PairedCounts(36, 12, 2, 0))
    assert found is not None
    assert found.value == pytest.approx(-0.2)
    assert (round(-found.high, 4), round(-found.low, 4)) == (0.0569, 0.3404)


def wilson_roots(successes: int, total: int) -> tuple[float, float]:
    """The same bounds as the roots of the score equation's quadratic."""
    a, b, c = total + Z * Z, -(2 * successes + Z * Z), successes * successes / total
    root = math.sqrt(max(b * b - 4 * a * c, 0))
    return (-b - root) / (2 * a), (-b + root) / (2 * a)


@pytest.mark.parametrize(
    ("table", "phi"),
    [
        # phi worked by hand: product of the diagonals' difference, corrected by n/2 if positive.
        (PairedCounts(36, 12, 2, 0), -24 / math.sqrt(48 * 2 * 38 * 12)),
        (PairedCounts(20, 5, 10, 15), (250 - 25) / math.sqrt(25 * 25 * 30 * 20)),
        (PairedCounts(1, 1, 7, 12), 0.0),
        (PairedCounts(10, 0, 0, 0), 0.0),
    ],
)
def test_paired_rate_difference_by_hand(table: PairedCounts, phi: float) -> None:
    n = table.n
    p1, p2 = (table.both + table.only_first) / n, (table.both + table.only_second) / n
    (l1, u1), (l2, u2) = wilson_roots(round(p1 * n), n), wilson_roots(round(p2 * n), n)
    down, up = (p2 - l2, u1 - p1), (u2 - p2, p1 - l1)
    low = p2 - p1 - math.sqrt(down[0] ** 2 - 2 * phi * down[0] * down[1] + down[1] ** 2)
    high = p2 - p1 + math.sqrt(up[0] ** 2 - 2 * phi * up[0] * up[1] + up[1] ** 2)
    found = paired_rate_difference(table)
    assert found is not None
    assert found.n == n
    assert found.value == pytest.approx(p2 - p1)
    assert found.low == pytest.approx(low, abs=1e-9)
    assert found.high == pytest.approx(high, abs=1e-9)


@given(tables)
def test_paired_rate_difference_holds_its_value_and_mirrors(table: PairedCounts) -> None:
    found = paired_rate_difference(table)
    swapped = paired_rate_difference(
        PairedCounts(table.both, table.only_second, table.only_first, table.neither)
    )
    if table.n == 0:
        assert found is None
        return
    assert found is not None
    assert swapped is not None
    assert -1 <= found.low <= found.value <= found.high <= 1
    assert found.low == pytest.approx(-swapped.high, abs=1e-12)
    assert found.high == pytest.approx(-swapped.low, abs=1e-12)


def test_runs_that_never_disagree_still_leave_doubt() -> None:
    few = paired_rate_difference(PairedCounts(3, 0, 0, 2))
    many = paired_rate_difference(PairedCounts(300, 0, 0, 200))
    assert few is not None
    assert many is not None
    assert few.low < many.low < 0 < many.high < few.high


def test_what_tasks_have_in_common_cancels_in_a_mean_difference() -> None:
    first = [10.0, 50.0, 30.0, 90.0]
    found = paired_mean_difference(first, [v + 2 for v in first])
    assert found == Estimate(2.0, 2.0, 2.0, 4)
    assert paired_mean_difference([], []) is None
    with pytest.raises(UserError, match="4 against 0"):
        paired_mean_difference(first, [])
