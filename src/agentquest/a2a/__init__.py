"""Assessment over A2A: a green agent that tests, white agents that are tested.

Only this package imports the A2A SDK, and only when one of its commands runs.
"""

from typing import TYPE_CHECKING

from agentquest.extras import MissingExtra, is_installed

if TYPE_CHECKING:
    from a2a.types import Message

_PACKAGES = {"a2a": "a2a-sdk", "httpx": "httpx", "starlette": "starlette", "uvicorn": "uvicorn"}


def require_a2a() -> None:
    """Raise UserError, with the command that helps, unless the A2A SDK can be used."""
    missing = [name for module, name in _PACKAGES.items() if not is_installed(module)]
    # SDK 0.3 has the same name but not the same parts.
    if not missing and not is_installed("a2a.helpers"):
        missing = ["a2a-sdk 1.x (an older one is installed)"]
    if missing:
        raise MissingExtra("a2a", "A2A assessment", missing)


def new_agent_text_message(
    text: str, context_id: str | None = None, task_id: str | None = None
) -> "Message":
    """A reply that is one text.

    SDK 0.3 had this as `a2a.utils.new_agent_text_message`; SDK 1 no longer has it.
    """
    from a2a.helpers import new_text_message

    return new_text_message(text, context_id=context_id, task_id=task_id)


__all__ = ["new_agent_text_message", "require_a2a"]
