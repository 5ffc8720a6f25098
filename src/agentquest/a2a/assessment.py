"""One assessment: a `Run` like any other, whose agent is asked over A2A.

Which games are played is worked out from the request; the run plays, records
and resumes them; the documents of an assessment are made from its records. The
first game is played alone: what is wrong with every answer is found there, and
not in a hundred games.
"""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from agentquest.a2a.assessment_config import AssessmentConfig
from agentquest.a2a.documents import (
    CANCELLED,
    COMPLETED,
    FAILED,
    RUNNING,
    AssessmentDocuments,
)
from agentquest.a2a.figures import Game, diagnoses
from agentquest.a2a.news import News, Tell
from agentquest.a2a.remote_agent import NO_TEXT, Party
from agentquest.a2a.requests import AssessmentRequest
from agentquest.a2a.results import AssessmentInfo, AssessmentResult
from agentquest.a2a.selecting import choose, is_whole
from agentquest.config import RunConfig, config_from
from agentquest.errors import AgentQuestError, UserError
from agentquest.records.outcome import AgentFaults
from agentquest.records.run_directory import RunDirectory
from agentquest.running.factory import make_benchmark
from agentquest.running.run import Run
from agentquest.running.selection import Selection
from agentquest.running.spec import EpisodeSpec
from agentquest.words import counted

# Failures that every further game would meet as well.
_HOPELESS = ("AccessDenied",)


class PreflightFailed(AgentQuestError):
    """The first game showed that playing on is pointless; the text says why."""


def check_games(config: AssessmentConfig, data_path: str | None) -> None:
    """Raise a UserError where what is asked for does not exist; reads the data."""
    choose(config, make_benchmark(config.benchmark, _benchmark_settings(config, data_path)))


class Assessment:
    """A request that can be met: its games are known. Making one reads the data; play it once."""

    def __init__(self, request: AssessmentRequest, data_path: str | None = None) -> None:
        config = request.config
        self.request = request
        self._settings = _benchmark_settings(config, data_path)
        self.benchmark = make_benchmark(config.benchmark, self._settings)
        self.selection = choose(config, self.benchmark)
        self._protocol = config.protocol if is_whole(config, self.benchmark) else None

    @property
    def notes(self) -> tuple[str, ...]:
        """What the requester should know about the request and about the games chosen."""
        return (*self.request.warnings, *self.selection.notes)

    def prepare(self, agent: str, log_root: Path, resume: bool = False) -> Run:
        """The run, in a folder of its own; `agent` is the agent's name.

        `resume` goes on with the newest run of the same request that is not finished.
        """
        if resume:
            for folder in _runs(log_root):
                run = self._run(agent, log_root, folder.name)
                if _is_same(run, folder):
                    return run
        return self._run(agent, log_root, _new_folder(log_root))

    def _run(self, agent: str, log_root: Path, run_name: str) -> Run:
        config = self._run_config(agent, log_root, run_name)
        return Run(config, Selection(self.selection.tasks, self.notes), self.benchmark)

    def _run_config(self, agent: str, log_root: Path, run_name: str) -> RunConfig:
        asked = self.request.config
        config, _ = config_from(
            {
                "benchmark": asked.benchmark,
                "benchmark_settings": self._settings,
                "protocol": self._protocol,
                **self._games(),
                "seed": asked.seed,
                "max_steps": asked.max_steps,
                "agent": {
                    "name": "a2a",
                    "url": self.request.agent_url,
                    "label": agent,
                    "invalid_policy": asked.invalid_policy,
                    "repeat_goal": asked.repeat_goal,
                },
                # An agent must not gain by crashing in games it would lose.
                "agent_faults": AgentFaults.LOSE,
                "parallel": asked.concurrency,
                "step_timeout_s": asked.turn_timeout,
                "output_dir": log_root,
                "run_name": run_name,
            }
        )
        return config

    def _games(self) -> dict[str, Any]:
        """A protocol says itself how many; otherwise the tasks are chosen, and named, by us."""
        asked = self.request.config
        if self._protocol is not None or asked.per_type is not None:
            return {}
        return {"num_games": asked.num_games}

    async def play(
        self, agent: str, party: Party, log_root: Path, tell: Tell, resume: bool = False
    ) -> AssessmentResult:
        """Play all games; what is finished is on disk, also when this is cancelled."""
        began = asyncio.ensure_future(asyncio.to_thread(self._begin, agent, log_root, resume))
        status = CANCELLED
        try:
            run, specs, documents = await asyncio.shield(began)
            again = f", {len(run.specs) - len(specs)} already played" if run.records else ""
            await tell(f"{counted(len(specs), 'game')}, run {run.run_id}{again}")
            async with News(run, tell, documents) as news:
                await _play(run, specs, news, documents, party)
            status = COMPLETED
        except PreflightFailed:
            status = FAILED
            raise
        finally:
            *_, documents = await began
            # Not in a thread: whoever cancels must find it written.
            result = documents.write(status)
        return result

    def _begin(self, agent: str, log_root: Path, resume: bool) -> "_Begun":
        run = self.prepare(agent, log_root, resume)
        specs = run.prepare()
        documents = AssessmentDocuments(
            run, AssessmentInfo(self.request, agent, run.saved_manifest)
        )
        documents.write(RUNNING)
        return _Begun(run, specs, documents)


