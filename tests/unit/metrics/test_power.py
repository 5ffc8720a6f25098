"""Plans against tables, against simulated runs, and against the intervals that runs then get."""

import numpy as np
import pytest

from agentquest.errors import UserError
from agentquest.metrics.power import Prospect, estimate_icc, expect
from agentquest.metrics.statistics import estimate_difference, estimate_mean
from agentquest.metrics.table import metrics_table
from agentquest.records.outcome import End
from report_runs import manifest, record, rows_of


def draw_chances(rng: np.random.Generator, rate: float, icc: float, tasks: int) -> np.ndarray:
    scale = 1 / icc - 1
    return rng.beta(rate * scale, (1 - rate) * scale, tasks)


def test_the_planned_interval_is_the_one_that_a_run_gets() -> None:
    """81 of 135 single games: nothing is random about the interval of a given rate."""
    found = estimate_mean(np.arange(135) < 81)
    assert found is not None
    width = found.high - found.low
    assert Prospect(0.6).precision(135) == pytest.approx(width / 2, rel=1e-9)


@pytest.mark.parametrize("trials", [1, 3, 8])
def test_the_fewest_tasks_are_enough_and_one_less_is_not(trials: int) -> None:
    prospect = Prospect(0.6)
    for points in (0.02, 0.05, 0.2):
        tasks = prospect.tasks_for_precision(points, trials)
        assert tasks is not None
        assert prospect.precision(tasks, trials) <= points < prospect.precision(tasks - 1, trials)
        tasks = prospect.tasks_for_difference(points, trials)
        assert tasks is not None
        shown = prospect.detectable(tasks, trials)
        assert shown is not None
        assert shown <= points + 1e-5
        before = prospect.detectable(tasks - 1, trials)
        assert before is None or before > points - 1e-5


def test_the_textbook_answer_for_single_independent_games() -> None:
    """1.96² · 0.25 / 0.05² is 384.2, and (1.96 + 0.84)² · (0.25 + 0.24) / 0.1² is 384.6."""
    assert Prospect(0.5).tasks_for_precision(0.05) == pytest.approx(385, abs=4)
    assert Prospect(0.5, shared=0.0).tasks_for_difference(0.1) == pytest.approx(385, abs=6)


@pytest.mark.parametrize(("tasks", "trials", "icc"), [(134, 1, 0.3), (40, 5, 0.3), (60, 3, 0.7)])
def test_a_detectable_difference_is_seen_as_often_as_promised(
    tasks: int, trials: int, icc: float
) -> None:
    rng = np.random.default_rng(tasks)
    points = Prospect(0.5, icc, 0.0).detectable(tasks, trials)
    assert points is not None
    seen = 0
    for _ in range(600):
        first, second = (
            rng.binomial(trials, draw_chances(rng, rate, icc, tasks)) / trials
            for rate in (0.5, 0.5 + points)
        )
        found = estimate_difference(first, second, trials=trials)
        assert found is not None
        seen += found[1].p_value() < 0.05
    assert seen / 600 == pytest.approx(0.8, abs=0.06)


def test_what_no_number_of_tasks_can_do_is_none() -> None:
    assert Prospect(0.5).detectable(3) is None
    with pytest.raises(UserError, match="no rate is 60 points"):
        Prospect(0.5).tasks_for_difference(0.6)
    with pytest.raises(UserError, match="rate must be"):
        Prospect(1.5)


@pytest.mark.parametrize("icc", [0.1, 0.4, 0.8])
def test_the_correlation_of_trials_is_found_again(icc: float) -> None:
    rng = np.random.default_rng(7)
    chances = draw_chances(rng, 0.6, icc, 3000)
    outcomes = {str(task): list(rng.random(4) < p) for task, p in enumerate(chances)}
    assert estimate_icc(outcomes) == pytest.approx(icc, abs=0.04)


def test_correlations_at_the_ends() -> None:
    assert estimate_icc({"a": [True, True], "b": [False, False]}) == 1.0
    assert estimate_icc({"a": [True, False], "b": [False, True]}) == 0.0
    assert estimate_icc({"a": [True], "b": [False]}) is None
    assert estimate_icc({"a": [True, True], "b": [True, True]}) is None


def test_runs_tell_their_rate_and_what_two_of_them_share() -> None:
    table = metrics_table(manifest())

    def run(wins: str) -> list:  # type: ignore[type-arg]
        ends = [End.SOLVED if one == "w" else End.STEP_LIMIT for one in wins]
        return rows_of([record(f"t{i:02d}", end) for i, end in enumerate(ends)], table)

    same, other = run("wwwwwwllll"), run("llllllwwww")
    assert expect(same) == Prospect(0.6, 0.3, 0.15)
    assert expect(same, same).shared == 1.0
    assert expect(same, other).shared == 0.0
    few = expect(same, same).tasks_for_difference(0.1)
    many = expect(same, other).tasks_for_difference(0.1)
    assert few is not None
    assert many is not None
    assert few < many
    with pytest.raises(UserError, match="no scored episode"):
        expect([])
