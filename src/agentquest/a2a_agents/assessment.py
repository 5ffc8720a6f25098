"""One assessment: which games, played by the evaluator's own runner, and what came of them.

There is no loop here. Games are chosen by `running.selection`, played by
`running.many_episodes` with a `RemoteAgent`, and judged from their records.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agentquest.a2a_agents.figures import Game
from agentquest.a2a_agents.logs import AssessmentLog
from agentquest.a2a_agents.remote_agent import Line, RemoteAgent
from agentquest.a2a_agents.requests import AssessmentConfig, AssessmentRequest
from agentquest.a2a_agents.results import Finding, Meta
from agentquest.errors import UserError
from agentquest.lib import Task
from agentquest.records.episode import EpisodeRecord, Step
from agentquest.running.assemble import make_benchmark
from agentquest.running.many_episodes import Job, Stage, Watcher, run_many
from agentquest.running.one_episode import Origin, Rules, versions
from agentquest.running.selection import Selection, episode_seed, select

Tell = Callable[[str], Awaitable[None]]
_STEP_NEWS_EVERY_S = 2.0


class Assessment:
    """A request that can be met: its games are known. Making one reads the data; run it once."""

    def __init__(self, request: AssessmentRequest, data_path: str | None = None) -> None:
        config = request.config
        self.request = request
        self.config = config
        self.benchmark = make_benchmark(config.benchmark, **_settings(config, data_path))
        tasks, self.notes = self._chosen()
        self.jobs = [Job(task, 0, episode_seed(config.seed, task.id, 0)) for task in tasks]
        self.data_hash = self.benchmark.fingerprint(tasks)

    def _chosen(self) -> tuple[list[Task], tuple[str, ...]]:
        config, tasks = self.config, self.benchmark.tasks()
        if not tasks:
            raise UserError(f"no games in split {config.split!r} for these task types")
        # The benchmark knows its types by number and by several names; it says which it took.
        wanted = getattr(self.benchmark, "wanted", None) or self.benchmark.task_types
        types = [name for name in self.benchmark.task_types if name in wanted]
        chosen = select(tasks, types, config.seed, config.num_games, config.per_type)
        if config.per_type is None and config.num_games >= len(tasks):
            # Whoever asks for as many as there are means all, however they are spread.
            few = f"{config.num_games} games wanted, there are {len(tasks)}"
            chosen = Selection(tuple(tasks), (few,) if config.num_games > len(tasks) else ())
        capped = chosen.tasks[: config.num_instances]
        dealt = [
            task
            for place, task in enumerate(capped)
            if place % config.num_shards == config.shard_index
        ]
        return dealt, chosen.notes

    @property
    def config_hash(self) -> str:
        operational = {"concurrency", "turn_timeout"}
        deciding = self.config.model_dump(mode="json", exclude=operational)
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()

    def meta(self, agent: str) -> Meta:
        return Meta(
            request=self.request,
            agent=agent,
            provenance=self.benchmark.provenance(),
            type_numbers={
                name: number for number, name in enumerate(self.benchmark.task_types, start=1)
            },
            tasks=[job.task.id for job in self.jobs],
            notes=self.notes,
            config_hash=self.config_hash,
            data_hash=self.data_hash,
            versions=versions(),
        )

    async def run(
        self, agent: str, connect: Callable[[], Line], log_root: Path, tell: Tell
    ) -> Finding:
        """Play all games; what is finished is on disk, also when this is cancelled."""
        meta = self.meta(agent)
        with AssessmentLog(log_root, meta) as log:
            news = _News(self.jobs, tell)
            stage = Stage(
                new_driver=self.benchmark.driver,
                new_agent=lambda job: RemoteAgent(
                    self.benchmark.name, connect, self.config.invalid_policy == "first"
                ),
                rules=Rules(
                    max_steps=self.config.max_steps, step_timeout_s=self.config.turn_timeout
                ),
                origin=Origin(log.run_id, self.config_hash, versions(), self.benchmark.name, agent),
            )

            async def save(record: EpisodeRecord) -> None:
                game = Game.of(news.place[record.key], record)
                await log.save(game, record)
                await news.game_over(game)

            await tell(f"{len(self.jobs)} games, logs in {log.folder}")
            await run_many(self.jobs, stage, save, self.config.concurrency, news)
            await news.settle()
            return log.finish("completed")


class _News(Watcher):
    """Tells of every finished game, and now and then of a game that goes on."""

    def __init__(self, jobs: list[Job], tell: Tell) -> None:
        self.place = {job.key: place for place, job in enumerate(jobs)}
        self._tell = tell
        self._over = 0
        self._won = 0
        self._told_at = time.monotonic()
        self._telling: set[asyncio.Task[None]] = set()

    def stepped(self, job: Job, step: Step) -> None:
        now = time.monotonic()
        if now - self._told_at < _STEP_NEWS_EVERY_S:
            return
        self._told_at = now
        action = step.action if step.action is not None else "no available action"
        text = f"game {self.place[job.key] + 1}, step {step.index}: {action}"
        task = asyncio.create_task(_awaited(self._tell(text)))
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

    async def game_over(self, game: Game) -> None:
        self._told_at = time.monotonic()
        self._over += 1
        record = game.record
        self._won += record.success
        why = f" ({record.error.message})" if record.error else ""
        await self._tell(
            f"[{self._over}/{len(self.place)}] game {game.index + 1}, {record.task_type}: "
            f"{record.end.value} after {len(record.steps)} steps{why[:300]}; {self._won} won so far"
        )

    async def settle(self) -> None:
        await asyncio.gather(*self._telling)


async def _awaited(promise: Awaitable[None]) -> None:
    await promise


def _settings(config: AssessmentConfig, data_path: str | None) -> dict[str, Any]:
    given = {"split": config.split, "task_types": config.task_types, "data_path": data_path}
    return {name: value for name, value in given.items() if value is not None}
