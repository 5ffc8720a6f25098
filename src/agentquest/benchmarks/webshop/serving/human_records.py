"""People's episodes in a run directory, so that their scores are reported like any agent's.

A visit that nobody finished is recorded as cancelled: it has no score, but the
report shows how many there were. Tasks are handed out so that those played least
come first, from the test split.
"""

import asyncio
import hashlib
import json
import platform
from collections import Counter
from contextlib import ExitStack
from datetime import datetime, timezone
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark, task_hash
from agentquest.benchmarks.webshop.serving.site_session import MAX_STEPS, SiteSession
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import BUILTIN, numbers_of, task_of
from agentquest.errors import UserError
from agentquest.lib.similarity import repetition_rate
from agentquest.records.episode import EpisodeRecord, Failure, episode_key
from agentquest.records.manifest import Manifest, Provenance
from agentquest.records.outcome import AgentFaults, End, is_scored
from agentquest.records.run_directory import EpisodeLog, RunDirectory
from agentquest.version import __version__

AGENT = "human"
BENCHMARK = WebshopBenchmark.name
_LEFT = Failure(source="run", kind=End.CANCELLED.value, message="left without a purchase")


class HumanRecords:
    """Appends visits to a run directory; open while the site runs (`with records:`)."""

    def __init__(self, shop: Shop, folder: Path, data: Path | None = None) -> None:
        self.shop = shop
        self.directory = RunDirectory(folder)
        self._data = data
        self._stack = ExitStack()
        self._log: EpisodeLog | None = None
        self._writing = asyncio.Lock()
        self._saved: Counter[str] = Counter()  # episodes by task
        self._given: Counter[int] = Counter()  # visits by the goal's number

    def __enter__(self) -> "HumanRecords":
        try:
            self._open()
        except OSError as error:
            reason = f"{self.directory.path} cannot be written to ({error.strerror})"
            raise UserError(f"people's episodes: {reason}") from error
        return self

    def _open(self) -> None:
        if self.directory.exists:
            self._check_same_shop()
        else:
            config = yaml.safe_dump(self._config(), sort_keys=False)
            self.directory.create(config, self._manifest())
        self._log = self._stack.enter_context(self.directory.locked())
        for record in self.directory.records(slim=True):
            self._saved[record.task_id] += 1
            self._given[int(record.problem)] += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def give_task(self, number: int | None = None) -> int:
        """The number of the goal for a new visit: the one asked for, or one played least."""
        if number is None:
            choice = numbers_of("test", len(self.shop.goals))
            number = min(choice, key=lambda n: (self._given[n], n))
        task_of(self.shop.goals, number)  # refuses a goal that no record could name
        self._given[number] += 1
        return number

    async def save(self, visit: SiteSession) -> None:
        """Write a visit down; one that is not over was left."""
        if visit.end is None and not visit.steps:
            self._given[visit.number] -= 1  # nothing happened: the task is free again
            return
        assert self._log is not None, "use `with records`"
        async with self._writing:
            record = self._record(visit)
            await asyncio.to_thread(self._log.append, record)
            self._saved[record.task_id] += 1

    def _record(self, visit: SiteSession) -> EpisodeRecord:
        end = visit.end or End.CANCELLED
        task = task_of(self.shop.goals, visit.number)
        trial = self._saved[task.id]
        return EpisodeRecord(
            run_id=self.directory.path.name,
            key=episode_key(task.id, trial),
            benchmark=BENCHMARK,
            task_id=task.id,
            task_type=task.task_type,
            split=task.split,
            trial=trial,
            seed=self.shop.seed,
            problem=task.problem,
            data_hash=task_hash(self.shop, visit.number),
            goal=visit.session.instruction,
            agent=AGENT,
            config_hash=_hash(self._deciding()),
            versions=_versions(),
            max_steps=MAX_STEPS,
            first_observation=visit.first_observation,
            first_admissible=visit.first_admissible,
            steps=visit.steps,
            end=end,
            scored=is_scored(end, AgentFaults.LOSE),
            success=end is End.SOLVED,
            reward=visit.reward,
            progress=visit.reward,
            repetition_rate=repetition_rate([step.action or "" for step in visit.steps]),
            error=_LEFT if end is End.CANCELLED else None,
            details=_details(visit),
            started_at=visit.started_at,
            seconds=visit.seconds,
        )

    def _deciding(self) -> dict[str, Any]:
        """All that decides which tasks these are and how they score."""
        return {
            "benchmark": BENCHMARK,
            "agent": AGENT,
            "goals": self.shop.goals.kind,
            "seed": self.shop.seed,
            "strict": self.shop.strict,
            "nouns": self.shop.nouns.name,
            "data_hash": self.shop.catalogue.digest,
        }

    def _config(self) -> dict[str, Any]:
        return self._deciding() | {"data_path": self._data and str(self._data)}

    def _manifest(self) -> Manifest:
        return Manifest(
            run_id=self.directory.path.name,
            created_at=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            benchmark=BENCHMARK,
            benchmark_title=WebshopBenchmark.title,
            provenance=Provenance(
                data="real" if self._data else BUILTIN,
                data_path=None if self._data is None else str(self._data),
                split="test",
                details={name: str(value) for name, value in self._deciding().items()},
            ),
            agent=AGENT,
            agent_faults=AgentFaults.LOSE,
            max_steps=MAX_STEPS,
            trials=1,
            metrics=list(WebshopBenchmark.metrics),
            cleanup_applies=bool(WebshopBenchmark.verbs.open),
            verbs=WebshopBenchmark.verbs,
            task_types=list(WebshopBenchmark.task_types),
            task_ids=[],  # people come as they like
            versions=_versions(),
            config_hash=_hash(self._deciding()),
            data_hash=self.shop.catalogue.digest,
            config=self._config(),
            deciding=self._deciding(),
        )

    def _check_same_shop(self) -> None:
        before = self.directory.manifest().deciding
        for name, value in self._deciding().items():
            if before.get(name) != value:
                raise UserError(
                    f"{self.directory.path} has episodes of a different shop:"
                    f" {name} was {before.get(name)!r}, is {value!r}; choose another --records"
                )


def _details(visit: SiteSession) -> dict[str, Any]:
    """The goal, what the reward was made of, and who played if they said so."""
    session = visit.session
    return {
        "session": session.id,
        "participant": visit.participant,
        "completion_code": visit.code,
        "goal": session.goal.as_dict(),
        "bought": session.bought,
        "options": dict(session.options),
        "reward": session.details,
        "nouns": session.shop.nouns.name,
    }


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _versions() -> dict[str, str]:
    return {"agentquest": __version__, "python": platform.python_version()}
