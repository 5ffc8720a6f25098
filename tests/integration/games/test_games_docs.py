"""docs/games.md has the sizes and limits of the benchmarks; test_pages runs its blocks."""

from pathlib import Path

from agentquest.benchmarks.mastermind.benchmark import MasterMindBenchmark
from agentquest.benchmarks.sudoku.benchmark import SudokuBenchmark

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "games.md").read_text(encoding="utf-8")


def test_sizes() -> None:
    for benchmark, size in ((MasterMindBenchmark, 500), (SudokuBenchmark, 300)):
        assert set(benchmark.splits.values()) == {size}
        assert f"`test`, `dev`, `train`, {size} tasks each" in PAGE
    assert f"| {MasterMindBenchmark.step_limit} | {SudokuBenchmark.step_limit} |" in PAGE
