"""Joining a Ray cluster, with a clear error when that fails."""

import asyncio
from typing import Any

from agentquest.errors import UserError
from agentquest.extras import MissingExtra
from agentquest.running.play import run_in_thread

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
    # Without an address Ray would join whatever cluster this machine happens to be part of.
    where: dict[str, Any] = {"address": address or "local"}
    if not address:
        where["include_dashboard"] = False
    try:
        run_in_thread(_probe(address))
        ray.init(log_to_driver=False, configure_logging=False, namespace="agentquest", **where)
    except (OSError, ValueError, asyncio.TimeoutError) as error:
        raise UserError(f"executor.address: no Ray cluster at {address!r}: {error}") from None
    except RuntimeError as error:
        # Such as another version of Ray or Python there.
        raise UserError(f"executor.address: cannot join {address!r}: {error}") from None
    return True


async def _probe(address: str | None) -> None:
    """Ray would search for minutes; a connection shows at once whether anything answers."""
    host, separator, port = (address or "").removeprefix("ray://").rpartition(":")
    if separator and port.isdigit():
        opening = asyncio.open_connection(host, int(port))
        _, writer = await asyncio.wait_for(opening, _PROBE_S)
        writer.close()


def in_creation(error: BaseException) -> bool:
    """Whether an actor could not even be made: others on its node could not either."""
    return _IN_CREATION in str(error)


def cause(error: BaseException) -> str:
    """The last line of what Ray says, which is the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = lines[-1] if lines else type(error).__name__
    return f"a worker cannot start on its node: {said}" if in_creation(error) else said
