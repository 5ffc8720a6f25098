"""The built-in homes as a data set: sizes, names, sameness everywhere, no leaks between splits."""

import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.homes.layouts import layout
from agentquest.benchmarks.alfworld.homes.rooms import scenes_of
from agentquest.benchmarks.alfworld.task_types import TASK_TYPE_NAMES
from agentquest.errors import DataError, UnknownName
from agentquest.lib.dice import Dice

PUBLISHED_COUNTS = {
    "train": (790, 308, 650, 459, 533, 813),
    "valid_seen": (35, 13, 27, 16, 25, 24),
    "valid_unseen": (24, 18, 31, 23, 21, 17),
    "valid_train": (46, 19, 37, 25, 28, 45),
}
ROOMS = ("kitchen", "living", "bedroom", "bathroom")
ID = re.compile(
    r"(?P<split>[a-z_]+)/(?P<type>[a-z_]+)-(?P<thing>[A-Za-z]+)-None-(?P<target>[A-Za-z]+)"
    r"-(?P<scene>\d+)/(?P<trial>trial_T\d{8}_\d{6}_\d{6})"
)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def body(game_id: str) -> str:
    """A problem without its name, so that equal games have equal bodies."""
    return homes.game(game_id).problem.partition("\n")[2]


@pytest.mark.parametrize("split", PUBLISHED_COUNTS)
def test_counts_per_type_are_the_published_ones(split: str) -> None:
    counts = Counter(homes.game(i).task_type for i in homes.game_ids(split))
    assert tuple(counts[name] for name in TASK_TYPE_NAMES) == PUBLISHED_COUNTS[split]


def test_sizes_of_the_splits() -> None:
    sizes = {split: len(homes.game_ids(split)) for split in homes.SPLITS}
    assert sizes == {"train": 3553, "valid_seen": 140, "valid_unseen": 134, "valid_train": 200}


@pytest.mark.parametrize("split", homes.SPLITS)
def test_ids_say_what_the_game_is(split: str) -> None:
    ids = homes.game_ids(split)
    assert list(ids) == sorted(set(ids))
    for game_id in ids[:: max(1, len(ids) // 100)]:
        made = homes.game(game_id)
        parts = ID.fullmatch(game_id)
        assert parts is not None
        assert (made.id, made.split, made.task_type) == (game_id, parts["split"], parts["type"])
        params = made.traj_data["pddl_params"]
        target = params["toggle_target"] or params["parent_target"]
        assert (params["object_target"], target) == (parts["thing"], parts["target"])
        assert made.traj_data["scene"]["scene_num"] == int(parts["scene"])
        assert made.traj_data["task_id"] == parts["trial"]
        assert parts["thing"].lower() in made.goal
        assert parts["target"].lower() in made.goal
        assert f"(problem plan_{parts['trial']})" in made.problem
        assert f"{parts['thing']}Type)" in made.problem.partition("(:goal")[2]
        assert f"{parts['target']}Type)" in made.problem.partition("(:goal")[2]


def test_both_goal_sentences_of_every_type_occur() -> None:
    seen: dict[str, set[str]] = {}
    for game_id in homes.game_ids("valid_seen"):
        made = homes.game(game_id)
        params = made.traj_data["pddl_params"]
        target = params["parent_target"] or params["toggle_target"]
        shape = re.sub(rf"\b{params['object_target'].lower()}\b", "X", made.goal)
        shape = re.sub(rf"\b{target.lower()}\b", "Y", shape)
        seen.setdefault(made.task_type, set()).add(shape)
    assert {name: len(shapes) for name, shapes in seen.items()} == dict.fromkeys(TASK_TYPE_NAMES, 2)


def test_rooms_of_unseen_games_never_occur_elsewhere() -> None:
    def furniture(split: str) -> set[frozenset[tuple[str, str]]]:
        unseen = split == "valid_unseen"
        rooms = chain.from_iterable(scenes_of(room, unseen) for room in ROOMS)
        return {frozenset((r.name, r.location) for r in layout(s).receptacles) for s in rooms}

    assert not furniture("valid_unseen") & furniture("train")
    assert len(furniture("valid_unseen")) == 12
    assert len(furniture("train")) == 108
    played = {
        split: {i.split("-")[-1].split("/")[0] for i in homes.game_ids(split)}
        for split in homes.SPLITS
    }
    assert not played["valid_unseen"] & (played["train"] | played["valid_seen"])
    assert played["valid_seen"] | played["valid_train"] <= played["train"]


def printed_furniture(game_id: str) -> str:
    """What an agent reads of a room before it does anything."""
    made = homes.game(game_id)
    introduction = AlfWorldEngine.from_text(GameText(made.problem, made.goal)).reset()
    return introduction.partition("you see ")[2].partition("\n")[0]


def test_the_furniture_that_unseen_games_print_is_never_printed_elsewhere() -> None:
    def printed(split: str) -> dict[str, str]:
        """Furniture by room: the first game of each stands for all, which have the same."""
        first = {i.split("-")[-1].split("/")[0]: i for i in reversed(homes.game_ids(split))}
        return {scene: printed_furniture(game_id) for scene, game_id in first.items()}

    unseen = printed("valid_unseen")
    assert len(set(unseen.values())) == len(unseen) == 12
    assert len(printed("train")) == 108
    for split in ("train", "valid_seen", "valid_train"):
        assert not set(unseen.values()) & set(printed(split).values())


def test_things_lie_in_two_places_about_as_often_as_in_the_published_games() -> None:
    """102 of 134 unseen games have such a thing, and 50 of 140 seen ones."""

    def games_with_doubles(split: str) -> int:
        starts = [
            AlfWorldEngine.from_text(GameText(homes.game(i).problem, "a goal")).state
            for i in homes.game_ids(split)
        ]
        return sum(
            max(Counter(chain.from_iterable(start.contents)).values()) > 1 for start in starts
        )

    assert abs(games_with_doubles("valid_unseen") - 102) <= 10
    assert abs(games_with_doubles("valid_seen") - 50) <= 15


def test_no_two_games_are_the_same() -> None:
    everything = list(chain.from_iterable(homes.game_ids(split) for split in homes.SPLITS))
    bodies = {digest(body(game_id)) for game_id in everything}
    assert len(bodies) == len(everything) == 4027
    trials = {game_id.rpartition("/")[2] for game_id in everything}
    assert len(trials) == len(everything)


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        ("train", "e5b019d20bd95adf"),
        ("valid_seen", "4b9f6344a1753032"),
        ("valid_unseen", "e81f8c61275f5e01"),
        ("valid_train", "cae15d27f221cae2"),
    ],
)
def test_ids_are_the_same_on_every_machine(split: str, expected: str) -> None:
    assert digest("\n".join(homes.game_ids(split))) == expected


