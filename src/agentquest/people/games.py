"""Games that people play in the viewer, while they last.

A game ends in a record: when it is over, when its player stops, when too many are
open, and when the viewer is stopped.
"""

import random
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentquest.errors import UserError
from agentquest.http.sessions import SessionStore, Stage
from agentquest.lib import Benchmark, Task
from agentquest.people.recorder import GameRecorder
from agentquest.people.session import Continuation, GameReply, PlaySession
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.viewer.replay import benchmark_of, command_of, open_game, task_of
from agentquest.words import slug

_MOST_GAMES = 100
_IDLE_S = 7 * 24 * 3600.0


@dataclass(frozen=True)
class Origin:
    """The agent's episode that a game continues, and from which step."""

    run: str
    key: str
    step: int
    agent: str


@dataclass
class WebGame:
    """One game of one person. `saved` is the run and key of its record."""

    benchmark: Benchmark
    settings: Mapping[str, Any]
    task: Task
    session: PlaySession
    origin: Origin | None = None
    reply: GameReply = field(default_factory=GameReply)
    stopped: bool = False
    saved: tuple[str, str] | None = None
    name: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def over(self) -> bool:
        """Whether the player stopped or the game itself has ended."""
        return self.stopped or self.session.over


class Games:
    """The games in progress; `folder` is where their runs are, one for each benchmark."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._games: SessionStore[str, WebGame] = SessionStore(_MOST_GAMES, _IDLE_S)

    def find(self, name: str) -> WebGame:
        """The game of that name; raises UserError if it is no longer open."""
        game = self._games.get(name)
        if game is None:
            raise UserError("this game is over or was closed; what was played is recorded")
        return game

    def begin(self, name: str, split: str, task_type: str, wanted: str) -> WebGame:
        """Open a game of a benchmark: the task asked for, or any of the split and type."""
        settings = {"split": split} if split else {}
        benchmark = benchmark_of(name, settings)
        if wanted:
            task = benchmark.task_named(wanted)
        else:
            fitting = [task for task in benchmark.task_list() if task_type in ("", task.task_type)]
            task = random.choice(fitting) if fitting else None
        if task is None:
            raise UserError("there is no such task in this split")
        driver = benchmark.driver(task)
        session = PlaySession(driver, benchmark.view(), benchmark.oracle(driver))
        return self._add(WebGame(benchmark, settings, task, session))

    def play_on(self, run: str, manifest: Manifest, record: EpisodeRecord, step: int) -> WebGame:
        """Open the state after a step of an episode, for a person to continue."""
        benchmark, driver = open_game(record, manifest)
        session = PlaySession(driver, benchmark.view(), benchmark.oracle(driver))
        for one in record.steps[:step]:
            command = command_of(one, driver)
            if command is None:
                continue
            session.inherit(command, one.seconds)
            if session.observation.text != one.observation:
                raise UserError(f"step {one.index} goes differently here than in the record")
        origin = Origin(run, record.key, step, record.agent)
        settings = manifest.section("benchmark_settings")
        return self._add(WebGame(benchmark, settings, task_of(record), session, origin))

    def act(self, game: WebGame, line: str) -> None:
        """Do what a line asks for; a game that is over is recorded."""
        if game.over:
            return
        word = line.strip().lower()
        if word == "restart" and game.origin is not None:
            game.reply = GameReply(
                notice="This game continues an agent's episode; it cannot be restarted."
            )
            return
        game.reply = game.session.answer(line)
        game.stopped = game.reply.then is not Continuation.GO_ON
        self._games.mark(game.name, Stage.FINISHED if game.over else Stage.IN_USE)
        if game.over:
            self._record([game])

    def close(self) -> None:
        """Record all games in progress."""
        self._record(self._games.clear())

    def _add(self, game: WebGame) -> WebGame:
        self._record(self._games.add(game.name, game))
        return game

    def _record(self, games: Iterable[WebGame]) -> None:
        for game in games:
            if game.saved is None and game.session.own_moves:
                try:
                    game.saved = self._save(game)
                except UserError as error:
                    game.reply = GameReply(notice=f"This game is not recorded: {error}")

    def _save(self, game: WebGame) -> tuple[str, str]:
        """The run and the key of the game's new record."""
        origin, run_name, facts = game.origin, None, {}
        if origin is not None:
            # Games that an agent started do not measure people: they go to a run of their own.
            run_name = f"played-on-{slug(origin.run)}"[:100]
            facts = {"played on from": f"{origin.run} {origin.key}, step {origin.step}"}
        recorder = GameRecorder(game.benchmark, game.settings, self._folder, run_name)
        record = recorder.save(game.session.finish(game.task, facts))
        return recorder.path.name, record.key
