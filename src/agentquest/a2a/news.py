"""Progress of an assessment: for the requester, and in the games' documents."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType

from agentquest.a2a.documents import AssessmentDocuments
from agentquest.a2a.figures import end_reason
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.messages import Message
from agentquest.reports.safe_text import one_line
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from agentquest.running.spec import EpisodeSpec
from agentquest.words import counted

Tell = Callable[[str], Awaitable[None]]
_STEP_NEWS_EVERY_S = 2.0
_LONGEST_REASON = 300


class News(RunEvents):
    """Tells of every finished game in turn, and now and then of a game that goes on.

    Use as an asynchronous context manager. When it is left, the games' documents are
    written and everything is told; to whoever cancelled, nothing more is told.
    """

    def __init__(self, run: Run, tell: Tell, documents: AssessmentDocuments) -> None:
        self._places = {spec.key: place for place, spec in enumerate(run.specs)}
        self._tell = tell
        self._documents = documents
        self._waiting: asyncio.Queue[str | None] = asyncio.Queue()
        self._telling: asyncio.Task[None] | None = None
        self._writing: set[asyncio.Future[None]] = set()
        played = [record for record in run.records if record.scored]
        self._over = len(played)
        self._won = sum(record.success for record in played)
        self._told_at = time.monotonic()

    async def __aenter__(self) -> "News":
        self._telling = asyncio.create_task(self._tell_in_turn())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._telling is not None
        self._waiting.put_nowait(None)
        if kind is not None:
            self._telling.cancel()
        await asyncio.gather(self._telling, *self._writing, return_exceptions=kind is not None)

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """Tell of a step, if nothing was told for a while."""
        now = time.monotonic()
        if now - self._told_at < _STEP_NEWS_EVERY_S:
            return
        self._told_at = now
        action = step.action if step.action is not None else "no available action"
        text = f"game {self._places[spec.key] + 1}, step {step.index}: {one_line(action)}"
        self._waiting.put_nowait(text)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """Tell how a game ended, and write its document in the background."""
        self._told_at = time.monotonic()
        self._over += 1
        self._won += record.success
        place = self._places[spec.key]
        why = f" ({one_line(record.error.message)})" if record.error else ""
        text = (
            f"[{self._over}/{len(self._places)}] game {place + 1}, {record.task_type}: "
            f"{end_reason(record)} after {counted(len(record.steps), 'step')}"
            f"{why[:_LONGEST_REASON]}; {self._won} won so far"
        )

        self._waiting.put_nowait(text)
        written = asyncio.to_thread(self._documents.write_game, place, record)
        task = asyncio.ensure_future(written)
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _tell_in_turn(self) -> None:
        while (news := await self._waiting.get()) is not None:
            await self._tell(news)
