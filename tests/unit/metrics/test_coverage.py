"""A small part of the grid of `make bench BENCH=coverage`: intervals hold the truth as often as
they say. Seeded, so a cell is below its limit always or never."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from agentquest.metrics import statistics

_FILE = Path(__file__).parents[3] / "benchmarks" / "coverage.py"
_REPETITIONS = 300


@pytest.fixture(scope="module")
def grid() -> ModuleType:
    spec = importlib.util.spec_from_file_location("coverage_grid", _FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["coverage_grid"] = module
    spec.loader.exec_module(module)
    return module


def find_low(cells: list) -> list:  # type: ignore[type-arg]
    assert len(cells) >= 10
    low = [cell for cell in cells if cell.covered < 0.93]
    assert len(low) <= 0.05 * len(cells), low
    return [cell for cell in cells if cell.covered < 0.9]


def test_rates(grid: ModuleType) -> None:
    chances, trials = (0.03, 0.1, 0.5, 0.97), (1, 5)
    assert find_low([*grid.rates(_REPETITIONS, 1, (10, 50, 134), trials, chances)]) == []


def test_means(grid: ModuleType) -> None:
    assert find_low([*grid.means(_REPETITIONS, 2, (10, 50))]) == []


def test_differences_and_the_size_of_their_test(grid: ModuleType) -> None:
    compared = [*grid.differences(_REPETITIONS, 3, (20, 50), (1, 5))]
    assert find_low([cell for cell, _ in compared]) == []
    wrong = [1 - cell.covered for cell, equal in compared if equal]
    assert np.mean(wrong) <= 0.05
    middle = [1 - cell.covered for cell, _ in compared if "0.5 and 0.5" in cell.setting]
    assert len(middle) == 4
    assert 0.02 < np.mean(middle) < 0.06


def test_the_grid_sees_an_interval_that_is_too_narrow(
    grid: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(statistics, "AT_EACH_BOUND", 0.0)
    cells = [*grid.rates(100, 1, (10, 50), (1,), (0.03, 0.97))]
    assert max(cell.covered for cell in cells) < 0.9
