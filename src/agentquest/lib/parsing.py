"""Reading an action out of an agent's free text, without ever repairing it."""

import re
from collections.abc import Callable

from agentquest.errors import ParseError

Parser = Callable[[str], str]

PARSE_FAILURE = (
    "Could not parse agent output. Make sure it is in the format: `Action: <action_command>`"
)
_ACTION = re.compile(r"action:\s*(\S.*)", re.IGNORECASE)


def parse_action(text: str) -> str:
    """The command behind the first `Action:` of `text`, lower-cased as the engines expect."""
    found = _ACTION.search(text)
    if found is None:
        raise ParseError(PARSE_FAILURE)
    return found.group(1).strip().lower()
