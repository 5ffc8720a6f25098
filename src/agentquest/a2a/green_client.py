"""Asking a green agent for an assessment, and following it to its end."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from agentquest.a2a.connection import RemoteParty
from agentquest.a2a.replies import AgentError, Said, read_result, said
from agentquest.a2a.transport import AgentBroken, AgentUnreachable
from agentquest.a2a.wire import MessageIds, send_call
from agentquest.errors import AgentQuestError
from agentquest.reports.safe_text import visible

_RESULT = "Result"
_GOES_ON = ("TASK_STATE_SUBMITTED", "TASK_STATE_WORKING", "TASK_STATE_COMPLETED")


class AssessmentFailed(AgentQuestError):
    """The green agent did not come to a result; the text is its reason."""


@dataclass(frozen=True)
class GreenAnswer:
    """The summary for people, and the figures."""

    text: str
    data: dict[str, Any]


async def ask(green: RemoteParty, request: str, tell: Callable[[str], None]) -> GreenAnswer:
    """Send a request; `tell` is called with every piece of news.

    Silence can be long: the caller's own limit decides.
    """
    http = green.new_http()
    ids = MessageIds(str(uuid4()), str(uuid4()))
    result: GreenAnswer | None = None
    try:
        async for event in http.events(send_call(green.interface, ids, request, stream=True)):
            content = read_result(event)
            if "artifactUpdate" in content:
                result = _read(content["artifactUpdate"]["artifact"]) or result
            elif "statusUpdate" in content:
                _follow(content["statusUpdate"]["status"], tell)
    except (AgentBroken, AgentError, AgentUnreachable, KeyError, TypeError) as error:
        raise AssessmentFailed(f"the green agent gave no result: {error}") from None
    finally:
        await http.close()
    if result is None:
        raise AssessmentFailed("the green agent ended without a result")
    return result


def _follow(status: dict[str, Any], tell: Callable[[str], None]) -> None:
    told = _text(said(status.get("message") or {}))
    if status["state"] not in _GOES_ON:
        name = str(status["state"]).removeprefix("TASK_STATE_").lower()
        raise AssessmentFailed(told or f"the assessment was {name}")
    if told and status["state"] == "TASK_STATE_WORKING":
        tell(told)


def _read(artifact: dict[str, Any]) -> GreenAnswer | None:
    data = [part["data"] for part in artifact["parts"] if isinstance(part.get("data"), dict)]
    if artifact.get("name") != _RESULT or not data:
        return None
    return GreenAnswer(_text(said(artifact)), data[0])


def _text(words: Said) -> str:
    """What a green agent says holds words of the agent under test."""
    return visible("\n".join(words.pieces))
