"""Random resamples and sign flips of many numbers, fast at any size.

Up to `_DRAWN` numbers every resample is drawn one by one. Beyond, the sorted
numbers are put into bins and only how often each bin is drawn is random; what
the numbers within a bin differ by is added as normal noise of the same
variance. Numbers with few different values are binned without any loss.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]

_DRAWN = 1000
_BINS = 64
_EXACT_FLIPS = 20
_FLIPS = 20_000
_CHUNK = 1 << 20


class Bins(NamedTuple):
    """How many numbers each bin holds, their mean and their variance."""

    sizes: NDArray[np.int64]
    means: Floats
    variances: Floats


def resampled_ratios(
    sums: Floats, counts: Floats, resamples: int, random: np.random.Generator
) -> Floats:
    """Sum of the sums by sum of the counts, for each resample of the pairs with replacement."""
    n = sums.size
    if n > _DRAWN:
        # To first order a ratio is the mean of these, and n is large.
        ratio, mean_count = sums.sum() / counts.sum(), counts.mean()
        return _resampled_means(ratio + (sums - ratio * counts) / mean_count, resamples, random)
    found = np.empty(resamples)
    rows = max(1, _CHUNK // n)
    for start in range(0, resamples, rows):
        some = slice(start, min(start + rows, resamples))
        drawn = random.integers(0, n, size=(some.stop - start, n), dtype=np.int32)
        found[some] = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    return found


def _resampled_means(values: Floats, resamples: int, random: np.random.Generator) -> Floats:
    bins, n = binned(values), values.size
    drawn = random.multinomial(n, bins.sizes / n, size=resamples)
    noise = random.standard_normal(resamples) * np.sqrt(drawn @ bins.variances)
    return np.clip((drawn @ bins.means + noise) / n, values.min(), values.max())


def binned(values: Floats) -> Bins:
    """The values by what they are where they are few, else in bins of equal size."""
    different, sizes = np.unique(values, return_counts=True)
    if different.size <= _BINS:
        return Bins(sizes, different, np.zeros(different.size))
    parts = np.array_split(np.sort(values), _BINS)
    return Bins(
        np.array([part.size for part in parts]),
        np.array([part.mean() for part in parts]),
        np.array([part.var() for part in parts]),
    )


def sign_flip_p_value(differences: Floats, seed: int = 0) -> float:
    """How often random signs make the sum of the differences at least as far from 0, two-sided.

    Every choice of signs is tried where there are few differences; else random
    ones, with the observed one counted among them, so that p is never 0.
    """
    sizes = np.abs(differences[differences != 0])
    if sizes.size == 0:
        return 1.0
    # Sums that are equal on paper must count as equal here.
    limit = abs(float(differences.sum())) * (1 - 1e-9) - 1e-12 * float(sizes.sum())
    if sizes.size <= _EXACT_FLIPS:
        sums: Floats = np.zeros(1)
        for size in sizes:
            sums = np.concatenate((sums + size, sums - size))
        return float(np.mean(np.abs(sums) >= limit))
    sums = _flipped_sums(sizes, np.random.default_rng(seed))
    return (1 + int(np.sum(np.abs(sums) >= limit))) / (1 + sums.size)


def _flipped_sums(sizes: Floats, random: np.random.Generator) -> Floats:
    """The sums of the sizes under random signs."""
    if sizes.size > _DRAWN:
        bins = binned(sizes)
        positive = random.binomial(bins.sizes, 0.5, size=(_FLIPS, bins.sizes.size))
        # The root of the mean square keeps the variance of a bin's sum.
        signed = (2 * positive - bins.sizes).astype(float)
        return signed @ np.sqrt(bins.means**2 + bins.variances)
    found = np.empty(_FLIPS)
    rows = max(1, _CHUNK // sizes.size)
    for start in range(0, _FLIPS, rows):
        some = slice(start, min(start + rows, _FLIPS))
        signs = random.integers(0, 2, size=(some.stop - start, sizes.size), dtype=np.int8)
        found[some] = 2 * (signs @ sizes) - sizes.sum()
    return found
