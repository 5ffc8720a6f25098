"""Taking a port, and what to say when it is taken."""

import socket

from agentquest.errors import UserError


class PortInUse(UserError):
    """The port cannot be had; the text suggests one that can."""


def take(host: str, port: int) -> socket.socket:
    """A listening socket. Bound before anything is served, so that a clash is an error at once."""
    try:
        return socket.create_server((_numeric(host), port), backlog=256)
    except PermissionError:
        raise PortInUse(f"port {port} may not be used; try --port {free_port(host)}") from None
    except OSError as error:
        if error.errno is None or isinstance(error, socket.gaierror):
            raise UserError(f"--host {host!r} is not an address of this machine: {error}") from None
        raise PortInUse(
            f"port {port} on {host} is in use ({error.strerror}); try --port {free_port(host)}"
        ) from None


def is_free(host: str, port: int) -> bool:
    try:
        take(host, port).close()
    except PortInUse:
        return False
    return True


def free_port(host: str = "localhost") -> int:
    """A port that was free a moment ago."""
    with socket.create_server((_numeric(host), 0)) as probe:
        return int(probe.getsockname()[1])


def _numeric(host: str) -> str:
    """`localhost` may mean two addresses; agents are on the one that all clients try."""
    return "127.0.0.1" if host == "localhost" else host
