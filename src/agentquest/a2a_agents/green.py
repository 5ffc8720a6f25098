"""The green agent: takes a request, tests the agent it names, answers with the result.

A task goes: submitted, `working` with news of every game, an artifact named
`Result` (the text for people, then the JSON for machines), completed. A request
that cannot be understood is rejected; one that cannot be carried out fails,
with the reason in either case.
"""

import asyncio
import logging
from pathlib import Path

from a2a.helpers import new_data_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import Message, TaskState

from agentquest.a2a_agents.assessment import Assessment
from agentquest.a2a_agents.connection import find_agent
from agentquest.a2a_agents.report_text import answer_text
from agentquest.a2a_agents.requests import RequestRejected, parse_request
from agentquest.a2a_agents.results import result_document
from agentquest.errors import AgentQuestError, UserError

logger = logging.getLogger(__name__)

_CARD_PATIENCE_S = 30.0
_LONGEST_NAME = 100


class GreenExecutor(AgentExecutor):
    """`data_path` and `log_root` belong to this machine, so no request can choose them."""

    def __init__(self, log_root: Path, data_path: str | None = None) -> None:
        self._log_root = log_root
        self._data_path = data_path

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        try:
            await self._assess(context.get_user_input(), updater)
        except RequestRejected as error:
            await updater.reject(_message(updater, f"Request rejected: {error}"))
        except (AgentQuestError, OSError) as error:
            await updater.failed(_message(updater, f"Assessment failed: {error}"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """The framework has cancelled `execute`; games that were over are in the logs."""
        assert context.task_id is not None
        assert context.context_id is not None
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.cancel(_message(updater, "Assessment cancelled."))

    async def _assess(self, text: str, updater: TaskUpdater) -> None:
        request = parse_request(text)
        try:
            assessment = await asyncio.to_thread(Assessment, request, self._data_path)
        except UserError as error:
            raise RequestRejected(str(error)) from None

        async def tell(news: str) -> None:
            await updater.update_status(
                TaskState.TASK_STATE_WORKING, message=_message(updater, news)
            )

        for note in (*request.warnings, *assessment.notes):
            await tell(f"Note: {note}")
        await tell(f"Assessing {request.agent_url}")
        patience = min(_CARD_PATIENCE_S, request.config.turn_timeout)
        party = await find_agent(request.agent_url, patience)
        name = party.card.name[:_LONGEST_NAME] or "unnamed agent"
        finding = await assessment.run(name, party.connect, self._log_root, tell)
        # AgentBeats keeps every part that is JSON: the text must not be, and the data comes once.
        await updater.add_artifact(
            [new_text_part(answer_text(finding)), new_data_part(result_document(finding))],
            name="Result",
        )
        await updater.complete()


def _message(updater: TaskUpdater, text: str) -> Message:
    return updater.new_agent_message([new_text_part(text)])
