"""One session: the same turns as the driver's, and nothing that happens by itself."""

import copy
import pickle
import random
from collections.abc import Callable

import pytest

from agentquest.errors import UnknownName, UserError
from agentquest.lib import Arena, Session
from agentquest.lib.game import DriverGame
from agentquest.running.factory import make_benchmark


@pytest.fixture(scope="module", params=["alfworld", "webshop"])
def arena(request: pytest.FixtureRequest) -> Arena:
    return Arena(make_benchmark(request.param, {"data_path": "builtin"}))


def _walk(session: Session, steps: int, dice: random.Random) -> list[str]:
    """Some sensible commands and some nonsense, none that ends the game in a shop."""
    commands = []
    for _ in range(steps):
        possible = [each for each in session.last.admissible if each != "click[buy now]"]
        command = dice.choice([*possible, "fly", ""])
        commands.append(command.replace("<query>", "red shoes"))
        session.step(commands[-1])
    return commands


def test_a_session_says_what_the_driver_says(arena: Arena) -> None:
    for index in range(4):
        session = Session(arena, max_steps=None)
        first = session.reset(index)
        commands = _walk(session, 25, random.Random(index))
        commands += session.plan()
        driver = arena.benchmark.driver(session.task)
        told = driver.reset()
        assert (first.text, tuple(first.admissible)) == (told.text, told.admissible)
        assert session.goal == driver.metrics.goal
        session.reset()
        for command in commands:
            accepted = driver.accepts(command)
            told, turn = driver.step(driver.action_class(value=command)), session.step(command)
            outcome = driver.outcome
            assert turn.text == told.text
            assert tuple(turn.admissible) == told.admissible
            assert (turn.reward, turn.terminated) == (outcome.reward, outcome.done)
            assert (turn.won, turn.valid) == (outcome.success, accepted)
            if turn.terminated:
                break
        assert session.last.won
        assert session.plan() == []


def test_a_game_through_the_driver_is_the_same_game(arena: Arena) -> None:
    benchmark, task = arena.benchmark, arena.task(3)
    quick, slow = benchmark.game(task), DriverGame(benchmark.driver(task), benchmark.oracle)
    assert quick.reset() == slow.reset()
    assert quick.goal == slow.goal
    assert quick.step("no such command") == slow.step("no such command")
    assert not slow.valid
    for command in quick.plan():
        assert slow.plan()[0] == command
        assert quick.step(command) == slow.step(command)
        assert list(quick.admissible) == list(slow.admissible)
        assert (quick.valid, quick.done, quick.won, quick.reward) == (
            slow.valid, slow.done, slow.won, slow.reward,
        )  # fmt: skip
    assert slow.won


def test_once_over_nothing_changes(arena: Arena) -> None:
    session = Session(arena)
    session.reset(0)
    for command in session.plan():
        last = session.step(command)
    assert last.terminated
    assert last.won
    assert not last.truncated
    assert session.step("look") is last
    assert session.step(last.admissible[0] if last.admissible else "x") is last
    assert session.reset().steps == 0, "only a reset starts anew"


def test_a_step_limit_truncates_and_does_not_win(arena: Arena) -> None:
    session = Session(arena, max_steps=3)
    session.reset(0)
    turns = [session.step("nonsense") for _ in range(5)]
    assert [turn.truncated for turn in turns] == [False, False, True, True, True]
    assert not turns[-1].terminated
    assert not turns[-1].won
    assert turns[-1].over
    assert turns[-1].steps == 3
    assert not turns[0].valid


def test_an_answer_without_a_command_costs_a_step(arena: Arena) -> None:
    session = Session(arena, max_steps=2)
    first = session.reset(0)
    missed = session.miss("say something I can do")
    assert (missed.text, missed.valid, missed.steps) == ("say something I can do", False, 1)
    assert missed.admissible == first.admissible
    last = session.miss("again")
    assert last.truncated
    assert session.miss("and again") is last


def test_winning_with_the_last_step_is_no_truncation(arena: Arena) -> None:
    session = Session(arena, max_steps=None)
    session.reset(0)
    plan = session.plan()
    session = Session(arena, max_steps=len(plan))
    session.reset(0)
    for command in plan:
        last = session.step(command)
    assert last.terminated
    assert not last.truncated


def test_tasks_by_index_id_and_split(arena: Arena) -> None:
    session = Session(arena)
    other = next(name for name in arena.benchmark.splits if name != arena.split)
    session.reset(2)
    here = session.task
    assert here == arena.benchmark.tasks()[2]
    session.reset(2, split=other)
    there = session.task
    assert there.split == other
    session.reset(here.id)
    assert session.task == here
    session.reset(there.id)
    assert session.task == there
    session.reset(split=other)
    assert session.task == arena.tasks(other)[0]
    assert len(arena.tasks(other)) == len(arena.benchmark.in_split(other).tasks())


@pytest.mark.parametrize("wrong", [-1, 10**9, "no such task", "x/99999999-y", "", True, 1.5, []])
def test_a_task_that_is_not_there_is_named(arena: Arena, wrong: object) -> None:
    with pytest.raises(UserError, match="task"):
        Session(arena).reset(wrong)  # type: ignore[arg-type]


def test_a_split_that_is_not_there_is_named(arena: Arena) -> None:
    with pytest.raises(UnknownName, match="split"):
        Session(arena).reset(0, split="nowhere")


def test_wrong_use_is_said_clearly(arena: Arena) -> None:
    session = Session(arena)
    with pytest.raises(UserError, match="reset"):
        session.step("look")
    with pytest.raises(UserError, match="reset"):
        session.plan()
    session.reset(0)
    for wrong in (None, 3, ["look"], b"look"):
        with pytest.raises(UserError, match="must be text"):
            session.step(wrong)  # type: ignore[arg-type]
    assert session.last.steps == 0
    session.close()
    session.close()
    for use in (session.reset, lambda: session.step("look"), session.plan, lambda: session.task):
        with pytest.raises(UserError, match="closed"):
            use()
    with pytest.raises(UserError, match="max_steps"):
        Session(arena, max_steps=0)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, lambda session: pickle.loads(pickle.dumps(session))]
)
def test_copies_of_sessions_share_nothing_that_changes(
    arena: Arena, duplicate: Callable[[Session], Session]
) -> None:
    session = Session(arena)
    session.reset(1)
    session.step(session.plan()[0])
    twin = duplicate(session)
    rest = session.plan()
    for command in rest:
        session.step(command)
    assert session.last.won
    assert twin.last.steps == 1
    assert twin.plan() == rest
    assert twin.step("no such command").steps == 2
    assert not twin.last.won