class _Begun(NamedTuple):
    """A run with its folder, what is still to play, and its documents."""

    run: Run
    specs: list[EpisodeSpec]
    documents: AssessmentDocuments


async def _play(
    run: Run, specs: list[EpisodeSpec], news: News, documents: AssessmentDocuments, party: Party
) -> None:
    def save() -> None:
        documents.write(RUNNING)

    # The first alone, then the others.
    for part in (specs[:1], specs[1:]):
        if part:
            await run.play(part, news, asyncio.Event(), save, shared=party)
            _check(run, len(specs))


def _check(run: Run, wanted: int) -> None:
    """Whether it makes sense to go on; a single game is its own result."""
    records = run.records
    if len(records) != 1 or wanted == 1:
        return
    (record,) = records
    if record.error is not None and record.error.kind in _HOPELESS:
        raise PreflightFailed(f"the agent denied access in the first game: {record.error.message}")
    if record.steps and all(step.how == NO_TEXT for step in record.steps):
        told = diagnoses([Game.of(0, record, run.saved_manifest)])
        raise PreflightFailed(f"no reply in the first game could be read: {told[0]}")


def _benchmark_settings(config: AssessmentConfig, data_path: str | None) -> dict[str, Any]:
    known = config.benchmark_class.Settings.model_fields
    given = {"split": config.split, "task_types": config.task_types, "data_path": data_path}
    return {name: value for name, value in given.items() if value is not None and name in known}


def _runs(root: Path) -> list[Path]:
    """The folders of earlier assessments, the newest first."""
    folders = (folder for folder in root.glob("run_*") if RunDirectory(folder).exists)
    return sorted(folders, key=lambda folder: folder.name, reverse=True)


def _is_same(run: Run, folder: Path) -> bool:
    """Whether a folder holds this run, and not all of it."""
    try:
        saved = RunDirectory(folder).manifest()
    except UserError:
        return False
    if saved.differences(run.manifest()):
        return False
    run.prepare()
    return bool(run.owed)


def _new_folder(root: Path) -> str:
    """A new folder with a unique name, made of the local time."""
    name = datetime.now().strftime("run_%Y%m%d_%H%M%S")
    for number in range(1, 10_000):
        numbered = name if number == 1 else f"{name}_{number}"
        try:
            (root / numbered).mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise UserError(f"cannot make the log folder: {error.strerror}") from None
        return numbered
    raise UserError(f"too many runs are named {name}")
