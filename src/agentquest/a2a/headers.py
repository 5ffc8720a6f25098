"""Headers for the agent under test, given on the command line or, unseen, in the environment."""

import json
import os
import re
from collections.abc import Mapping, Sequence

from agentquest.errors import ConfigError

# How a launcher hands them to the green agent that it starts.
VARIABLE = "AGENTQUEST_AGENT_HEADERS"
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def agent_headers(
    given: Sequence[str], environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """`Name: value` each; `Name: $VARIABLE` has its value in the environment."""
    try:
        found: dict[str, str] = dict(json.loads(environment.get(VARIABLE) or "{}"))
    except (TypeError, ValueError):
        raise ConfigError(f"{VARIABLE} is not a JSON object of headers") from None
    for text in given:
        name, colon, value = text.partition(":")
        name, value = name.strip(), value.strip()
        # What was given may be a key, so it is not shown.
        if not colon or not value or not _NAME.fullmatch(name):
            raise ConfigError("--agent-header must be of the form `Name: value`")
        if value.startswith("$"):
            variable = value.removeprefix("$")
            if not environment.get(variable):
                raise ConfigError(f"--agent-header: {variable} is not set in the environment")
            value = environment[variable].strip()
        if not value.isascii() or not value.isprintable():
            raise ConfigError(f"--agent-header: the value of {name} cannot be sent")
        found[name] = value
    return found


def bearer(token: str) -> dict[str, str]:
    """The header that holds a token."""
    return {"Authorization": f"Bearer {token}"}


def in_environment(headers: Mapping[str, str]) -> dict[str, str]:
    """The environment variable that carries headers to a process we start."""
    return {VARIABLE: json.dumps(dict(headers))} if headers else {}
