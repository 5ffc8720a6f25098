"""Logs of other people's runs are replayed: equal ones pass, one changed word is a difference."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver, homes

PROGRAM = Path(__file__).parents[2] / "conformance" / "logs.py"
HOME = homes.game(homes.game_ids("valid_unseen")[0])
NAME = HOME.id.partition("/")[2]
CALLS = {"go to": "goto", "take": "take", "use": "use", "open": "open"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "json_2.1.1" / HOME.id
    folder.mkdir(parents=True)
    (folder / "initial_state.pddl").write_text(HOME.problem, encoding="utf-8")
    (folder / "traj_data.json").write_text(json.dumps(HOME.traj_data), encoding="utf-8")
    return tmp_path


def play(data: Path) -> tuple[str, list[tuple[str, str]]]:
    """The opening and the oracle's game in dialect 0.3."""
    driver = AlfWorldDriver(problem=data / "json_2.1.1" / HOME.id, dialect="0.3")
    opening = "\n".join(driver.reset().text.split("\n\n")[1:])
    plan = list(driver.metrics.milestones)
    return opening, [(act, driver.step(AlfWorldAction(value=act)).text) for act in plan]


def write_adapt(data: Path, swap: tuple[str, str] = ("", "")) -> Path:
    opening, steps = play(data)
    turns = " think: I go.\nOK.\n>" + "".join(f" {act}\n{said}\n>" for act, said in steps)
    game = {"problem": opening, "trace": turns.replace(*swap), "reward": True}
    file = data / "adapt.json"
    file.write_text(json.dumps({"kind": {NAME: game}, "overall": {"rate": 1.0}}), encoding="utf-8")
    return file


def write_mint(data: Path) -> Path:
    _, steps = play(data)
    folder = data / "mint" / HOME.id
    folder.mkdir(parents=True)
    calls, answers = [], []
    for act, said in steps:
        verb = next(verb for verb in CALLS if act.startswith(verb))
        things = ", ".join(f'"{thing}"' for thing in act[len(verb) + 1 :].split(" from "))
        calls.append(f"{CALLS[verb]}({things})")
        answers.append(said.partition(". ")[2] if said.startswith("You arrive") else said)
    text = "Assistant:\n<execute>\n{}\n</execute>\n\nObservation:\n{}\n"
    written = text.format("\n".join(calls), "\n".join(answers))
    (folder / "gt_traj.txt").write_text(written, encoding="utf-8")
    return data / "mint"


def replay(data: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(PROGRAM), "--data", str(data), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_what_was_logged_is_what_the_engine_says(data: Path) -> None:
    steps = len(play(data)[1])
    done = replay(data, "--adapt", str(write_adapt(data)), "--mint", str(write_mint(data)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"adapt: 1 games, 1 openings, {steps} steps compared" in done.stdout
    assert f"mint: 1 games, 0 openings, {steps} steps compared" in done.stdout


def test_a_changed_word_is_a_difference(data: Path) -> None:
    done = replay(data, "--adapt", str(write_adapt(data, ("You pick up", "You take"))))
    assert done.returncode == 1
    assert "logged: You take" in done.stdout


def test_without_logs_or_data_it_could_not_run(data: Path) -> None:
    assert replay(data).returncode == 2
    assert replay(data, "--adapt", str(data / "nowhere.json")).returncode == 2
