"""The examples run as their users would run them: as scripts, in processes of their own."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import AlfWorldDriver, AlfWorldUtils

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run an example away from the repository, on a machine without any ALFWorld data."""

    def run(name: str, *arguments: str, says: str = "") -> str:
        environment = {k: v for k, v in os.environ.items() if k != "ALFWORLD_DATA"}
        environment |= {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
        done = subprocess.run(
            [sys.executable, "-W", "error", str(EXAMPLES / name), *arguments],
            input=says,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=tmp_path,
            env=environment,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run


def after(output: str, label: str) -> str:
    """What an example prints behind a label of its last lines."""
    (line,) = [line for line in output.splitlines() if line.startswith(label)]
    return line.removeprefix(label).strip()


def test_every_example_is_named_in_some_test() -> None:
    tests = Path(__file__).resolve().parents[1].rglob("test_*.py")
    tested = "".join(file.read_text(encoding="utf-8") for file in tests)
    for example in EXAMPLES.glob("*.py"):
        assert example.name in tested


def test_custom_metric(run: Run) -> None:
    output = run("custom_metric.py")
    lines = output.splitlines()
    first = float(lines[1].split()[0])
    assert 0 < first < 1
    assert [line.split(maxsplit=1) for line in lines[2:4]] == [
        [f"{first:.2f}", "dance"],
        [f"{first:.2f}", "look"],
    ]
    assert lines[-4].startswith(" 1.00  ")
    assert after(output, "refused:") == "1"
    assert after(output, "success:") == "True"
    assert re.fullmatch(r"[0-9.]+% \[[0-9.]+–[0-9.]+\]", after(output, "opened:"))


def test_custom_agent(run: Run) -> None:
    output = run("custom_agent.py")
    commands = [line for line in output.splitlines() if line.startswith("> ")]
    assert 1 < len(commands) <= 30
    assert after(output, "end:") in {"solved", "step_limit", "gave_up"}
    assert re.fullmatch(r"\d+%, 95% interval \d+% to \d+%", after(output, "success:"))
    rows = [line.split() for line in output.splitlines()[-3:]]
    assert all(len(row) == 4 and int(row[2]) <= 30 for row in rows)


def test_play_alfworld_without_anybody_there(run: Run) -> None:
    output = run("play_alfworld.py")
    assert output.startswith("-= Welcome to TextWorld, ALFRED! =-")
    assert after(output, "success:") == "False"
    assert after(output, "progress:") == "[]"


def test_play_alfworld_to_the_end(run: Run) -> None:
    problem = AlfWorldUtils.load_data("look_at_obj_in_light", "valid_seen", "builtin")[0]
    driver = AlfWorldDriver(problem)
    driver.reset()
    answers = ["hm", *(f"Action: {command}" for command in driver.oracle_actions()), "Action: look"]
    output = run("play_alfworld.py", problem, says="\n".join(answers) + "\n")
    assert "Could not parse agent output." in output
    assert after(output, "success:") == "True"
    progress = ast.literal_eval(after(output, "progress:"))
    assert len(progress) == len(answers) - 2
    assert progress[-1] == 1.0
