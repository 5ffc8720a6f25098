"""Two runs on the same tasks, against published or hand-computed values, and their laws."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import UserError
from agentquest.metrics.paired import (
    PairedCounts,
    count_pairs,
    mcnemar,
    paired_mean_difference,
    paired_rate_difference,
    permutation_test,
)
from agentquest.metrics.statistics import Estimate

Z = 1.959963984540054
counts = st.integers(0, 60)
tables = st.builds(PairedCounts, counts, counts, counts, counts)
few = st.integers(0, 4)


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
    assert found == pytest.approx(p_value, rel=1e-6)


@given(tables)
def test_mcnemar_is_the_chance_of_at_least_as_uneven_a_split(table: PairedCounts) -> None:
    b, c = table.only_first, table.only_second
    uneven = [i for i in range(b + c + 1) if abs(2 * i - b - c) >= abs(b - c)]
    expected = Fraction(sum(math.comb(b + c, i) for i in uneven), 2 ** (b + c))
    assert mcnemar(table) == pytest.approx(float(expected), rel=1e-12)


def test_mcnemar_of_very_many_disagreements_does_not_overflow() -> None:
    assert mcnemar(PairedCounts(0, 3000, 3000, 0)) == 1.0
    assert mcnemar(PairedCounts(0, 0, 3000, 0)) == 0.0


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


# --- permutation ------------------------------------------------------------------


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=9))
def test_permutation_tries_every_choice_of_signs(differences: list[int]) -> None:
    sums = [
        abs(sum(sign * value for sign, value in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    expected = sum(one >= abs(sum(differences)) for one in sums) / len(sums)
    thirds = [value / 3 for value in differences]
    assert permutation_test([0.0] * len(thirds), thirds) == pytest.approx(expected)


@given(few, few, few, few)
def test_permutation_of_single_trials_is_the_mcnemar_test(a: int, b: int, c: int, d: int) -> None:
    first = [1.0] * a + [1.0] * b + [0.0] * c + [0.0] * d
    second = [1.0] * a + [0.0] * b + [1.0] * c + [0.0] * d
    assert permutation_test(first, second) == pytest.approx(mcnemar(PairedCounts(a, b, c, d)))


@pytest.mark.parametrize("tasks", [200, 5000])
def test_random_signs_agree_with_the_exact_test(tasks: int) -> None:
    """More tasks than can be enumerated; single trials, so the answer is known."""
    worse, better = 8 * tasks // 100, 13 * tasks // 100
    if tasks == 5000:
        worse, better = 320, 360
    first, second = np.zeros(tasks), np.zeros(tasks)
    first[:worse] = 1
    second[worse : worse + better] = 1
    exact = mcnemar(PairedCounts(0, worse, better, tasks - worse - better))
    error = math.sqrt(exact * (1 - exact) / 20_000)
    assert permutation_test(first, second) == pytest.approx(exact, abs=4 * error)


def test_random_signs_of_many_different_numbers_agree_with_the_normal_limit() -> None:
    rng = np.random.default_rng(5)
    differences = rng.normal(0, 1, 3000)
    differences += 0.03 - differences.mean()
    z = abs(differences.sum()) / math.sqrt((differences**2).sum())
    expected = math.erfc(z / math.sqrt(2))
    assert 0.01 < expected < 0.5
    assert permutation_test(np.zeros(3000), differences) == pytest.approx(expected, rel=0.1)


def test_permutation_is_repeatable_and_never_zero() -> None:
    first, second = np.zeros(60), np.ones(60)
    assert permutation_test(first, second) == permutation_test(first, second) == 1 / 20_001
    assert permutation_test([], []) == permutation_test([0.5], [0.5]) == 1.0
    with pytest.raises(UserError, match="2 against 1"):
        permutation_test([1, 2], [1])
