"""`textworld.gym`: registering games and playing them one by one or as a batch.

The order of games, what is a tuple and what a list, and what a finished game
returns are TextWorld's (1.7). A batch is played in this process, whatever its size.
"""

import copy
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from typing import Any

import numpy as np

from agentquest.adapters.stand_ins import StandIn
from agentquest.adapters.textworld_core import AlfredGame, EnvInfos, Filter, Limit
from agentquest.errors import UserError
from agentquest.lib.vector import check_commands
from agentquest.safe_text import say

registry: dict[str, dict[str, Any]] = {}


def register_games(
    gamefiles: Sequence[str],
    request_infos: EnvInfos | None = None,
    batch_size: int | None = None,
    auto_reset: bool = False,
    max_episode_steps: int = 50,
    asynchronous: bool = True,
    name: str = "",
    **rest: Any,
) -> str:
    """The id of a new environment over these games, for `make`."""
    base = f"tw-{name}" if name else "tw"
    taken = [int(known.rpartition("-v")[2]) for known in registry if known.startswith(f"{base}-v")]
    env_id = f"{base}-v{max(taken) + 1 if taken else 0}"
    registry[env_id] = {
        "id": env_id,
        "entry_point": TextworldGymEnv if batch_size is None else TextworldBatchGymEnv,
        "kwargs": {
            "gamefiles": gamefiles,
            "request_infos": request_infos,
            "batch_size": 1 if batch_size is None else batch_size,
            "asynchronous": asynchronous,
            "auto_reset": auto_reset,
            "max_episode_steps": max_episode_steps,
            **rest,
        },
    }
    return env_id


def register_game(
    gamefile: str,
    request_infos: EnvInfos | None = None,
    batch_size: int | None = None,
    auto_reset: bool = False,
    *args: Any,
    **named: Any,
) -> str:
    """The same for one game; like the original it pays no heed to `auto_reset`."""
    return register_games([gamefile], request_infos, batch_size, False, *args, **named)


def make(id: str) -> "TextworldBatchGymEnv":
    """The environment that was registered under an id."""
    if id not in registry:
        raise ValueError(f"Attempted to make an unknown environment '{id}'")
    made: TextworldBatchGymEnv = registry[id]["entry_point"](**registry[id]["kwargs"])
    return made


class BatchEnv:
    """Games side by side. One that is done repeats its last result until it is reset."""

    def __init__(self, make_env: Callable[[], Any], batch_size: int, auto_reset: bool) -> None:
        self.envs = [make_env() for _ in range(batch_size)]
        self.batch_size = batch_size
        self.auto_reset = auto_reset
        self.last: list[tuple[Any, ...] | None] = [None] * batch_size

    def load(self, gamefiles: Sequence[str]) -> None:
        """Load one game into each environment."""
        for env, gamefile in zip(self.envs, gamefiles, strict=True):
            env.load(gamefile)

    def reset(self) -> tuple[tuple[str, ...], dict[str, list[Any]]]:
        """Begin all games; observations as a tuple, infos as a list for each key."""
        self.last = [None] * self.batch_size
        observations, infos = zip(*[env.reset() for env in self.envs], strict=True)
        return observations, _by_key(infos)

    def step(self, commands: Sequence[str]) -> tuple[Any, Any, Any, dict[str, list[Any]]]:
        """Play one command in each game; results come as tuples, infos as lists."""
        assert isinstance(commands, list | tuple), "Expected a list of commands."
        assert len(commands) == self.batch_size, (
            f"Expected one action per environment: {self.batch_size}, not {len(commands)}."
        )
        check_commands(commands, self.batch_size)
        results = [
            self._step(env, command, last)
            for env, command, last in zip(self.envs, commands, self.last, strict=True)
        ]
        self.last = list(results)
        observations, scores, dones, infos = zip(*results, strict=True)
        return observations, scores, dones, _by_key(infos)

    def _step(self, env: Any, command: str, last: tuple[Any, ...] | None) -> Any:
        if last is None or not last[2]:
            return env.step(command)
        if self.auto_reset:
            observation, infos = env.reset()
            return observation, 0.0, False, infos
        return last

    def close(self) -> None:
        """Close all environments."""
        for env in self.envs:
            env.close()


