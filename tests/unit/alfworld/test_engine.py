"""Games share nothing that changes, and no text but an admissible command moves one."""

import pickle
import random
from collections.abc import Iterator

import pytest

from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.tasks import find_tasks, open_problem
from agentquest.errors import UnknownName
from alfworld_worlds import Furniture, SmallWorld, Thing

NOTHING_HAPPENS = "Nothing happens."


def home(position: int = 0, dialect: str = "0.4") -> AlfWorldEngine:
    task = find_tasks("valid_unseen", data_path="builtin")[position]
    return AlfWorldEngine.from_text(open_problem(task.problem), dialect)


def wander(game: AlfWorldEngine, steps: int, seed: int) -> list[object]:
    """A random walk, and everything seen on it."""
    rng = random.Random(seed)
    seen: list[object] = []
    for _ in range(steps):
        command = rng.choice(game.admissible)
        seen += [command, game.step(command), game.admissible, game.won, game.plan()]
    return seen


@pytest.fixture
def midway() -> AlfWorldEngine:
    game = home(40)
    for command in game.plan().commands[:4]:
        game.step(command)
    return game


def test_a_copy_goes_its_own_way(midway: AlfWorldEngine) -> None:
    state, admissible = midway.state, midway.admissible
    twin = midway.copy()
    assert (twin.state, twin.admissible, twin.won) == (state, admissible, midway.won)
    first = wander(twin, 15, seed=1)
    assert midway.state is state
    assert midway.admissible == admissible
    assert wander(midway, 15, seed=1) == first


def test_a_copy_resets_to_the_beginning_not_to_the_copy(midway: AlfWorldEngine) -> None:
    assert midway.copy().reset() == midway.reset()


def test_restore_brings_everything_back(midway: AlfWorldEngine) -> None:
    state, admissible, won = midway.state, midway.admissible, midway.won
    first = wander(midway, 15, seed=2)
    midway.restore(state)
    assert (midway.state, midway.admissible, midway.won) == (state, admissible, won)
    assert wander(midway, 15, seed=2) == first


def test_restore_forgets_that_the_game_was_won() -> None:
    game = home(3)
    start = game.state
    for command in game.plan().commands:
        game.step(command)
    assert game.won
    game.restore(start)
    assert not game.won


def test_a_pickled_game_plays_on_alike(midway: AlfWorldEngine) -> None:
    twin = pickle.loads(pickle.dumps(midway))
    assert twin.goal_text == midway.goal_text
    assert twin.dialect is midway.dialect
    assert wander(twin, 15, seed=3) == wander(midway, 15, seed=3)
    assert twin.reset() == midway.reset()


def test_the_lists_handed_out_are_nobody_elses(midway: AlfWorldEngine) -> None:
    handed_out = midway.admissible
    expected = list(handed_out)
    handed_out.clear()
    assert midway.admissible == expected
    assert midway.copy().admissible == expected


def test_games_of_one_file_do_not_meet() -> None:
    one, other = home(7), home(7)
    before = (other.state, other.admissible)
    wander(one, 20, seed=4)
    assert (other.state, other.admissible) == before


def test_admissible_commands_are_sorted_unique_and_all_carried_out(midway: AlfWorldEngine) -> None:
    state = midway.state
    commands = midway.admissible
    assert commands == sorted(set(commands))
    for command in commands:
        midway.restore(state)
        assert midway.accepts(command)
        assert midway.step(command) != NOTHING_HAPPENS


def test_an_unknown_dialect_is_refused() -> None:
    with pytest.raises(UnknownName, match=r"0\.3, 0\.4"):
        home(0, "0.5")


def test_a_bare_middle_of_the_room_and_a_start_beside_furniture() -> None:
    room = (Furniture("Desk", 0), Furniture("Bed", 1))
    world = SmallWorld(room, (Thing("Book", (0,)),), "pick", "Book", "Bed")
    assert "you see a bed 1, and a desk 1." in world.engine().reset()
    beside = SmallWorld(room, (Thing("Book", (0,)),), "pick", "Book", "Bed", start=0)
    assert "You are facing the desk 1. Next to it, you see nothing." in beside.engine().reset()


