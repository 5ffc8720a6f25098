"""What a prompt says about Mastermind, and example games.

Examples are not stored: the rule-based player plays numbers of the train split. Numbers
differ between splits, so an example never shows a test number.
"""

from functools import cache
from itertools import islice

from agentquest.benchmarks.mastermind.driver import MasterMindDriver
from agentquest.benchmarks.mastermind.explorer import MasterMindExplorer
from agentquest.benchmarks.mastermind.tasks import goals_of
from agentquest.lib import Briefing, Demonstration
from agentquest.lib.commands import make_tool
from agentquest.lib.game import DriverGame, play_example
from agentquest.lib.generated import TRAIN

_INSTRUCTIONS = """You play Mastermind: a secret number is to be found by guessing.
The command:
- Guess: [number]: guess the number, with as many digits as the secret number has, such as \
`Guess: 0123`
Rules:
- Every digit is one of 0 to 9. Digits may repeat, and a number may begin with 0.
- After each guess you are told how many of its digits are correct and in the correct position, \
and how many are correct but in the wrong position. Each digit counts once.
- Digits beyond the length of the secret number are not looked at.
- A text that is no guess tells you nothing and costs a step.
- The game is won when all digits are in their position. Use as few guesses as you can."""
_TOOL = make_tool(
    "guess",
    "Guess the secret number.",
    "Guess: <number>",
    number={
        "type": "string",
        "pattern": "^[0-9]+$",
        "description": "All digits of the guess, zeros at its front included.",
    },
)
BRIEFING = Briefing(
    _INSTRUCTIONS,
    role="You are an agent that plays Mastermind. "
    "Your goal is to find a secret number by guessing and by what is told about each guess.",
    examples='"Guess: 0123" or "Guess: 4407"',
    help_lines=("a guess that does not fit all answers so far cannot be right",),
    tools=(_TOOL,),
)
_LONGEST_EXAMPLE = 12
_SHORTEST_EXAMPLE = 3


@cache
def examples(category: str, count: int) -> tuple[Demonstration, ...]:
    """Short won games of one category, always the same ones."""
    return tuple(islice(filter(None, map(_play, goals_of(category, TRAIN))), count))


def _play(number: str) -> Demonstration | None:
    game = DriverGame(MasterMindDriver(number))
    example = play_example(game, MasterMindExplorer(), _LONGEST_EXAMPLE)
    return example if example is not None and len(example.turns) >= _SHORTEST_EXAMPLE else None