class TextworldBatchGymEnv(StandIn):
    """A pool of games, taken in a shuffled order, so many at a time."""

    def __init__(
        self,
        gamefiles: Sequence[str],
        request_infos: EnvInfos | None = None,
        batch_size: int = 1,
        asynchronous: bool = True,
        auto_reset: bool = False,
        max_episode_steps: int | None = None,
        wrappers: Sequence[Any] = (),
    ) -> None:
        if batch_size < 1:
            raise UserError(f"batch_size must be 1 or more, not {batch_size}")
        if not gamefiles:
            raise UserError("there are no games to play")
        self.gamefiles = gamefiles
        self.batch_size = batch_size
        self.request_infos = request_infos or EnvInfos()
        self.seed(1234)

        def make_env() -> Any:
            # Each of the original's games is a process: wrappers and wishes are its own.
            env: Any = AlfredGame(self.request_infos.copy())
            if max_episode_steps:
                env = Limit(env, max_episode_steps)
            for wrapper in (*copy.deepcopy(list(wrappers)), Filter):
                env = wrapper(env)
            return env

        self.batch_env: BatchEnv | None = BatchEnv(make_env, batch_size, auto_reset)

    def seed(self, seed: int | None = None) -> list[int | None]:
        """Start the order of games anew."""
        self._order = shuffled_for_ever(self.gamefiles, np.random.RandomState(seed))
        return [seed]

    def reset(self) -> Any:
        """Start the next games of the pool."""
        batch = self._open_batch()
        batch.load([next(self._order) for _ in range(self.batch_size)])
        self.last_commands: Sequence[str | None] = [None] * self.batch_size
        self.obs, infos = batch.reset()
        return self.obs, infos

    def skip(self, nb_games: int = 1) -> None:
        """Pass over the next games of the order."""
        for _ in range(nb_games):
            next(self._order)

    def step(self, commands: Any) -> Any:
        """Play one command in each game; raises UserError before the first reset."""
        batch = self._open_batch()
        if not hasattr(self, "obs"):
            raise UserError("call reset() before step()")
        result = batch.step(commands)
        self.last_commands, self.obs = commands, result[0]
        return result

    def close(self) -> None:
        """Close the batch; a reset opens another."""
        if self.batch_env is not None:
            self.batch_env.close()
        self.batch_env = None

    def render(self, mode: str = "human") -> Any:
        """Last command and observation of each game; printed, or returned as `text` or `ansi`."""
        shown = [
            _rendering(command, text, mode)
            for command, text in zip(self.last_commands, self.obs, strict=True)
        ]
        text = "\n-----\n".join(shown) + "\n"
        if mode == "text":
            return text
        if mode == "ansi":
            stream = StringIO()
            stream.write(text)
            return stream
        say(text, nl=False)
        return None

    def _open_batch(self) -> BatchEnv:
        if self.batch_env is None:
            raise UserError("the environment is closed")
        return self.batch_env


class TextworldGymEnv(TextworldBatchGymEnv):
    """One game at a time, without lists around everything."""

    def reset(self) -> Any:
        observations, infos = super().reset()
        return observations[0], {key: values[0] for key, values in infos.items()}

    def step(self, commands: Any) -> Any:
        """Play one command; nothing that is returned has a list around it."""
        observations, scores, dones, infos = super().step([commands])
        unpacked = {key: values[0] for key, values in infos.items()}
        return observations[0], scores[0], dones[0], unpacked


def shuffled_for_ever(gamefiles: Sequence[str], rng: np.random.RandomState) -> Iterator[str]:
    """Games without end: all of them shuffled, then shuffled again, as TextWorld does."""
    order = list(gamefiles)
    rng.shuffle(order)
    return _cycle(order, rng)


def _cycle(order: list[str], rng: np.random.RandomState) -> Iterator[str]:
    while True:
        yield from order
        rng.shuffle(order)


def _by_key(infos: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    keys = dict.fromkeys(key for each in infos for key in each)
    return {key: [each.get(key) for each in infos] for key in keys}


def _rendering(command: str | None, text: str, mode: str) -> str:
    shown = text.rstrip() + "\n"
    if command is not None:
        said = f"> {command}"
        if mode != "text" and sys.stdout.isatty():
            said = f"\033[33m{said}\033[0m"
        shown = f"{said}\n{shown}"
    if mode != "human":
        return shown
    return "\n".join("\n".join(textwrap.wrap(line, width=80)) for line in shown.split("\n"))
