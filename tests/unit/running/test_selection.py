"""Which tasks are played: evenly spread, never twice, the same everywhere for the same seed."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import UnknownName
from agentquest.lib import Task
from agentquest.running.selection import pick_by_name, select

TYPES = ("pick", "look", "clean", "heat", "cool", "two")

# How many games there are of each type.
STOCKS = st.lists(st.integers(0, 12), min_size=1, max_size=6)


def made(stock: list[int]) -> list[Task]:
    return [
        Task(f"split/{TYPES[kind]}-{number}/trial", TYPES[kind], "split", f"{kind}/{number}")
        for kind, count in enumerate(stock)
        for number in range(count)
    ]


def counts(tasks: tuple[Task, ...], types: tuple[str, ...]) -> list[int]:
    return [sum(task.task_type == name for task in tasks) for name in types]


@given(STOCKS, st.integers(1, 80), st.integers(0, 5))
def test_the_types_share_the_games_evenly(stock: list[int], wanted: int, seed: int) -> None:
    types = TYPES[: len(stock)]
    chosen = select(made(stock), types, seed, wanted)
    found = counts(chosen.tasks, types)
    assert sum(found) == len(set(chosen.tasks)) == min(wanted, sum(stock))
    for mine, there in zip(found, stock, strict=True):
        # A type has fewer than the others only when it has no more.
        assert mine >= max(found) - 1 or mine == there
    # A type that cannot give its even share is named, and only then.
    shares = [wanted // len(types) + (place < wanted % len(types)) for place in range(len(types))]
    short = [name for name, share, n in zip(types, shares, stock, strict=True) if n < share]
    assert [note.split(":")[0] for note in chosen.notes] == short


def test_asking_for_as_many_as_there_are_gives_them_all() -> None:
    tasks = made([2, 9, 1, 5, 5, 3])
    assert set(select(tasks, TYPES, 1, 25).tasks) == set(tasks)
    assert len(select(tasks, TYPES, 1, 24).tasks) == 24
    assert len(select(tasks, TYPES, 1, 100).tasks) == 25


@given(STOCKS, st.integers(1, 40), st.integers(0, 5), st.randoms())
def test_the_order_in_which_files_are_found_does_not_matter(
    stock: list[int], wanted: int, seed: int, shuffler: random.Random
) -> None:
    tasks = made(stock)
    shuffled = list(tasks)
    shuffler.shuffle(shuffled)
    types = TYPES[: len(stock)]
    assert select(tasks, types, seed, wanted) == select(shuffled, types, seed, wanted)


@given(st.integers(1, 30), st.integers(1, 30), st.integers(0, 5))
def test_a_smaller_choice_is_part_of_a_larger_one(one: int, two: int, seed: int) -> None:
    tasks = made([12] * 6)
    small, large = sorted((one, two))
    assert set(select(tasks, TYPES, seed, small).tasks) <= set(
        select(tasks, TYPES, seed, large).tasks
    )


def test_the_seed_decides_and_the_global_generator_does_not() -> None:
    tasks = made([12] * 6)
    random.seed(1)
    one = select(tasks, TYPES, 42, 12)
    random.seed(2)
    assert select(tasks, TYPES, 42, 12) == one
    assert select(tasks, TYPES, 43, 12) != one


@given(STOCKS, st.integers(1, 12))
def test_a_number_for_each_type(stock: list[int], each: int) -> None:
    types = TYPES[: len(stock)]
    chosen = select(made(stock), types, 1, None, each)
    assert counts(chosen.tasks, types) == [min(each, there) for there in stock]


def test_without_a_number_all_are_played_the_types_in_turn() -> None:
    tasks = made([3, 2])
    chosen = select(tasks, TYPES, 1).tasks
    first, second = TYPES[:2]
    assert [task.task_type for task in chosen] == [first, second, first, second, first]
    assert sorted(task.id for task in chosen) == sorted(task.id for task in tasks)


def test_types_take_turns() -> None:
    chosen = select(made([3] * 6), TYPES, 1, 12).tasks
    assert [task.task_type for task in chosen] == [*TYPES, *TYPES]


def test_tasks_by_name() -> None:
    tasks = made([2, 11])
    exact = pick_by_name(tasks, ["split/look-1/trial", "PICK-0"])
    assert [task.id for task in exact.tasks] == ["split/look-1/trial", "split/pick-0/trial"]
    assert len(pick_by_name(tasks, ["pick-0", "split/pick-0/trial"]).tasks) == 1
    with pytest.raises(UnknownName, match="'look-1' matches 2 tasks of this split, such as"):
        pick_by_name(tasks, ["look-1"])
    with pytest.raises(UnknownName, match="no task of this split is called 'sofa'"):
        pick_by_name(tasks, ["sofa"])
    for odd in ("x" * 300, "\0"):  # no file can be called so
        with pytest.raises(UnknownName, match="no task of this split"):
            pick_by_name(tasks, [odd])
