"""Joining a Ray cluster, and saying plainly why that did not work."""

import socket
from typing import Any

from agentquest.errors import UserError
from agentquest.extras import MissingExtra

_PROBE_S = 10.0
_IN_CREATION = "error raised in its creation task"


def ray_module() -> Any:
    """Ray, imported when it is asked for."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("ray", "playing on a Ray cluster", ["ray"]) from None
    return ray


def connect(address: str | None) -> bool:
    """Join the cluster or start one; whether this call did so."""
    ray = ray_module()
    if ray.is_initialized():
        return False
    where: dict[str, Any] = {"address": address} if address else {"include_dashboard": False}
    try:
        _probe(address)
        ray.init(log_to_driver=False, configure_logging=False, namespace="agentquest", **where)
    except (OSError, ValueError) as error:
        raise UserError(f"executor.address: no Ray cluster at {address!r}: {error}") from None
    except RuntimeError as error:
        # Such as another version of Ray or Python there.
        raise UserError(f"executor.address: cannot join {address!r}: {error}") from None
    return True


def _probe(address: str | None) -> None:
    """Ray looks for a cluster for minutes; whether anybody answers there is known at once."""
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        socket.create_connection((host, int(port)), _PROBE_S).close()


def in_creation(error: BaseException) -> bool:
    """Whether an actor could not even be made: others on its node could not either."""
    return _IN_CREATION in str(error)


def cause(error: BaseException) -> str:
    """The last line of what Ray says, which is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1] if lines else type(error).__name__
    return f"a worker cannot be made on its node: {said}" if in_creation(error) else said