@pytest.mark.parametrize(
    ("split", "position", "expected"),
    [
        ("train", 1776, "1c506985dcd0300d"),
        ("valid_seen", 0, "204681cc6f09de05"),
        ("valid_unseen", 67, "5ac37f6754e4e2ce"),
        ("valid_train", 100, "a33d92f494531760"),
    ],
)
def test_games_are_the_same_on_every_machine(split: str, position: int, expected: str) -> None:
    assert digest(homes.game(homes.game_ids(split)[position]).problem) == expected


def test_games_do_not_depend_on_hash_order_or_on_what_was_made_before() -> None:
    code = (
        "import hashlib; from agentquest.benchmarks.alfworld import homes;"
        "ids = homes.game_ids('valid_unseen')[::-1];"
        "print(hashlib.sha256(''.join(homes.game(i).problem for i in ids).encode()).hexdigest())"
    )
    made = "".join(homes.game(i).problem for i in homes.game_ids("valid_unseen")[::-1])
    for seed in ("0", "4242"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == hashlib.sha256(made.encode()).hexdigest()


def test_changing_a_made_game_does_not_change_the_next() -> None:
    game_id = homes.game_ids("valid_seen")[3]
    before = homes.game(game_id)
    before.traj_data["pddl_params"]["object_target"] = "Nothing"
    before.traj_data["turk_annotations"]["anns"].clear()
    assert homes.game(game_id).traj_data["pddl_params"]["object_target"] != "Nothing"
    assert len(homes.game(game_id).traj_data["turk_annotations"]["anns"]) == 1


def test_unknown_split_is_named() -> None:
    with pytest.raises(UnknownName, match=r"'test'.*valid_unseen"):
        homes.game_ids("test")


@pytest.mark.parametrize(
    "game_id",
    [
        "",
        "valid_seen",
        "test/x/y",
        "valid_seen/../train",
        "valid_seen/pick_and_place_simple-Apple-None-Sofa-1/trial_T20190101_000000_000000",
    ],
)
def test_unknown_game_is_named(game_id: str) -> None:
    with pytest.raises(DataError, match=re.escape(repr(game_id))):
        homes.game(game_id)


@given(seed=st.text(max_size=20), limit=st.integers(1, 1000))
def test_dice_stay_within_bounds_and_repeat(seed: str, limit: int) -> None:
    first, second = Dice(seed), Dice(seed)
    drawn = [first.below(limit) for _ in range(20)]
    assert all(0 <= number < limit for number in drawn)
    assert drawn == [second.below(limit) for _ in range(20)]
    assert -limit <= first.between(-limit, limit) <= limit


@given(
    seed=st.text(max_size=20),
    weights=st.dictionaries(st.text(max_size=3), st.integers(0, 9), min_size=1).filter(
        lambda table: sum(table.values()) > 0
    ),
)
def test_weighted_choices_never_take_what_has_no_weight(seed: str, weights: dict[str, int]) -> None:
    dice = Dice(seed)
    assert all(weights[dice.one_weighted(weights)] > 0 for _ in range(20))


@given(seed=st.text(max_size=20), items=st.lists(st.integers(), max_size=30))
def test_shuffling_keeps_all_items(seed: str, items: list[int]) -> None:
    assert sorted(Dice(seed).shuffled(items)) == sorted(items)
