"""The programs behind `make bench` still run: each is started at a size that takes seconds.

What they measure says something about a machine, so only rows with figures are looked for.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from browser import CHROMIUM

ROOT = Path(__file__).resolve().parents[2]
SMALL = {
    "alfworld": "--no-reference --games 1 --steps 5 --repeats 1 --live 10",
    "evaluator": "--quick",
    "environments": "--no-reference --sizes 8 --shop-sizes 8 --rounds 2",
    "size": "--episodes 300",
    "a2a": "--games 2 --max-steps 5",
    "ray": "--nodes 1 --cores 1 --episodes 4 --model-episodes 4 --light 20 --envs 8",
    "scaling": "--sample 200",
    "providers": "--quick",
    "webshop": "--episodes 5 --products 0 --clients 2 --sessions 4",
    "viewer": "--quick",
    "coverage": "--repetitions 5",
}


def listed() -> set[str]:
    """The names that the usage line offers."""
    asked = [sys.executable, ROOT / "benchmarks" / "run.py", "nothing"]
    usage = subprocess.run(asked, capture_output=True, text=True).stderr
    return set(usage[usage.index("[") + 1 : usage.index(" [--help]")].split("|"))


def test_every_program_is_started() -> None:
    assert listed() == set(SMALL)


@pytest.mark.long
@pytest.mark.parametrize("name", SMALL)
def test_a_program_measures(name: str, tmp_path: Path) -> None:
    if name == "viewer" and CHROMIUM is None:
        pytest.skip("chromium is not installed")
    started = [sys.executable, ROOT / "benchmarks" / "run.py", name, *SMALL[name].split()]
    done = subprocess.run(started, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    with_figures = [line for line in done.stdout.splitlines() if re.search(r"\d", line)]
    assert len(with_figures) > 3, done.stdout
