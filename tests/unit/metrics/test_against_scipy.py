"""The statistics recomputed with scipy and statsmodels."""

import math
import warnings

import numpy as np
import pytest

from agentquest.metrics.paired import (
    PairedCounts,
    mcnemar,
    paired_mean_difference,
    permutation_test,
)
from agentquest.metrics.statistics import bootstrap_mean, rate, wilson

stats = pytest.importorskip("scipy.stats", reason="scipy comes with the dev extra")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    proportion = pytest.importorskip(
        "statsmodels.stats.proportion", reason="statsmodels comes with the dev extra"
    )
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    linear = pytest.importorskip("statsmodels.api")


@pytest.mark.parametrize(("successes", "total"), [(0, 12), (1, 3), (36, 135), (134, 134)])
@pytest.mark.parametrize("confidence", [0.9, 0.95])
def test_wilson(successes: int, total: int, confidence: float) -> None:
    low, high = proportion.proportion_confint(successes, total, 1 - confidence, method="wilson")
    found = wilson(successes, total, confidence)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)


@pytest.mark.parametrize("size", [30, 134, 1500])
@pytest.mark.parametrize("kind", ["gamma", "steps"])
def test_bootstrap(size: int, kind: str) -> None:
    """Two random answers to one question: they agree to within the noise of 2000 resamples."""
    rng = np.random.default_rng(size)
    values = rng.gamma(2.0, 3.0, size) if kind == "gamma" else rng.integers(5, 51, size) * 1.0
    theirs = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=5000, rng=np.random.default_rng(1)
    )
    found = bootstrap_mean(values)
    assert found is not None
    noise = 0.2 * theirs.standard_error
    interval = theirs.confidence_interval
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high), abs=noise)


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
    found = rate(won, clusters)
    assert found is not None
    error = fitted.bse[0]
    assert found.value == pytest.approx(fitted.params[0])
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert (found.low + found.high) / 2 == pytest.approx(found.value, abs=0.25 * error)


@pytest.mark.parametrize("table", [(30, 5, 12, 8), (0, 1, 9, 0), (3, 0, 0, 4), (50, 40, 61, 9)])
def test_mcnemar(table: tuple[int, int, int, int]) -> None:
    both, first, second, neither = table
    theirs = tables.mcnemar([[both, first], [second, neither]], exact=True)
    assert mcnemar(PairedCounts(*table)) == pytest.approx(theirs.pvalue)


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # scipy 1.15
@pytest.mark.parametrize("size", [5, 12, 60, 1500])
def test_permutation(size: int) -> None:
    rng = np.random.default_rng(size)
    first = rng.integers(0, 6, size) / 5
    second = np.clip(first + rng.normal(0.08 * math.sqrt(40 / size), 0.3, size).round(1), 0, 1)
    theirs = stats.permutation_test(
        (first, second),
        lambda a, b, axis: np.mean(b - a, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(2),
    )
    p_value = permutation_test(first, second)
    if size <= 12:
        assert p_value == pytest.approx(theirs.pvalue)
    else:
        error = math.sqrt(max(p_value * (1 - p_value), 1e-4) * 2 / 20_000)
        assert p_value == pytest.approx(theirs.pvalue, abs=4 * error)


def test_paired_mean_difference() -> None:
    rng = np.random.default_rng(9)
    first = rng.gamma(2.0, 3.0, 90)
    second = first + rng.normal(0.5, 1.0, 90)
    theirs = stats.bootstrap(
        (second - first,), np.mean, method="percentile", rng=np.random.default_rng(1)
    )
    found = paired_mean_difference(first, second)
    assert found is not None
    interval = theirs.confidence_interval
    assert (found.low, found.high) == pytest.approx(
        (interval.low, interval.high), abs=0.2 * theirs.standard_error
    )
