"""`agentquest run`: the agent set by environment variables, for controllers of containers.

ROLE is green or white, HOST and AGENT_PORT say where.
"""

import os

from agentquest.cli import green, white
from agentquest.errors import ConfigError


def command() -> None:
    """Serve the agent that the environment variable ROLE names, on HOST:AGENT_PORT.

    For controllers that start agents in containers; ROLE is green or white.

    Example: ROLE=white HOST=0.0.0.0 AGENT_PORT=9002 agentquest run
    """
    role, host, port = _value("ROLE", ""), _value("HOST", "127.0.0.1"), _value("AGENT_PORT", "9000")
    if not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"AGENT_PORT must be a port number, not {port!r}")
    if role == "green":
        green.command(host=host, port=int(port))
    elif role == "white":
        white.command(host=host, port=int(port))
    else:
        raise ConfigError(f"ROLE must be green or white, not {role!r}")


def _value(name: str, default: str) -> str:
    return os.environ.get(name) or os.environ.get(name.lower()) or default
