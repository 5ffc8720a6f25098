"""Assessment over A2A: a green agent that tests, white agents that are tested.

Only this package imports the A2A SDK, and only when one of its commands runs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a2a.types import Message


def new_agent_text_message(
    text: str, context_id: str | None = None, task_id: str | None = None
) -> "Message":
    """A reply of one text, as agents send it.

    SDK 0.3 had this as `a2a.utils.new_agent_text_message`; SDK 1 has it no more.
    """
    from a2a.helpers import new_text_message

    return new_text_message(text, context_id=context_id, task_id=task_id)


__all__ = ["new_agent_text_message"]
