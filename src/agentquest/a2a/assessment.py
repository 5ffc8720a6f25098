"""One assessment: a `Run` like any other, whose agent is called over A2A.

The request decides which games are played; the run plays, records and resumes
them; the documents of an assessment are made from its records. The first game is
played alone: what is wrong with every answer is found there, and not in a
hundred games.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from agentquest.a2a import limits
from agentquest.a2a.client.connection import A2AEndpoint
from agentquest.a2a.documents import (
    CANCELLED,
    COMPLETED,
    FAILED,
    RUNNING,
    AssessedGame,
    AssessmentDocuments,
    AssessmentResult,
    describe_silence,
    end_reason,
)
from agentquest.a2a.requests import AssessmentRequest
from agentquest.errors import AgentQuestError, UserError
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.records.how import How
from agentquest.records.manifest import AssessedAgent
from agentquest.records.messages import Message
from agentquest.running.events import RunEvents
from agentquest.running.run import OtherAgent, Run
from agentquest.running.selection import Selection
from agentquest.running.spec import EpisodeSpec
from agentquest.safe_text import one_line
from agentquest.store.folder import RunFolder
from agentquest.words import counted

Notify = Callable[[str], Awaitable[None]]
# Failures that every further game would meet as well.
_HOPELESS = ("AccessDenied",)


class PreflightFailed(AgentQuestError):
    """The first game showed that playing on is pointless; the text says why."""


class Assessment:
    """A request whose games are known. Making one reads the data; play it once."""

    def __init__(self, request: AssessmentRequest, data_path: str | None = None) -> None:
        self.request = request
        self._data_path = data_path
        self.benchmark = request.config.make_benchmark(data_path)
        self.selection = request.config.select_games(self.benchmark)

    @property
    def notes(self) -> tuple[str, ...]:
        """What the requester should know about the request and about the games chosen."""
        return (*self.request.warnings, *self.selection.notes)

    def prepare(self, agent: AssessedAgent, log_root: Path, resume: bool = False) -> Run:
        """The run of this agent, in a folder of its own.

        `resume` continues the newest unfinished run of the same request and agent; raises
        OtherAgent if there are only runs of another agent.
        """
        refusals = []
        earlier = [folder for folder in log_root.glob("run_*") if RunFolder(folder).exists]
        for folder in sorted(earlier, reverse=True) if resume else ():
            run = self._run(folder)
            if _is_unfinished(run):
                try:
                    run.bind(agent)
                except OtherAgent as error:
                    refusals.append(error)
                else:
                    return run
        if refusals:
            raise refusals[0]
        run = self._run(_make_folder(log_root))
        run.bind(agent)
        return run

    def _run(self, folder: Path) -> Run:
        remote = {"url": self.request.agent_url}
        config = self.request.config.run_config(remote, folder, self.benchmark, self._data_path)
        return Run(config, Selection(self.selection.tasks, self.notes), self.benchmark)

    async def play(
        self,
        endpoint: A2AEndpoint,
        log_root: Path,
        notify: Notify,
        resume: bool = False,
    ) -> AssessmentResult:
        """Play all games; finished games are on disk, also when this is cancelled."""
        beginning = asyncio.ensure_future(
            asyncio.to_thread(self._begin, endpoint.card.agent, log_root, resume)
        )
        status = CANCELLED
        try:
            run, specs, documents = await asyncio.shield(beginning)
            again = f", {len(run.specs) - len(specs)} already played" if resume else ""
            await notify(f"{counted(len(specs), 'game')}, run {run.run_id}{again}")
            progress = Progress(run, notify, documents)
            async with progress.notifying():
                await _play(run, specs, progress, documents, endpoint)
            status = COMPLETED
        except PreflightFailed:
            status = FAILED
            raise
        finally:
            *_, documents = await beginning
            # Not in a thread: after a cancellation the files must be there.
            result = documents.write(status)
        return result

    def _begin(
        self, agent: AssessedAgent, log_root: Path, resume: bool
    ) -> tuple[Run, list[EpisodeSpec], AssessmentDocuments]:
        """The run with its folder, the episodes still to play, and the documents."""
        run = self.prepare(agent, log_root, resume)
        specs = run.prepare()
        documents = AssessmentDocuments(run, self.request, agent.name)
        documents.write(RUNNING)
        if not specs:
            with run.directory.lock():
                run.stored.save_results()
        return run, specs, documents


async def _play(
    run: Run,
    specs: list[EpisodeSpec],
    progress: "Progress",
    documents: AssessmentDocuments,
    endpoint: A2AEndpoint,
) -> None:
    def save(running: bool) -> None:
        run.stored.save_results(running)
        documents.write(RUNNING)

    # The first alone, then the others.
    for part in (specs[:1], specs[1:]):
        if part:
            await run.play(part, progress, asyncio.Event(), save, shared=endpoint)
            _check_first_game(run, len(specs))


def _check_first_game(run: Run, games: int) -> None:
    """Raise PreflightFailed if going on is pointless; a single game is its own result."""
    records = run.records
    if len(records) != 1 or games == 1:
        return
    (record,) = records
    if record.error is not None and record.error.kind in _HOPELESS:
        raise PreflightFailed(f"the agent denied access in the first game: {record.error.message}")
    if record.steps and all(step.how == How.NO_TEXT for step in record.steps):
        game = AssessedGame.from_record(0, record, run.benchmark.verbs)
        (reason,) = describe_silence([game])
        raise PreflightFailed(f"no reply in the first game could be read: {reason}")


class Progress(RunEvents):
    """Reports every finished game, and now and then a step of a running one."""

    def __init__(self, run: Run, notify: Notify, documents: AssessmentDocuments) -> None:
        self._places = {spec.key: place for place, spec in enumerate(run.specs)}
        self._notify = notify
        self._documents = documents
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._writing: set[asyncio.Future[None]] = set()
        played = [row for row in run.rows if row.scored]
        self._finished = len(played)
        self._won = sum(row.success for row in played)
        self._notified_at = time.monotonic()

    @asynccontextmanager
    async def notifying(self) -> AsyncIterator[None]:
        """At the end the games' documents are written and everything is reported; after an
        exception, nothing more is reported."""
        task = asyncio.create_task(self._notify_in_order())
        try:
            yield
            self._queue.put_nowait(None)
            await asyncio.gather(task, *self._writing)
        except BaseException:
            task.cancel()
            await asyncio.gather(task, *self._writing, return_exceptions=True)
            raise

    def stepped(self, spec: EpisodeSpec, step: Step, prompt: tuple[Message, ...]) -> None:
        """Report a step, unless something was reported a moment ago."""
        now = time.monotonic()
        if now - self._notified_at < limits.PROGRESS_INTERVAL_S:
            return
        self._notified_at = now
        action = step.action if step.action is not None else "no available action"
        text = f"game {self._places[spec.key] + 1}, step {step.index}: {one_line(action)}"
        self._queue.put_nowait(text)

    async def save(self, record: EpisodeRecord) -> None:
        """Take in a game that has ended or was stopped."""
        self._documents.add_game(record)

    def finished(self, spec: EpisodeSpec, record: EpisodeRecord) -> None:
        """Report how a game ended, and write its documents in the background."""
        self._notified_at = time.monotonic()
        self._finished += 1
        self._won += record.success
        place = self._places[spec.key]
        reason = f" ({one_line(record.error.message)})" if record.error else ""
        self._queue.put_nowait(
            f"[{self._finished}/{len(self._places)}] game {place + 1}, {record.task_type}: "
            f"{end_reason(record)} after {counted(len(record.steps), 'step')}"
            f"{reason[: limits.MAX_REASON_CHARACTERS]}; {self._won} won so far"
        )
        task = asyncio.ensure_future(asyncio.to_thread(self._documents.write_game, record))
        self._writing.add(task)
        task.add_done_callback(self._writing.discard)

    async def _notify_in_order(self) -> None:
        while (text := await self._queue.get()) is not None:
            await self._notify(text)


def _is_unfinished(run: Run) -> bool:
    """Whether the run's folder holds this run, and not all of it."""
    try:
        saved = run.directory.manifest()
    except UserError:
        return False
    if saved.differences(run.manifest()):
        return False
    run.prepare()
    return bool(run.pending)


def _make_folder(root: Path) -> Path:
    """A new folder with a unique name made of the local time."""
    name = datetime.now().strftime("run_%Y%m%d_%H%M%S")
    for number in range(1, 10_000):
        folder = root / (name if number == 1 else f"{name}_{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"cannot make the log folder {folder}: {error.strerror}") from None
        return folder
    raise UserError(f"too many runs are named {name}")
