"""A driver's step says whether it did what was asked, and everything else follows its outcome."""

from typing import Any

import pytest

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.webshop.shop import shop
from agentquest.lib import Action, Observation, State
from agentquest.lib.game import DriverGame
from agentquest.running.factory import make_benchmark
from stairs import Stairs


def test_an_observation_follows_the_outcome() -> None:
    driver = Stairs()
    seen = [driver.reset(), *(driver.step(Action("up")) for _ in range(3))]
    assert [one.success for one in seen] == [False, False, False, True]
    assert [one.can_proceed for one in seen] == [True, True, True, False]
    assert [one.admissible for one in seen] == [("up",), ("up",), ("up",), ()]
    assert driver.metrics.success
    assert driver.solved


def test_a_step_says_whether_the_command_was_carried_out_after_one_look_up() -> None:
    driver = Stairs()
    driver.reset()
    assert driver.step(Action("up")).valid
    assert not driver.step(Action("fly")).valid
    assert driver.lookups == 2


def test_whether_a_command_would_be_carried_out_is_asked_without_doing_it() -> None:
    driver = Stairs()
    driver.reset()
    assert driver.accepts("up")
    assert not driver.accepts("fly")
    assert (driver.height, driver.lookups) == (0, 0)


def test_nothing_is_carried_out_once_the_episode_is_over() -> None:
    game = DriverGame(Stairs(), lambda driver: None)
    game.reset()
    for _ in range(3):
        game.step("up")
        assert game.valid
    assert not game.driver.accepts("up")
    game.step("up")
    assert not game.valid


class Older(Stairs):
    """Says beforehand what it takes; its `_step` says nothing."""

    def accepts(self, value: str) -> bool:
        return value in ("up", "down")

    def _step(self, action: Action) -> tuple[State, Observation]:
        state, _ = super()._step(action)
        return state, Observation("Fine.", text="Fine.")


@pytest.mark.parametrize(("command", "valid"), [("down", True), ("fly", False)])
def test_a_driver_that_only_says_beforehand_what_it_takes_is_believed(
    command: str, valid: bool
) -> None:
    driver = Older()
    driver.reset()
    assert driver.step(Action(command)).valid is valid


@pytest.mark.parametrize(
    ("name", "owner", "method", "command"),
    [
        ("alfworld", AlfWorldEngine, "_find", "look"),
        ("webshop", shop, "parse", "search[red shoes]"),
    ],
)
def test_a_step_looks_its_command_up_once(
    name: str, owner: Any, method: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = make_benchmark(name)
    driver = benchmark.driver(benchmark.tasks()[0])
    driver.reset()
    calls, real = [], getattr(owner, method)

    def count(*given: Any) -> Any:
        calls.append(given)
        return real(*given)

    monkeypatch.setattr(owner, method, count)
    assert driver.step(driver.action_class(value=command)).valid
    assert len(calls) == 1
