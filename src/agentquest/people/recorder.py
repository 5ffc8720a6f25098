"""People's games as records, in run directories like any agent's.

People undo steps and start over, which agents cannot. So a game is recorded when its
player leaves it: the moves that remain are replayed by the loop that plays all agents,
on a fresh driver, with the time that each took the person. Games are deterministic, so
this is the same game. An unfinished one is `cancelled`: it has no score.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

from agentquest.config import load_config
from agentquest.errors import UserError
from agentquest.lib import Agent, Answer, Benchmark, Observation
from agentquest.lib.people import PlayedGame, PlayedMove
from agentquest.records.episode import EpisodeRecord
from agentquest.running.factory import Resources
from agentquest.running.play import make_player
from agentquest.running.run import Run
from agentquest.running.selection import Selection
from agentquest.running.spec import EpisodeSpec, RunContext
from agentquest.store.stored_run import RunWriter

AGENT = "human"
_NO_LIMIT = 10_000  # steps: people stop by themselves


class GameRecorder:
    """Appends people's games of one benchmark to a run.

    Each game locks the run while it is written, so that several windows can record in one
    run. Used as a context manager, it keeps the run to itself.
    """

    def __init__(
        self,
        source: Benchmark,
        settings: Mapping[str, Any],
        folder: Path,
        run_name: str | None = None,
        max_steps: int = _NO_LIMIT,
    ) -> None:
        config, _ = load_config(
            settings={
                "run_name": run_name,
                "benchmark": source.name,
                # People choose their games one by one, so no task list is fixed.
                "benchmark_settings": {k: v for k, v in settings.items() if k != "task_types"},
                "agent": AGENT,
                "max_steps": max_steps,
                "output_dir": folder,
            }
        )
        self._run = Run(config, Selection(()), source)
        self._log: RunWriter | None = None
        self._lock = ExitStack()

    @property
    def path(self) -> Path:
        """The folder of the run that the games go to."""
        return self._run.directory.path

    def __enter__(self) -> "GameRecorder":
        try:
            self._run.prepare()
            self._log = self._lock.enter_context(self._run.stored.open_for_writing())
        except OSError as error:
            reason = f"{self.path} cannot be written to ({error.strerror})"
            raise UserError(f"people's episodes: {reason}") from error
        return self

    def __exit__(self, *reason: object) -> None:
        self._log = None
        self._lock.close()

    def count_games(self) -> Mapping[str, int]:
        """How many games of each task the run has, by the task's id."""
        return Counter(row.task_id for row in self._run.rows)

    def save(self, game: PlayedGame) -> EpisodeRecord:
        """Record a game; one that was neither finished nor given up is cancelled."""
        if self._log is None:
            with self:
                return self.save(game)
        run = self._run
        trial = self.count_games()[game.task.id]
        spec = EpisodeSpec(run.context, game.task, trial)
        record = asyncio.run(_replay(spec, run.benchmark, game))
        self._log.append(record)
        run.stored.save_results()
        return record


async def _replay(spec: EpisodeSpec, benchmark: Benchmark, game: PlayedGame) -> EpisodeRecord:
    replay = asyncio.current_task()
    assert replay is not None
    person = _Person(iter(game.moves), replay.cancel)
    player = make_player(spec, _WithPerson(spec.context, benchmark, person))
    try:
        record = await player.play()
    except asyncio.CancelledError:
        cut = player.cut_short()
        assert cut is not None, "only games with steps are recorded"
        record = cut
    steps = [
        step.model_copy(update={"seconds": move.seconds})
        for step, move in zip(record.steps, game.moves, strict=True)
    ]
    return record.model_copy(
        update={
            "steps": steps,
            "facts": {**record.facts, **game.facts},
            "details": {**record.details, **game.details},
            "started_at": game.started_at,
            "seconds": sum(move.seconds for move in game.moves),
        }
    )


class _WithPerson(Resources):
    """An ordinary run, except for its agent."""

    def __init__(self, context: RunContext, benchmark: Benchmark, person: Agent) -> None:
        super().__init__(context, benchmark)
        self._person = person

    def agent(self) -> Agent:
        return self._person


class _Person(Agent):
    """Repeats what the person did."""

    def __init__(self, moves: Iterator[PlayedMove], cancel: Callable[[], object]) -> None:
        self._moves = moves
        self._cancel = cancel

    async def act(self, observation: Observation) -> Answer:
        move = next(self._moves, None) or await self._leave()
        gave_up = move.command is None
        return Answer(action=move.command, how=move.how, reply=move.command or "", give_up=gave_up)

    async def _leave(self) -> NoReturn:
        """End the replay as a stopped run ends its episodes: nothing here is the person's fault."""
        self._cancel()
        await asyncio.Event().wait()
        raise AssertionError("the replay was cancelled")
