"""Example games: there for every type and dialect, right, and never from a test split."""

import pytest

from agentquest.benchmarks.alfworld import homes, prompting
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS
from agentquest.benchmarks.alfworld.knowledge import SHUT
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES, TASK_TYPES
from agentquest.lib import Demonstration

MOST = 6  # as many as the configuration allows
EVERY = [(task.name, dialect) for task in TASK_TYPES for dialect in Dialect]


def first_texts(split: str, dialect: Dialect) -> dict[tuple[str, str], str]:
    """Goal and first observation of every game of a split, with its id."""
    texts = {}
    for game_id in homes.game_ids(split):
        home = homes.game(game_id)
        game = AlfWorldEngine.from_text(GameText(home.problem, home.goal), dialect)
        texts[home.goal, game.reset()] = game_id
    return texts


def source(example: Demonstration, task_type: str, dialect: Dialect) -> str:
    """The training game an example was made from."""
    for game_id in homes.game_ids("train"):
        if game_id.split("/")[1].startswith(f"{task_type}-"):
            home = homes.game(game_id)
            if home.goal == example.goal:
                game = AlfWorldEngine.from_text(GameText(home.problem, home.goal), dialect)
                if game.reset() == example.first_observation and all(
                    game.step(action) == observation for _, action, observation in example.turns
                ):
                    return game_id
    raise AssertionError(f"no training game begins like {example.goal!r}")


@pytest.mark.parametrize(("task_type", "dialect"), EVERY)
def test_they_exist_win_and_are_training_games(task_type: str, dialect: Dialect) -> None:
    shown = prompting.examples(task_type, dialect, MOST)
    assert len(shown) == MOST
    assert len({example.goal for example in shown}) == MOST
    for example in shown[:2]:
        home = homes.game(source(example, task_type, dialect))
        game = AlfWorldEngine.from_text(GameText(home.problem, home.goal), dialect)
        assert game.reset() == example.first_observation
        for thought, action, observation in example.turns:
            assert thought
            assert not game.won
            assert game.accepts(action) is (observation != NOTHING_HAPPENS)
            assert game.step(action) == observation
        assert game.won


@pytest.mark.parametrize(("task_type", "dialect"), EVERY)
def test_each_begins_with_a_plan_and_every_other_sets_a_mistake_right(
    task_type: str, dialect: Dialect
) -> None:
    for place, example in enumerate(prompting.examples(task_type, dialect, MOST)):
        assert example.turns[0][0].startswith("My plan: find a")
        failed = [n for n, turn in enumerate(example.turns) if turn[2] == NOTHING_HAPPENS]
        assert len(failed) == (place + 1) % 2
        for number in failed:
            _, early, _ = example.turns[number]
            reason, _, _ = example.turns[number + 1]
            assert reason.startswith("Nothing happened, because")
            assert example.turns[number + 2][1] == early


@pytest.mark.parametrize("task_type", [name for name in TASK_TYPE_NAMES if name != prompting.LOOK])
def test_the_second_opens_the_container_it_puts_things_in(task_type: str) -> None:
    _, second = prompting.examples(task_type, Dialect("0.4"), 2)
    target = second.turns[-1][1].partition(" to ")[2]
    assert target.split()[0] in SHUT
    assert f"open {target}" in [action for _, action, _ in second.turns]


def test_they_are_about_many_different_things() -> None:
    things = [
        next(action for _, action, _ in example.turns if action.startswith("take ")).split()[1]
        for task_type in TASK_TYPE_NAMES
        for example in prompting.examples(task_type, Dialect("0.4"), 2)
    ]
    assert len(things) == 12
    assert len(set(things)) >= 9
    for task_type in TASK_TYPE_NAMES:
        for example in prompting.examples(task_type, Dialect("0.4"), MOST):
            walks = _walks_with_something_in_hand(example)
            assert all(number == 1 for number in walks), example


def _walks_with_something_in_hand(example: Demonstration) -> list[int]:
    """How many walks there are between having a thing (treated) and the next use of it."""
    walks, count, carrying = [], 0, False
    for _, action, observation in example.turns:
        verb = action.split()[0]
        if observation == NOTHING_HAPPENS:
            continue
        if verb == "go":
            count += carrying
        elif carrying and verb not in ("open", "examine") and count:
            walks.append(count)
            count = 0
        carrying = verb not in ("put", "move") and (carrying or verb == "take")
        count = count if carrying else 0
    return walks


@pytest.mark.parametrize("task_type", TASK_TYPE_NAMES)
def test_fewer_examples_are_the_first_of_more(task_type: str) -> None:
    dialect = Dialect("0.4")
    assert prompting.examples(task_type, dialect, 0) == ()
    assert (
        prompting.examples(task_type, dialect, 2)
        == prompting.examples(task_type, dialect, MOST)[:2]
    )


@pytest.mark.parametrize("split", ["valid_unseen", "valid_seen", "valid_train"])
def test_no_example_is_a_game_of_a_validation_split(split: str) -> None:
    dialect = Dialect("0.4")
    known = first_texts(split, dialect)
    for task_type in TASK_TYPE_NAMES:
        for example in prompting.examples(task_type, dialect, MOST):
            assert (example.goal, example.first_observation) not in known


def test_each_dialect_speaks_its_own_put_command() -> None:
    for task_type in TASK_TYPE_NAMES:
        if task_type == "look_at_obj_in_light":
            continue
        for dialect, word in ((Dialect("0.3"), "put "), (Dialect("0.4"), "move ")):
            for example in prompting.examples(task_type, dialect, 2):
                last = example.turns[-1][1]
                assert last.startswith(word)
    assert "put [object] in/on [receptacle]" in prompting.instructions(Dialect("0.3"))
    assert "move [object] to [receptacle]" in prompting.instructions(Dialect("0.4"))
