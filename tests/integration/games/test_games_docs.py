"""docs/games.md is true: its code runs and says what stands behind it, its commands work."""

import re
import shlex
from pathlib import Path

import pytest

import warm_python
from agentquest.benchmarks.mastermind.benchmark import MasterMindBenchmark
from agentquest.benchmarks.sudoku.benchmark import SudokuBenchmark

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "games.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
(BASH,) = re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)


def run(*words: str, cwd: Path, says: str = "") -> str:
    done = warm_python.run(words, input=says, cwd=cwd, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_mastermind_from_python(tmp_path: Path) -> None:
    output = run("-c", PYTHON[0], cwd=tmp_path)
    assert output.endswith("You Won! True False\n[0.25, 0.5, 1.0]\n")
    assert "Start guessing the 4 digits number." in output


def test_sudoku_from_python(tmp_path: Path) -> None:
    output = run("-c", PYTHON[1], cwd=tmp_path)
    assert re.fullmatch(
        r"The value [1-9] is already in this 3x3 region. Nothing was changed.\n", output
    )


@pytest.mark.long
@pytest.mark.parametrize("line", [line for line in BASH.splitlines() if " launch " not in line])
def test_a_command(line: str, tmp_path: Path) -> None:
    """`launch` starts servers; tests/a2a plays these games over A2A."""
    _, *words = shlex.split(line)
    output = run("-m", "agentquest", *words, cwd=tmp_path, says="quit\n")
    assert output


def test_sizes() -> None:
    for benchmark, size in ((MasterMindBenchmark, 500), (SudokuBenchmark, 300)):
        assert set(benchmark.splits.values()) == {size}
        assert f"`test`, `dev`, `train`, {size} tasks each" in PAGE
    assert f"| {MasterMindBenchmark.step_limit} | {SudokuBenchmark.step_limit} |" in PAGE
