"""The green agent: takes a request, tests the agent it names, answers with the result.

A task goes from submitted to `working`, with a message for every game, to an
artifact named `Result` (the text for people, then the JSON for machines), to
completed. A request that cannot be understood is rejected; one that cannot be
carried out fails; both with the reason. Trouble with this machine's own folders
and files goes to the log only.
"""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from a2a.helpers import new_data_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.tasks import TaskUpdater
from a2a.types import AgentCard, AgentSkill, Message, TaskState
from a2a.utils.errors import InvalidParamsError

from agentquest import registry
from agentquest.a2a import limits
from agentquest.a2a.addresses import AllowList, through
from agentquest.a2a.assessment import Assessment, PreflightFailed
from agentquest.a2a.client.connection import A2AEndpoint, find_agent
from agentquest.a2a.client.transport import AgentBroken, AgentUnreachable
from agentquest.a2a.documents import answer_text, result_document
from agentquest.a2a.requests import OWN_TROUBLE, AssessmentRequest, RequestRejected, parse_request
from agentquest.a2a.serving import build_card
from agentquest.errors import AgentQuestError, DataError, UserError
from agentquest.running.run import OtherAgent
from agentquest.safe_text import one_line
from agentquest.words import counted

logger = logging.getLogger(__name__)


def green_card(url: str, launch_id: str | None = None) -> AgentCard:
    """The card of the green agent, which names the registered benchmarks."""
    benchmarks = registry.names("benchmark")
    example = '{"participants": {"agent": "http://localhost:9002/"}, "config": {"num_games": 6}}'
    return build_card(
        "AgentQuest green agent",
        "Assesses how well an agent acts over many turns: plays text games with it"
        f" ({', '.join(benchmarks)}) and reports success, behaviour and a 0-100 score.",
        AgentSkill(
            id="assess",
            name="Agent assessment",
            description="Tests one A2A agent; needs its URL and an optional configuration.",
            tags=["green agent", "assessment", *benchmarks],
            examples=[example],
        ),
        url,
        launch_id,
    )


@dataclass(frozen=True)
class GreenSettings:
    """Settings of this machine, which no request can change.

    `allowed` are the agents that may be called, `headers` what is sent to them. At most
    `max_assessments` run at once. `resume` lets a request continue its unfinished run.
    `agent_proxy` replaces this machine in agents' addresses: in a container, requests name
    the gateway by its own loopback address.
    """

    log_root: Path
    data_path: str | None = None
    allowed: AllowList = field(default_factory=AllowList)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    max_assessments: int = 4
    resume: bool = False
    agent_proxy: str | None = None


class GreenExecutor(AgentExecutor):
    """Carries out assessment requests for the A2A server, at most `max_assessments` at once."""

    def __init__(self, settings: GreenSettings) -> None:
        self._settings = settings
        self._running = 0

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = context.current_task
        if task is None:
            try:
                task = new_task_from_user_message(context.message)
            except ValueError as error:  # it has no text, or is said to be an agent's
                raise InvalidParamsError(str(error)) from None
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        try:
            await self._assess(context.get_user_input(), updater)
        except RequestRejected as error:
            await updater.reject(_message(updater, f"Request rejected: {error}"))
        except (AgentBroken, AgentUnreachable, PreflightFailed, OtherAgent) as error:
            await updater.failed(_message(updater, f"Assessment failed: {error}"))
        except Exception as error:
            known = isinstance(error, AgentQuestError | OSError)
            logger.error("assessment failed: %s", one_line(error), exc_info=not known)
            await updater.failed(_message(updater, f"Assessment failed: {OWN_TROUBLE}"))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        """Confirm the cancellation; the SDK has cancelled `execute`."""
        assert context.task_id is not None
        assert context.context_id is not None
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        await updater.cancel(_message(updater, "Assessment cancelled."))

    async def _assess(self, text: str, updater: TaskUpdater) -> None:
        request = self._check_address(parse_request(text))
        if self._running >= self._settings.max_assessments:
            raise RequestRejected(
                f"already running {counted(self._running, 'assessment')}, the most allowed"
                " (--max-assessments); ask again later"
            )
        self._running += 1
        try:
            await self._carry_out(request, updater)
        finally:
            self._running -= 1

    def _check_address(self, request: AssessmentRequest) -> AssessmentRequest:
        """The request with the address that is called; raises RequestRejected if it may not be."""
        url, proxy = request.agent_url, self._settings.agent_proxy
        if proxy is not None:
            url = through(proxy, url)
        if not self._settings.allowed.allows(url):
            raise RequestRejected(
                f"{one_line(url[:200])} is not an address that this green agent may"
                " call; start it with --allow-agent to test agents on other machines"
            )
        return request.model_copy(update={"agent_url": url})

    async def _carry_out(self, request: AssessmentRequest, updater: TaskUpdater) -> None:
        settings = self._settings
        try:
            assessment = await asyncio.to_thread(Assessment, request, settings.data_path)
        except DataError:
            raise
        except UserError as error:
            raise RequestRejected(str(error)) from None

        async def notify(text: str) -> None:
            await updater.update_status(
                TaskState.TASK_STATE_WORKING, message=_message(updater, text)
            )

        for note in assessment.notes:
            await notify(f"Note: {one_line(note)}")
        await notify(f"Assessing {one_line(request.agent_url)}")
        endpoint = await self._find(request)
        result = await assessment.play(endpoint, settings.log_root, notify, settings.resume)
        # AgentBeats keeps every part that is JSON: the text must not be, and the data comes once.
        await updater.add_artifact(
            [new_text_part(answer_text(result)), new_data_part(result_document(result))],
            name="Result",
        )
        await updater.complete()

    async def _find(self, request: AssessmentRequest) -> A2AEndpoint:
        settings = self._settings
        headers = dict(settings.headers)
        if request.authorization is not None:
            headers["Authorization"] = request.authorization
        least, most = limits.CARD_TIMEOUT_S
        patience = min(max(least, request.config.turn_timeout), most)
        return await find_agent(request.agent_url, patience, headers, settings.allowed)


def _message(updater: TaskUpdater, text: str) -> Message:
    return updater.new_agent_message([new_text_part(text)])
