"""Reading an action from an agent's free text, without ever repairing it.

Quotes and asterisks that wrap the whole action are the writer's typography, not
part of the command: `'Action: look'`, `**Action:** look` and `Action: "look"`
all say `look`. Only wrappers that are both opened and closed come off.
"""

import re
from collections.abc import Callable

from agentquest.errors import ParseError

Parser = Callable[[str], str]

PARSE_FAILURE = (
    "Could not parse agent output. Make sure it is in the format: `Action: <action_command>`"
)
_ACTION = re.compile(r"action(\**):", re.IGNORECASE)
_CLOSED_BY = {"'": "'", '"': '"', "`": "`", "*": "*", "‘": "’", "“": "”"}


def parse_action(text: str) -> str:
    """The command behind the first `Action:` of `text`, lower-cased as the engines expect."""
    found = _ACTION.search(text)
    if found is None:
        raise ParseError(PARSE_FAILURE)
    wrapping = _wrapping_before(text, found.start())
    rest = text[found.end() :]
    emphasised = wrapping.rstrip("*")
    if emphasised != wrapping and (found[1] or rest.startswith("*")):
        # `**Action:** look` closes the asterisks before the command begins.
        wrapping = emphasised
        rest = rest if found[1] else rest.lstrip("*")
    command = rest.lstrip().partition("\n")[0].strip()
    if not command:
        raise ParseError(PARSE_FAILURE)
    return _unwrap(command, wrapping).lower()


def _wrapping_before(text: str, end: int) -> str:
    """The opening quotes and asterisks that stand right before the word `Action`."""
    start = end
    while start and text[start - 1] in _CLOSED_BY:
        start -= 1
    return text[start:end]


def _unwrap(command: str, wrapping: str) -> str:
    closing = "".join(_CLOSED_BY[mark] for mark in reversed(wrapping))
    if closing and len(command) > len(closing) and command.endswith(closing):
        command = command[: -len(closing)].rstrip()
    while command[0] in _CLOSED_BY:
        opening, closing = command[0], _CLOSED_BY[command[0]]
        marks = min(_run(command, opening), _run(command[::-1], closing))
        inside = command[marks : len(command) - marks].strip()
        if not marks or not inside or opening in inside or closing in inside:
            break
        command = inside
    return command


def _run(text: str, mark: str) -> int:
    """How many times `mark` is repeated at the beginning of `text`."""
    return len(text) - len(text.lstrip(mark))
