"""The statistics recomputed with scipy and statsmodels."""

import warnings

import numpy as np
import pytest

from agentquest.metrics.statistics import (
    correct_p_values,
    estimate_difference,
    estimate_mean,
    t_cdf,
    t_quantile,
)

stats = pytest.importorskip("scipy.stats", reason="scipy comes with the dev extra")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    linear = pytest.importorskip("statsmodels.api", reason="statsmodels comes with the dev extra")
    multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.mark.parametrize("freedom", [0.5, 1, 1.5, 2.5, 10.5, 134.5, 5000.5, 1e6])
def test_students_distribution(freedom: float) -> None:
    for t in (-30.0, -3.0, -0.5, 0.0, 0.7, 2.0, 12.0):
        assert t_cdf(t, freedom) == pytest.approx(stats.t.cdf(t, freedom), rel=1e-8, abs=1e-300)
    for chance in (0.6, 0.8, 0.975, 0.9999):
        assert t_quantile(chance, freedom) == pytest.approx(stats.t.ppf(chance, freedom), rel=1e-8)


@pytest.mark.parametrize("size", [2, 30, 1500])
def test_without_bounds_intervals_and_tests_are_students(size: int) -> None:
    rng = np.random.default_rng(size)
    first, second = rng.gamma(2.0, 3.0, size), rng.gamma(2.2, 3.0, size)
    found, error = estimate_mean(first, bounds=None), stats.sem(first)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(
        stats.t.interval(0.95, size - 1, first.mean(), error)
    )
    result, theirs = estimate_difference(first, second, None), stats.ttest_rel(second, first)
    assert result is not None
    difference, spread = result
    assert spread.p_value() == pytest.approx(theirs.pvalue)
    interval = theirs.confidence_interval()
    assert (difference.low, difference.high) == pytest.approx((interval.low, interval.high))


def test_holms_correction() -> None:
    p_values = np.random.default_rng(3).beta(0.3, 2, 40).tolist()
    theirs = multitest.multipletests(p_values, method="holm")[1]
    assert correct_p_values(p_values) == pytest.approx(theirs.tolist())


@pytest.mark.parametrize(("tasks", "trials"), [(27, 5), (134, 3), (2000, 4)])
def test_clustered_rate(tasks: int, trials: int) -> None:
    """Against the cluster-robust standard error of a regression on nothing but a constant."""
    rng = np.random.default_rng(tasks)
    chances = rng.beta(0.5, 0.8, tasks)
    clusters = np.repeat(np.arange(tasks), trials)
    won = rng.random(clusters.size) < chances[clusters]
    fitted = linear.OLS(won * 1.0, np.ones(won.size)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters}
    )
    found = estimate_mean(won, clusters)
    assert found is not None
    error = fitted.bse[0]
    assert found.value == pytest.approx(fitted.params[0])
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert (found.low + found.high) / 2 == pytest.approx(found.value, abs=0.25 * error)
