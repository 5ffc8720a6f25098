"""The rule-based player: how often it wins, what it understands, what it never does."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.alfworld import knowledge
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.narrator import NOTHING_HAPPENS, WELCOME
from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer, Intent, read_introduction
from agentquest.benchmarks.alfworld.homes import vocabulary
from agentquest.benchmarks.alfworld.task_types import TASK_TYPES, TaskType
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.lib import Task
from shared_data import ALFWORLD, needs_alfworld

DIALECTS = ("0.3", "0.4")
MAX_STEPS = 50
Turn = tuple[str, str, str]
KITCHEN = (
    f"{WELCOME}\n\nYou are in the middle of a room. Looking quickly around you, you see "
    "a cabinet 2, a cabinet 1, a countertop 1, a fridge 1, a microwave 1, and a sinkbasin 1."
    "\n\nYour task is to: {}."
)
STUDY = (
    f"{WELCOME}\n\nYou are in the middle of a room. Looking quickly around you, you see "
    "a bed 1, a desk 1, a drawer 2, a drawer 1, and a sidetable 1.\n\nYour task is to: {}."
)


def builtin_tasks(split: str) -> list[Task]:
    return find_tasks(split, data_path="builtin")


def play(game: AlfWorldEngine, player: AlfWorldExplorer | None = None) -> list[Turn]:
    """Thought, command and answer of each step, until the game is won or time is up."""
    player = player or AlfWorldExplorer()
    text = game.copy().reset()
    steps = []
    for _ in range(MAX_STEPS):
        command = player.next_action(text)
        text = game.step(command)
        steps.append((player.thought, command, text))
        if game.won:
            break
    return steps


def win_rates(tasks: list[Task], dialect: str) -> dict[str, float]:
    played: Counter[str] = Counter()
    won: Counter[str] = Counter()
    for task in tasks:
        game = AlfWorldEngine.from_text(open_problem(task.problem), dialect)
        play(game)
        for name in (task.task_type, "all"):
            played[name] += 1
            won[name] += game.won
    return {name: won[name] / played[name] for name in played}


def answers(*texts: str) -> list[str]:
    """The commands given to a fixed sequence of texts."""
    player = AlfWorldExplorer()
    return [player.next_action(text) for text in texts]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_wins_most_builtin_homes_of_every_task_type(dialect: str) -> None:
    rates = win_rates(builtin_tasks("valid_unseen"), dialect)
    assert len(rates) == 7
    assert min(rates.values()) >= 0.8


@needs_alfworld
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("split", ["valid_seen", "valid_unseen"])
def test_wins_most_real_games_of_every_task_type(split: str, dialect: str) -> None:
    rates = win_rates(find_tasks(split, data_path=ALFWORLD), dialect)
    assert len(rates) == 7
    assert min(rates.values()) >= 0.6


@pytest.mark.parametrize("dialect", DIALECTS)
def test_slices_when_the_errand_says_so(dialect: str) -> None:
    """Homes state no sliced goals of their own, so some are sharpened here."""
    played = won = 0
    for task in builtin_tasks("valid_unseen"):
        thing, place = task.id.split("-")[1].lower(), task.id.split("-")[3].lower()
        verbs = {"pick_cool_then_place_in_recep": "cool", "pick_heat_then_place_in_recep": "hot"}
        if task.task_type not in verbs or thing not in ("apple", "bread", "tomato"):
            continue
        text = open_problem(task.problem)
        problem = text.problem.replace("(inReceptacle ?o ?r)", "(isSliced ?o) (inReceptacle ?o ?r)")
        goal = f"put a {verbs[task.task_type]} slice of {thing} in {place}"
        game = AlfWorldEngine.from_text(replace(text, problem=problem, goal=goal), dialect)
        play(game)
        played += 1
        won += game.won
    assert played >= 5
    assert won >= 0.8 * played


def test_puts_down_what_is_useless_before_it_begins() -> None:
    """Hands that are full without the player's knowledge are found out and emptied."""
    task = next(t for t in builtin_tasks("valid_unseen") if "_heat_" in t.task_type)
    game = AlfWorldEngine.from_text(open_problem(task.problem))
    target = task.id.split("-")[1].lower()
    game.step("go to countertop 1")
    takes = [command for command in game.admissible if command.startswith("take ")]
    useless = next(command for command in takes if not command.startswith(f"take {target}"))
    assert game.step(useless).startswith("You pick up")
    steps = play(game)
    assert game.won
    assert "inventory" in [command for _, command, _ in steps]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_same_texts_same_commands_whatever_was_played_before(dialect: str) -> None:
    used = AlfWorldExplorer()
    for task in builtin_tasks("valid_unseen")[::10]:
        text = open_problem(task.problem)
        fresh = play(AlfWorldEngine.from_text(text, dialect))
        again = play(AlfWorldEngine.from_text(text, dialect), used)
        assert fresh == again


