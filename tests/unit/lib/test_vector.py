"""Many sessions stepped together."""

import gc
import weakref
from functools import lru_cache

import numpy as np
import pytest

from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.benchmarks.alfworld.game import AlfWorldGame, open_game
from agentquest.errors import UserError
from agentquest.lib import Arena, Session, SessionVector


@pytest.fixture(scope="module")
def arena() -> Arena:
    return Arena(AlfWorldBenchmark(data_path="builtin"))


def test_each_task_is_played_by_a_group(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=3, group_n=2)
    turns = vector.reset([4, 5, 6])
    assert len(vector) == len(turns) == 6
    assert [turn.text for turn in turns[::2]] == [turn.text for turn in turns[1::2]]
    alone = Session(arena)
    assert [alone.reset(task).text for task in (4, 5, 6)] == [turn.text for turn in turns[::2]]


def test_copies_share_the_world_and_nothing_that_changes(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=1, group_n=3)
    vector.reset([0])
    games = [session.game for session in vector.sessions]
    assert all(isinstance(game, AlfWorldGame) for game in games)
    engines = [game.engine for game in games if isinstance(game, AlfWorldGame)]
    assert len({id(engine.world) for engine in engines}) == 1
    command = vector.sessions[0].plan()[0]
    first, second, third = vector.step([command, "look", None])
    assert first.text != second.text
    assert third.steps == 0
    assert engines[0].state != engines[1].state


def test_slots_end_one_by_one_and_are_reset_one_by_one(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=2, max_steps=30)
    vector.reset([0, 1])
    for command in vector.sessions[0].plan():
        last, other = vector.step([command, "look"])
    assert vector.running == [False, True]
    assert last.won
    again, other = vector.step(["look", "look"])
    assert again is last
    assert other.steps == last.steps + 1
    assert vector.turns == [again, other]
    fresh = vector.reset_slot(0, 7)
    assert vector.running == [True, True]
    assert vector.sessions[0].task == arena.task(7)
    assert fresh.steps == 0
    assert vector.turns[1] is other


def test_an_array_of_commands_is_as_good_as_a_list(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=2)
    vector.reset([0, 1])
    turns = vector.step(np.array(["look", "inventory"]))
    assert [turn.steps for turn in turns] == [1, 1]
    with pytest.raises(UserError, match="must be a list, not a dict"):
        vector.step({"look": 1, "inventory": 2})  # type: ignore[arg-type]


def test_a_wrong_batch_is_refused_before_anything_is_played(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=2, group_n=2)
    with pytest.raises(UserError, match="got 3 tasks for 2 groups"):
        vector.reset([0, 1, 2])
    vector.reset([0, 1])
    with pytest.raises(UserError, match="got 2 commands for 4 slots"):
        vector.step(["look", "look"])
    with pytest.raises(UserError, match="must be a list, not a str"):
        vector.step("look")
    with pytest.raises(UserError, match="command of slot 3 must be text, not int"):
        vector.step(["look", "look", "look", 5])  # type: ignore[list-item]
    assert [turn.steps for turn in vector.turns] == [0, 0, 0, 0]
    with pytest.raises(UserError, match="no slot 4"):
        vector.reset_slot(4)
    with pytest.raises(UserError, match="must be 1 or more"):
        SessionVector(arena, env_num=0)
    vector.close()
    with pytest.raises(UserError, match="closed"):
        vector.step(["look"] * 4)


def test_a_closed_vector_lets_go_of_its_games(arena: Arena) -> None:
    vector = SessionVector(arena, env_num=2, group_n=2)
    vector.reset([0, 1])
    games = [weakref.ref(session.game) for session in vector.sessions]
    assert all(game() is not None for game in games)
    vector.reset([2, 3])
    gc.collect()
    assert [game() for game in games] == [None] * 4, "those of the tasks before"
    games = [weakref.ref(session.game) for session in vector.sessions]
    vector.close()
    vector.close()
    gc.collect()
    assert [game() for game in games] == [None] * 4
    with pytest.raises(UserError, match="closed"):
        vector.reset([0, 1])


def test_games_asked_for_lately_are_read_once_and_share_a_world(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agentquest.benchmarks.alfworld import game as module

    opened: list[str] = []
    read = module.open_problem
    monkeypatch.setattr(
        module, "open_problem", lambda problem: opened.append(problem) or read(problem)
    )
    names = [task.problem for task in AlfWorldBenchmark(data_path="builtin").tasks()[:4]]
    monkeypatch.setattr(module, "_read_engine", lru_cache(2)(module._read_engine.__wrapped__))
    held = open_game(names[0], None)
    for name in names[1:]:
        open_game(name, None)
    open_game(names[3], None)
    assert opened == names, "the last was asked for lately"
    assert open_game(names[0], None).engine.world is held.engine.world, (
        "which is still being played"
    )
    assert opened == [*names, names[0]]
