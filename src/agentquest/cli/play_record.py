"""A person's game as a record, in a run directory like any agent's.

People undo steps and start over, which agents cannot. So a game is recorded when its
player leaves it: the steps that remain are replayed by the loop that plays all agents,
on a fresh driver, with the time that each took the person. Games are deterministic, so
this is the same game. An unfinished one is `cancelled`: it has no score.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agentquest.api import save_results
from agentquest.config import config_from
from agentquest.lib import Agent, Answer, Benchmark, Observation, Task
from agentquest.lib.play_session import Move, PlaySession
from agentquest.records.episode import EpisodeRecord
from agentquest.running.factory import Resources
from agentquest.running.play import make_player
from agentquest.running.run import Run
from agentquest.running.selection import Selection
from agentquest.running.spec import EpisodeSpec, RunContext
from agentquest.viewer.games import WebGame
from agentquest.words import slug

AGENT = "human"
_NO_LIMIT = 10_000  # steps: people stop by themselves


class GameLog:
    """Appends games to the run directory of a person who plays a benchmark."""

    def __init__(
        self,
        source: Benchmark,
        settings: Mapping[str, Any],
        folder: Path,
        run_name: str | None = None,
    ) -> None:
        config, _ = config_from(
            {
                "run_name": run_name,
                "benchmark": source.name,
                # People choose their games one by one, so no task list is fixed.
                "benchmark_settings": {k: v for k, v in settings.items() if k != "task_types"},
                "agent": AGENT,
                "max_steps": _NO_LIMIT,
                "output_dir": folder,
            }
        )
        self._run = Run(config, Selection(()), source)

    @property
    def path(self) -> Path:
        """The folder of the run that the games go to."""
        return self._run.directory.path

    def save(
        self, session: PlaySession, task: Task, facts: Mapping[str, str] | None = None
    ) -> EpisodeRecord:
        """Record a game, with further facts; an unfinished one counts as left."""
        run = self._run
        run.prepare()
        with run.directory.locked() as log:
            run.prepare()  # another window may have written in the meantime
            trial = sum(row.task_id == task.id for row in run.rows)
            spec = EpisodeSpec(run.context, task, trial)
            record = asyncio.run(_replayed(spec, run.benchmark, session))
            told = {**record.facts, **(facts or {})}
            record = record.model_copy(update={"facts": told})
            log.append(record)
            run.prepare()
            save_results(run)
        return record


async def _replayed(spec: EpisodeSpec, benchmark: Benchmark, session: PlaySession) -> EpisodeRecord:
    player = make_player(spec, _Person(spec.context, benchmark, session.moves))
    try:
        record = await player.play()
    except _LeftUnfinished:
        cut = player.cut_short()
        assert cut is not None, "only games with steps are recorded"
        record = cut
    steps = [
        step.model_copy(update={"seconds": move.seconds})
        for step, move in zip(record.steps, session.moves, strict=True)
    ]
    return record.model_copy(
        update={
            "steps": steps,
            "facts": {**record.facts, **_help_taken(session)},
            "started_at": session.started_at,
            "seconds": sum(move.seconds for move in session.moves),
        }
    )


def _help_taken(session: PlaySession) -> dict[str, str]:
    taken = {
        "hints": session.all_hints,
        "undone": session.all_undone,
        "restarts": session.restarts,
    }
    return {name: str(number) for name, number in taken.items() if number}


class Notebook:
    """Records what people play in the viewer, each benchmark's games in a run of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def save(self, game: WebGame) -> tuple[str, str]:
        """Where the game is now: its run and its key there."""
        origin, name, told = game.origin, None, {}
        if origin is not None:
            # Games that an agent started do not measure people: they go to a run of their own.
            plain = slug(origin.run)
            name = f"played-on-{plain}"[:100]
            told = {"played on from": f"{origin.run} {origin.key}, step {origin.step}"}
        log = GameLog(game.benchmark, game.settings, self._folder, name)
        record = log.save(game.session, game.task, told)
        return log.path.name, record.key


class _Person(Resources):
    """An ordinary run, except that the agent repeats what the person typed."""

    def __init__(self, context: RunContext, benchmark: Benchmark, moves: Sequence[Move]) -> None:
        super().__init__(context, benchmark)
        self._moves = moves

    def agent(self) -> Agent:
        return _Repeats(iter(self._moves))


class _Repeats(Agent):
    def __init__(self, moves: Iterator[Move]) -> None:
        self._moves = moves

    async def act(self, observation: Observation) -> Answer:
        move = next(self._moves, None)
        if move is None:
            raise _LeftUnfinished
        return Answer(action=move.command, how=move.how, reply=move.command)


class _LeftUnfinished(BaseException):
    """Not an agent's error, which would end the episode as its fault."""