def test_a_list_of_admissible_commands_is_not_read() -> None:
    start = KITCHEN.format("put a tomato in cabinet")
    arrived = "You arrive at fridge 1. The fridge 1 is open. In it, you see nothing."
    beside = "\nOn the sinkbasin 1, you see a tomato 1."
    assert answers(start, arrived + beside)[1] == "take tomato 1 from sinkbasin 1"
    assert answers(start, f"{arrived}\nAdmissible commands:{beside}") == answers(start, arrived)


@pytest.mark.parametrize("task", TASK_TYPES, ids=lambda task: task.short)
@pytest.mark.parametrize("sliced", [False, True])
def test_every_goal_sentence_is_understood(task: TaskType, sliced: bool) -> None:
    words = {"obj": "potato", "recep": "sinkbasin", "toggle": "desklamp"}
    place, lamp = ("", "desklamp") if task.short == "look" else ("sinkbasin", "")
    for sentence in task.sliced_sentences if sliced else task.sentences:
        errand = read_introduction(KITCHEN.format(sentence.format(**words))).errand
        assert errand == (task, "potato", place or lamp, sliced)
        assert (errand.place, errand.lamp) == (place, lamp)


@pytest.mark.parametrize("goal", ["", "dance", "put a in b", "put a mug in the fridge"])
def test_a_goal_that_is_none_of_the_six_is_not_guessed(goal: str) -> None:
    assert read_introduction(KITCHEN.format(goal)).errand is None
    assert answers(KITCHEN.format(goal)) == ["look"]


@pytest.mark.parametrize(("spots", "expected"), [("loc 4|loc 7", 0), ("fridge 1|countertop 1", 1)])
def test_arriving_tells_the_dialect_and_the_other_is_tried_next(spots: str, expected: int) -> None:
    first, second = spots.split("|")
    commands = answers(
        KITCHEN.format("put a tomato in countertop"),
        f"You arrive at {first}. The fridge 1 is open. In it, you see a tomato 1.",
        "You pick up the tomato 1 from the fridge 1.",
        f"You arrive at {second}. On the countertop 1, you see nothing.",
        NOTHING_HAPPENS,
    )
    wordings = ["put tomato 1 in/on countertop 1", "move tomato 1 to countertop 1"]
    assert commands[:3:2] == ["go to fridge 1", "go to countertop 1"]
    assert commands[3:] == [wordings[expected], wordings[1 - expected]]


def test_furniture_at_the_same_spot_is_examined() -> None:
    commands = answers(
        STUDY.format("put a watch in bed"),
        "You arrive at sidetable 1. On the sidetable 1, you see nothing.",
        NOTHING_HAPPENS,
        "On the bed 1, you see nothing.",
    )
    first, second, third, _ = commands
    assert first == "go to sidetable 1"
    assert second.startswith("go to ")
    assert third == f"examine {second.removeprefix('go to ')}"


def test_closed_furniture_is_opened_to_look_and_to_place() -> None:
    commands = answers(
        KITCHEN.format("put a lettuce in microwave"),
        "You arrive at countertop 1. On the countertop 1, you see nothing.",
        "You arrive at fridge 1. The fridge 1 is closed.",
        "You open the fridge 1. The fridge 1 is open. In it, you see a lettuce 2.",
        "You pick up the lettuce 2 from the fridge 1.",
        "You arrive at microwave 1. The microwave 1 is closed.",
        "You open the microwave 1. The microwave 1 is open. In it, you see nothing.",
    )
    assert commands[:3] == ["go to countertop 1", "go to fridge 1", "open fridge 1"]
    assert commands[4:] == [
        "go to microwave 1",
        "open microwave 1",
        "move lettuce 2 to microwave 1",
    ]


def test_treating_needs_no_open_door() -> None:
    commands = answers(
        KITCHEN.format("heat some potato and put it in countertop"),
        "You arrive at countertop 1. On the countertop 1, you see a potato 1.",
        "You pick up the potato 1 from the countertop 1.",
        "You arrive at microwave 1. The microwave 1 is closed.",
        "You heat the potato 1 using the microwave 1.",
    )
    assert commands[2:4] == ["go to microwave 1", "heat potato 1 with microwave 1"]
    assert commands[4] == "go to countertop 1"


