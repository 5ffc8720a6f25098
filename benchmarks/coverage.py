"""How often 95% intervals hold the truth, and how often tests see a difference that is not there.

Tasks are drawn anew in every repetition: each has its own chance of success, from a beta
distribution whose mean is the rate and whose spread is the intraclass correlation. The table of
docs/metrics.md is this module's output; a smaller grid is a test.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentquest.metrics.statistics import (
    FEW,
    chance_of_all,
    chance_of_any,
    estimate_difference,
    estimate_mean,
)

Array = NDArray[np.floating[Any]]
Draw = Callable[[np.random.Generator, int], Array]

TASKS = (3, 5, 10, 20, 50, 134, 500)
TRIALS = (1, 2, 3, 5, 8)
RATES = (0.03, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97)
CORRELATIONS = (0.1, 0.3, 0.7)
_K, _OF = 3, 5
_MANY = 400_000


@dataclass(frozen=True)
class Cell:
    """One setting: what it is, how often the interval held the truth, and its mean width."""

    kind: str
    tasks: int
    setting: str
    covered: float
    width: float


def rates(
    repetitions: int,
    seed: int,
    tasks: Sequence[int] = TASKS,
    trials: Sequence[int] = TRIALS,
    chances: Sequence[float] = RATES,
) -> Iterator[Cell]:
    """Success rates, with one trial or several."""
    rng = np.random.default_rng(seed)
    for n in tasks:
        for times in trials:
            for rate in chances:
                # With one trial of a task nothing depends on how alike trials are.
                for icc in CORRELATIONS if times > 1 else CORRELATIONS[:1]:
                    draw = _draw_shares(rate, icc, times)
                    setting = f"{times} trials, rate {rate}, correlation {icc}"
                    yield _cell("rate", n, setting, draw, rate, repetitions, rng)


def means(repetitions: int, seed: int, tasks: Sequence[int] = TASKS) -> Iterator[Cell]:
    """Skewed, bounded and near-ceiling means on a scale from 0 to 1."""
    rng = np.random.default_rng(seed)
    for n in tasks:
        for name, draw in MEANS.items():
            truth = float(draw(np.random.default_rng(seed), _MANY).mean())
            yield _cell("mean", n, name, draw, truth, repetitions, rng)


def chances_of_k(repetitions: int, seed: int, tasks: Sequence[int] = TASKS) -> Iterator[Cell]:
    """pass@3 and pass^3 of five trials."""
    rng = np.random.default_rng(seed)
    for n in tasks:
        for name, chance in (("pass@3", chance_of_any), ("pass^3", chance_of_all)):
            values = np.array([chance(_OF, won, _K) for won in range(_OF + 1)])
            for rate in RATES:
                for icc in CORRELATIONS:
                    draw = _draw_shares(rate, icc, _OF, values)
                    truth = float(draw(np.random.default_rng(seed), _MANY).mean())
                    setting = f"{name}, rate {rate}, correlation {icc}"
                    yield _cell("pass", n, setting, draw, truth, repetitions, rng)


def differences(
    repetitions: int,
    seed: int,
    tasks: Sequence[int] = TASKS,
    trials: Sequence[int] = TRIALS,
    icc: float = 0.3,
) -> Iterator[tuple[Cell, bool]]:
    """Differences of two runs on the same tasks, and whether the runs are equally good."""
    rng = np.random.default_rng(seed)
    pairs = [(rate, rate) for rate in RATES] + [(0.5, 0.6), (0.3, 0.7), (0.9, 0.97), (0.03, 0.1)]
    for n in tasks:
        for times in trials:
            for first, second in pairs:
                covered, width = 0, 0.0
                for _ in range(repetitions):
                    # Half of the tasks are as hard for the one as for the other.
                    one = _draw_chances(rng, first, icc, n)
                    other = _draw_chances(rng, second, icc, n)
                    if first == second:
                        other = np.where(rng.random(n) < 0.5, one, other)
                    low, high = _compare(
                        rng.binomial(times, one), rng.binomial(times, other), times
                    )
                    covered += low <= second - first <= high
                    width += high - low
                setting = f"{times} trials, rates {first} and {second}"
                cell = Cell("difference", n, setting, covered / repetitions, width / repetitions)
                yield cell, first == second


def _compare(
    before: NDArray[np.integer[Any]], after: NDArray[np.integer[Any]], trials: int
) -> tuple[float, float]:
    mixed = ((before > 0) & (before < trials)) | ((after > 0) & (after < trials))
    telling = float(np.where(mixed, trials, 1).mean())
    found = estimate_difference(before / trials, after / trials, trials=telling)
    assert found is not None
    return found[0].low, found[0].high


def _cell(
    kind: str,
    tasks: int,
    setting: str,
    draw: Draw,
    truth: float,
    repetitions: int,
    rng: np.random.Generator,
) -> Cell:
    covered, width = 0, 0.0
    for _ in range(repetitions):
        found = estimate_mean(draw(rng, tasks))
        assert found is not None
        covered += found.low <= truth <= found.high
        width += found.high - found.low
    return Cell(kind, tasks, setting, covered / repetitions, width / repetitions)


def _draw_chances(rng: np.random.Generator, rate: float, icc: float, tasks: int) -> Array:
    scale = 1 / icc - 1
    return rng.beta(rate * scale, (1 - rate) * scale, tasks)


def _draw_shares(rate: float, icc: float, trials: int, values: Array | None = None) -> Draw:
    """The tasks' shares of successes, or what `values` gives for each number of successes."""
    known = np.arange(trials + 1) / trials if values is None else values

    def draw(rng: np.random.Generator, tasks: int) -> Array:
        return known[rng.binomial(trials, _draw_chances(rng, rate, icc, tasks))]

    return draw