# -- 100,000 texts that are no commands ---------------------------------------------------------

ODD_TEXTS = (
    "",
    " ",
    "\n",
    "\x00",
    "\x1b[31mlook\x1b[0m",
    "look\x00",
    "l\u200book",
    "LOOK",
    "ｌｏｏｋ",
    "look look",
    "help me",
    "go",
    "go to",
    "go to ",
    "take",
    "'; DROP TABLE objects; --",
    "{{7*7}}",
    "__import__('os')",
    "𝔤𝔬 𝔱𝔬 𝔣𝔯𝔦𝔡𝔤𝔢 1",
    "\ud800",
    "go to fridge \u0661",
    "put in/on",
    "move to",
    "action: look",
)


def misspelt(command: str, rng: random.Random) -> str:
    """A command with one thing wrong."""
    place = rng.randrange(len(command) + 1)
    words = command.split(" ")
    return rng.choice(
        (
            command[:place] + command[place + 1 :],
            command[:place] + chr(rng.randrange(1, 0xD7FF)) + command[place:],
            command.upper(),
            command.replace(" ", "  ", 1),
            command.replace(" ", "\t", 1),
            " ".join(reversed(words)),
            " ".join(words[:-1]),
            f"{command} 1",
            f"{command}.",
            f"please {command}",
            f"{' '.join(words[:-1])} {rng.randrange(10**6)}",
            command.replace("put ", "move ") if "put " in command else f"re{command}",
            command.replace(" in/on ", " to ") if " in/on " in command else f"{command}\n{command}",
            command.replace("move ", "put ") if "move " in command else f"{command};{command}",
        )
    )


def nonsense(game: AlfWorldEngine, rng: random.Random, count: int) -> Iterator[str]:
    commands = game.admissible
    names = [*game.world.object_names, *game.world.receptacle_names]
    for _ in range(count):
        kind = rng.random()
        if kind < 0.6:
            yield misspelt(rng.choice(commands), rng)
        elif kind < 0.75:
            verb = rng.choice(["go to", "take", "open", "close", "use", "heat", "examine", "slice"])
            yield f"{verb} {rng.choice(names)}{rng.choice(['', ' from ', ' with '])}"
        elif kind < 0.85:
            yield rng.choice(ODD_TEXTS)
        elif kind < 0.99:
            yield "".join(chr(rng.randrange(0x10FFFF)) for _ in range(rng.randrange(30)))
        else:
            yield rng.choice(commands) * rng.randrange(2, 20_000)


@pytest.mark.parametrize("dialect", ["0.3", "0.4"])
def test_fuzzed_commands_never_crash_and_never_change_a_game(dialect: str) -> None:
    rng = random.Random(f"fuzz {dialect}")
    tried = refused = 0
    for position in (0, 30, 60, 90, 120):
        game = home(position, dialect)
        for _ in range(10):
            state, admissible, won = game.state, game.admissible, game.won
            known = set(admissible)
            for text in nonsense(game, rng, 1_000):
                tried += 1
                if text.strip() in known:
                    continue
                refused += 1
                assert game.step(text) == NOTHING_HAPPENS, text
                assert not game.accepts(text), text
                assert game.state is state, text
            assert game.admissible == admissible
            assert game.won is won
            plan = game.plan().commands
            game.step(plan[0] if plan and rng.random() < 0.7 else rng.choice(admissible))
    assert tried == 50_000
    assert refused > 45_000


def test_blanks_around_a_command_do_not_matter() -> None:
    game = home(0)
    command = game.plan().commands[0]
    twin = game.copy()
    assert game.step(f"  {command}\n") == twin.step(command)
    assert game.state == twin.state
