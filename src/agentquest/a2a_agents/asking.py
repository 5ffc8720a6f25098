"""Asking a green agent for an assessment, and following it to its end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx
from a2a.client import ClientConfig, ClientFactory
from a2a.helpers import get_data_parts, get_message_text, get_text_parts
from a2a.types import (
    AgentCard,
    Artifact,
    Message,
    Part,
    Role,
    SendMessageRequest,
    TaskState,
    TaskStatus,
)
from a2a.utils.errors import A2AError

from agentquest.errors import AgentQuestError

_RESULT = "Result"


class AssessmentFailed(AgentQuestError):
    """The green agent did not come to a result; the text is its reason."""


@dataclass(frozen=True)
class AssessmentResult:
    """The summary for people, and the figures."""

    text: str
    data: dict[str, Any]


async def ask(card: AgentCard, request: str, tell: Callable[[str], None]) -> AssessmentResult:
    """Send a request; `tell` is called with every piece of news."""
    # Silence can be long: the pings of the stream and the caller's own limit decide.
    async with httpx.AsyncClient(timeout=httpx.Timeout(None, connect=10.0)) as http:
        client = ClientFactory(ClientConfig(streaming=True, httpx_client=http)).create(card)
        message = Message(role=Role.ROLE_USER, message_id=str(uuid4()), parts=[Part(text=request)])
        result: AssessmentResult | None = None
        try:
            async for event in client.send_message(SendMessageRequest(message=message)):
                if event.HasField("artifact_update"):
                    result = _read(event.artifact_update.artifact) or result
                elif event.HasField("status_update"):
                    _follow(event.status_update.status, tell)
        except (A2AError, ValueError) as error:
            raise AssessmentFailed(f"the green agent gave no result: {error}") from None
    if result is None:
        raise AssessmentFailed("the green agent ended without a result")
    return result


def _follow(status: TaskStatus, tell: Callable[[str], None]) -> None:
    state = status.state
    said = get_message_text(status.message) if status.HasField("message") else ""
    if state == TaskState.TASK_STATE_WORKING:
        if said:
            tell(said)
    elif state not in (TaskState.TASK_STATE_COMPLETED, TaskState.TASK_STATE_SUBMITTED):
        name = TaskState.Name(state).removeprefix("TASK_STATE_").lower()
        raise AssessmentFailed(said or f"the assessment was {name}")


def _read(artifact: Artifact) -> AssessmentResult | None:
    if artifact.name != _RESULT:
        return None
    data = get_data_parts(artifact.parts)
    if not data or not isinstance(data[0], dict):
        return None
    return AssessmentResult("\n".join(get_text_parts(artifact.parts)), data[0])