def test_a_lamp_seen_on_the_way_is_remembered() -> None:
    commands = answers(
        STUDY.format("examine the pillow with the desklamp"),
        "You arrive at desk 1. On the desk 1, you see a desklamp 1, and a pen 1.",
        "You arrive at bed 1. On the bed 1, you see a pillow 2, and a pillow 1.",
        "You pick up the pillow 2 from the bed 1.",
        "You arrive at desk 1. On the desk 1, you see a desklamp 1, and a pen 1.",
    )
    assert commands[-3:] == ["take pillow 2 from bed 1", "go to desk 1", "use desklamp 1"]


def test_the_second_of_two_things_goes_where_the_first_is() -> None:
    commands = answers(
        STUDY.format("find two pencil and put them in drawer"),
        "You arrive at drawer 1. The drawer 1 is open. In it, you see nothing.",
        "You arrive at drawer 2. The drawer 2 is open. In it, you see a pencil 2.",
        "You arrive at desk 1. On the desk 1, you see a pencil 1.",
        "You pick up the pencil 1 from the desk 1.",
    )
    assert commands[3:] == ["take pencil 1 from desk 1", "go to drawer 2"]


def test_furniture_that_shares_a_spot_is_found_again_and_again() -> None:
    memory = read_introduction(STUDY.format("put a watch in bed"))
    memory.read("You arrive at desk 1. On the desk 1, you see nothing.", Intent("go"))
    for _ in range(3):
        memory.read(NOTHING_HAPPENS, Intent("go", place="drawer 1"))
        assert "drawer 1" in memory.furniture
        memory.read("On the drawer 1, you see nothing.", Intent("examine", place="drawer 1"))
    memory.read("You arrive at bed 1. On the bed 1, you see nothing.", Intent("go"))
    assert memory.spots["drawer 1"] == memory.spots["desk 1"] != memory.here
    memory.read("You arrive at drawer 1. On the drawer 1, you see nothing.", Intent("go"))
    assert memory.spots["drawer 1"] == memory.spots["desk 1"] == memory.here


def test_furniture_that_is_not_listed_is_guessed() -> None:
    text = "You are facing the desk 1. Next to it, you see nothing.\n\nYour task is to: {}."
    first, second = answers(text.format("put a watch in desk"), NOTHING_HAPPENS)
    assert first.startswith(("go to ", "examine "))
    assert second != first


def test_usual_places_are_words_of_the_vocabulary() -> None:
    things = {name.lower() for name in vocabulary.OBJECT_TYPES}
    places = {name.lower() for name in vocabulary.RECEPTACLE_TYPES}
    for thing in knowledge._USUAL_PLACES:
        assert thing in things
        assert set(knowledge._usual_places(thing)) <= places
    assert set(knowledge._usual_places("anything else")) <= places
    assert set(knowledge.SURFACES) <= places
    assert {guess.partition(" ")[0] for guess in knowledge.GUESSES} <= places


NAMES = st.sampled_from(["egg 1", "egg 2", "mug 1", "fridge 1", "cabinet 1", "knife 1", "loc 3"])
GOALS = st.sampled_from(
    [sentence for task in TASK_TYPES for sentence in (*task.sentences, *task.sliced_sentences)]
)
TEMPLATES = st.sampled_from(
    [
        *(NOTHING_HAPPENS, "You are not carrying anything.", "You are carrying: a {0}."),
        *("The {0} is closed.", "You arrive at {0}. On the {1}, you see nothing."),
        *("The {0} is open. In it, you see a {1}.", "You pick up the {0} from the {1}."),
        *("You move the {0} to the {1}.", "You sliced the {0} with the {1}."),
        *("You turn on the {0}.", "You are facing the {0}, and {1}. Next to it, you see nothing."),
    ]
)
SENTENCES = st.one_of(
    st.builds(str.format, TEMPLATES, NAMES, NAMES),
    GOALS.map(lambda goal: KITCHEN.format(goal.format(obj="egg", recep="cabinet", toggle="mug"))),
    st.text(),
)


@settings(max_examples=300)
@given(st.lists(SENTENCES, max_size=60))
def test_any_text_in_any_order_is_answered(texts: list[str]) -> None:
    player = AlfWorldExplorer()
    for text in texts:
        command = player.next_action(text)
        assert isinstance(command, str)
        assert command == command.strip() != ""
        assert len(player.thought.splitlines()) == 1
