"""Games that people play in the browser, while they last.

A game ends in a record: when it is over, when its player stops, when too many
are open, and when the viewer is stopped. Who writes it down is given from
outside: the viewer itself runs nothing.
"""

import random
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from agentquest.errors import UserError
from agentquest.lib import Benchmark, Task
from agentquest.lib.play_session import PlaySession, Reply, Turn
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.viewer.replay import benchmark_of, command_of, open_game, settings_of, task_of

_MOST_GAMES = 100


@dataclass(frozen=True)
class Origin:
    """Whose episode a game goes on with, and from which step."""

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
    said: Reply = field(default_factory=Reply)
    stopped: bool = False
    saved: tuple[str, str] | None = None
    name: str = field(default_factory=lambda: secrets.token_urlsafe(9))

    @property
    def over(self) -> bool:
        """Whether the player stopped or the game itself has ended."""
        return self.stopped or self.session.over


class Recorder(Protocol):
    """Who writes games down; the viewer itself writes no records."""

    def save(self, game: WebGame) -> tuple[str, str]:
        """Write a game down; returns the run and the key of its record."""
        ...


class Games:
    """The games in progress."""

    def __init__(self, recorder: Recorder, most: int = _MOST_GAMES) -> None:
        self._recorder = recorder
        self._most = most
        self._games: dict[str, WebGame] = {}

    def find(self, name: str) -> WebGame:
        """The game of that name; raises `UserError` if it is no longer kept."""
        game = self._games.get(name)
        if game is None:
            raise UserError("this game is over or was closed; what was played is recorded")
        return game

    def begin(self, name: str, split: str, task_type: str, wanted: str) -> WebGame:
        """A game of a benchmark: the task asked for, or any of the split and type."""
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
        return self._keep(WebGame(benchmark, settings, task, session))

    def play_on(self, run: str, manifest: Manifest, record: EpisodeRecord, step: int) -> WebGame:
        """The state after a step of an episode, for a person to go on from."""
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
        settings = settings_of(manifest)
        return self._keep(WebGame(benchmark, settings, task_of(record), session, origin))

    def act(self, game: WebGame, line: str) -> None:
        """Do what a line asks for; a game that is over is recorded."""
        if game.over:
            return
        word = line.strip().lower()
        if word == "restart" and game.origin is not None:
            game.said = Reply(
                notice="This game continues an agent's episode; it cannot be restarted."
            )
            return
        game.said = game.session.answer(line)
        if game.said.turn is not Turn.GO_ON:
            game.stopped = True
        if game.over:
            self._record(game)

    def close(self) -> None:
        """Record all games in progress."""
        for game in self._games.values():
            self._record(game)

    def _keep(self, game: WebGame) -> WebGame:
        while len(self._games) >= self._most:
            oldest = self._games.pop(next(iter(self._games)))
            self._record(oldest)
        self._games[game.name] = game
        return game

    def _record(self, game: WebGame) -> None:
        if game.saved is not None or not game.session.own_moves:
            return
        try:
            game.saved = self._recorder.save(game)
        except UserError as error:
            game.said = Reply(notice=f"This game is not recorded: {error}")
