"""Whatever the narrator prints about a game is understood, in both dialects."""

import random

import pytest

from agentquest.benchmarks.alfworld.engine import narrator
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.reading import (
    Known,
    read_goal,
    read_statements,
    strip_location,
)
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem

SENTENCES = [
    text
    for value in vars(narrator).values()
    for text in (value.values() if isinstance(value, dict) else [value])
    if isinstance(text, str) and ("%s" in text or text == narrator.CARRY_NOTHING)
]


def test_there_are_sentences() -> None:
    assert len(SENTENCES) == 18


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_sentence_is_read_back(sentence: str) -> None:
    names = ("potato 1", "fridge 2")[: sentence.count("%s")]
    (said,) = read_statements(f"Hm. {sentence % names} Nothing else.")
    assert said.sentence == sentence
    assert {said.thing, said.place, *said.names} - {""} <= set(names)
    assert (said.thing or said.place or said.names) or sentence == narrator.CARRY_NOTHING


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
@pytest.mark.parametrize("position", range(0, 130, 13))
def test_what_was_read_is_so(position: int, dialect: str) -> None:
    task = find_tasks("valid_unseen", data_path="builtin")[position]
    game = AlfWorldEngine.from_text(open_problem(task.problem), dialect)
    known, dice = Known(), random.Random(position)
    known.read(game.reset())
    world = game.world
    for _ in range(80):
        command = dice.choice(game.admissible)
        known.read(game.step(command))
        state = game.state
        held = world.object_names[state.held] if state.held >= 0 else ""
        assert known.held == held
        receptacle = world.receptacle_names.index(known.here) if known.here else None
        if receptacle is not None:
            assert state.location in world.receptacle_locations[receptacle]
        for verb, mask in (("heat", state.hot), ("clean", state.clean), ("slice", state.sliced)):
            for thing, treated in known.treated.items():
                bit = 1 << world.object_names.index(thing)
                assert (verb in treated) <= bool(mask & bit)
    assert set(known.contents) == set(world.receptacle_names)


def test_other_texts_say_nothing() -> None:
    for text in ("", "Nothing happens.", "You arrive at the end.", "On the desk, you see it."):
        assert list(read_statements(text)) == []
    assert read_goal("You see a desk 1.") is None


def test_an_unending_list_is_not_read_for_ever() -> None:
    assert list(read_statements("On the desk 1, you see a " * 20_000)) == []


def test_only_a_location_is_left_out() -> None:
    rest = "On the desk 1, you see nothing."
    assert strip_location(f"You arrive at loc 7. {rest}") == rest
    assert strip_location(f"You arrive at desk 1. {rest}") == f"You arrive at desk 1. {rest}"
