"""`agentquest serve-a2a`: the agent set by environment variables, for controllers of containers.

ROLE is green or white; HOST and AGENT_PORT are its address. AgentBeats calls the command `run`.
"""

import os

from agentquest.cli import green, white
from agentquest.errors import ConfigError
from agentquest.words import parse_whole_number


def command() -> None:
    """Serve the agent that the environment variable ROLE names, on HOST:AGENT_PORT.

    For controllers that start agents in containers; ROLE is green or white.

    Example: ROLE=white HOST=0.0.0.0 AGENT_PORT=9002 agentquest serve-a2a
    """
    role, host = _read_variable("ROLE", ""), _read_variable("HOST", "127.0.0.1")
    text = _read_variable("AGENT_PORT", "9000")
    port = parse_whole_number(text)
    if port is None or port > 65535:
        raise ConfigError(f"AGENT_PORT must be a port number, not {text!r}")
    if role == "green":
        green.command(host=host, port=port)
    elif role == "white":
        white.command(host=host, port=port)
    else:
        raise ConfigError(
            f"ROLE must be green or white, not {role!r}; `agentquest eval` runs an evaluation"
        )


def _read_variable(name: str, default: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or default
