"""The episode that the documentation prints comes out of the driver to the letter.

The document is read when the test runs; nothing of it is repeated here.
"""

import ast
from pathlib import Path
from typing import Any

import pytest

from agentquest.benchmarks.alfworld import AlfWorldAction, AlfWorldDriver
from shared_data import ALFWORLD, SHARED, needs_alfworld

pytestmark = needs_alfworld


def blocks() -> list[str]:
    """The fenced blocks of the document, without their fences."""
    (document,) = (SHARED / "seeds").glob("000_*.txt")
    parts = document.read_text(encoding="utf-8").split("```")
    return [part.partition("\n")[2].rstrip("\n") for part in parts[1::2]]


def printed_block(start: str) -> str:
    (found,) = [block for block in blocks() if block.startswith(start)]
    return found


@pytest.fixture
def printed() -> dict[str, Any]:
    export: dict[str, Any] = ast.literal_eval(printed_block("{'goal'"))
    return export


@pytest.fixture
def driver(printed: dict[str, Any]) -> AlfWorldDriver:
    split, task, trial = Path(printed["problem"]).parts[-3:]
    return AlfWorldDriver(ALFWORLD / "json_2.1.1" / split / task / trial, dialect="0.3")


def test_reset(driver: AlfWorldDriver) -> None:
    assert driver.reset().output == printed_block("-= Welcome to TextWorld")


def test_step(driver: AlfWorldDriver) -> None:
    # The closing quote is missing in the document here; its export, below, has it.
    expected = printed_block("You arrive at loc") + "'"
    driver.reset()
    assert driver.step(AlfWorldAction(value="go to garbagecan 1")).output == expected


def test_export(driver: AlfWorldDriver, printed: dict[str, Any]) -> None:
    driver.reset()
    for action in printed["actions"]:
        driver.step(AlfWorldAction(**action))
    export = driver.metrics.export(
        repetition_function_kwargs={"theta_a": 1, "num_execution_steps": 10}
    )
    assert list(export) == list(printed)
    for key in printed.keys() - {"progress", "problem"}:
        assert export[key] == printed[key], key
    assert Path(export["problem"]).parts[-3:] == Path(printed["problem"]).parts[-3:]


def test_progress_is_the_list_of_the_newer_document(
    driver: AlfWorldDriver, printed: dict[str, Any]
) -> None:
    driver.reset()
    for action in printed["actions"]:
        driver.step(AlfWorldAction(**action))
    # One of the six milestones is behind after each valid step; the third one was invalid.
    assert driver.metrics.progress() == [1 / 6, 2 / 6, 2 / 6]


def test_free_text(driver: AlfWorldDriver) -> None:
    driver.reset()
    raw = driver.step_raw(value="Here is the action. Action: go to cabinet 1")
    driver.reset()
    assert raw == driver.step(AlfWorldAction(value="go to cabinet 1"))