def _mix(chance: float, at: float, other: Draw) -> Draw:
    """`at` with this chance, else a draw of the other."""
    return lambda rng, n: np.where(rng.random(n) < chance, at, other(rng, n))


MEANS: dict[str, Draw] = {
    "progress, 90% reach the end": _mix(0.9, 1.0, lambda rng, n: rng.beta(2, 2, n)),
    "progress, 97% reach the end": _mix(0.97, 1.0, lambda rng, n: rng.beta(2, 2, n)),
    "reward, 30% full and 10% none": _mix(
        0.3, 1.0, _mix(0.14, 0.0, lambda rng, n: rng.beta(3, 2, n))
    ),
    "steps, 20% at the limit": _mix(
        0.2, 1.0, lambda rng, n: np.minimum(rng.gamma(4, 0.06, n), 1.0)
    ),
    "skewed, lognormal": lambda rng, n: np.minimum(rng.lognormal(-3, 1, n), 1.0),
    "skewed, near the floor": lambda rng, n: rng.beta(0.3, 3, n),
    "almost always 0": lambda rng, n: rng.beta(0.05, 3, n),
}


def _summarise(name: str, cells: Iterable[Cell]) -> Iterator[str]:
    by_tasks: dict[int, list[Cell]] = {}
    for cell in cells:
        by_tasks.setdefault(cell.tasks, []).append(cell)
    for tasks, some in by_tasks.items():
        covered = [cell.covered for cell in some]
        marked = f"{tasks} (few)" if tasks < FEW else str(tasks)
        yield (
            f"| {name} | {marked} | {len(some)} | {min(covered):.3f} | {np.mean(covered):.3f} |"
            f" {np.mean([c >= 0.93 for c in covered]):.0%} |"
            f" {np.mean([cell.width for cell in some]):.3f} |"
        )


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=1000, help="draws of each setting")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    size = (given.repetitions, given.seed)
    sys.stdout.write(
        f"{given.repetitions} repetitions of each setting, seed {given.seed}; nominal 95%\n\n"
        "| figure | tasks | settings | least coverage | mean | at least .93 | mean width |\n"
        "|---|---|---|---|---|---|---|\n"
    )
    for name, cells in (
        ("rates", rates(*size)),
        ("means", means(*size)),
        ("pass@3, pass^3", chances_of_k(*size)),
    ):
        for line in _summarise(name, cells):
            sys.stdout.write(line + "\n")
            sys.stdout.flush()
    compared = list(differences(*size))
    for line in _summarise("differences", (cell for cell, _ in compared)):
        sys.stdout.write(line + "\n")
    sys.stdout.write(
        "\nRuns that are equally good, called different at p < 0.05:\n\n"
        "| tasks | settings | least | mean | most |\n|---|---|---|---|---|\n"
    )
    for tasks in TASKS:
        wrong = [1 - cell.covered for cell, equal in compared if equal and cell.tasks == tasks]
        sys.stdout.write(
            f"| {tasks} | {len(wrong)} | {min(wrong):.3f} | {np.mean(wrong):.3f} |"
            f" {max(wrong):.3f} |\n"
        )
    return 0
