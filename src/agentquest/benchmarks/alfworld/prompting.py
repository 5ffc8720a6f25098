"""What a prompt says about ALFWorld: its commands and rules, and example games.

Examples are not stored: the rule-based player plays built-in training homes and
is written down, so that they are right in every dialect and never a test game.
"""

from functools import cache

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.explorer.player import AlfWorldExplorer
from agentquest.lib import Demonstration

HELP_LINES = ("type 'inventory' to check items",)
_LONGEST_EXAMPLE = 14
_SHORTEST_EXAMPLE = 5


def instructions(dialect: Dialect) -> str:
    put = dialect.put("[object]", "[receptacle]")
    return f"""You are in a house and solve a household task by typing commands, one at a time.
Commands (names always carry their number, such as `apple 1` or `countertop 2`):
- look: see what is around you
- inventory: see what you carry
- go to [receptacle]: walk to a receptacle and see what is on it
- open [receptacle] / close [receptacle]
- take [object] from [receptacle]
- {put}: put down what you carry
- clean [object] with [receptacle]: at a sinkbasin
- heat [object] with [receptacle]: at a microwave
- cool [object] with [receptacle]: at a fridge
- use [object]: turn on a lamp
- slice [object] with [object]: with a knife in your hand
- examine [object or receptacle]
Rules:
- You can carry only one object at a time.
- You must go to a receptacle before you can do anything there.
- Some receptacles are closed: open them to see what is inside, to take it, or to put something in.
- `clean`, `heat` and `cool` need the object in your hand, and you at the right receptacle.
- To look at an object under a lamp, carry the object and use the lamp where it stands.
- "Nothing happens." means that the command was not possible or not understood."""


@cache
def examples(task_type: str, dialect: Dialect, count: int) -> tuple[Demonstration, ...]:
    """Short won games of one type from the built-in training homes, always the same ones."""
    found: list[Demonstration] = []
    for game_id in homes.game_ids("train"):
        if len(found) == count:
            break
        if game_id.split("/")[1].partition("-")[0] == task_type:
            example = _played(game_id, dialect)
            if example is not None and example.goal not in {kept.goal for kept in found}:
                found.append(example)
    return tuple(found)


def _played(game_id: str, dialect: Dialect) -> Demonstration | None:
    home = homes.game(game_id)
    game = AlfWorldEngine.from_text(GameText(home.problem, home.goal), dialect)
    explorer = AlfWorldExplorer()
    first = observation = game.reset()
    turns: list[tuple[str, str, str]] = []
    while not game.won and len(turns) < _LONGEST_EXAMPLE:
        action = explorer.next_action(observation)
        observation = game.step(action)
        turns.append((explorer.thought, action, observation))
    if not game.won or len(turns) < _SHORTEST_EXAMPLE:
        return None
    return Demonstration(home.goal, first, tuple(turns))
