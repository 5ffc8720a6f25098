"""TextWorld's interface to one game, as far as ALFWorld's users touch it.

Names, keys and values are TextWorld's (1.7): wrappers written against
`textworld.core.Wrapper` work here unchanged. Underneath is our own engine.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.engine.game_files import GAME_FILE, read_json
from agentquest.benchmarks.alfworld.game import AlfWorldGame, open_game
from agentquest.benchmarks.alfworld.tasks import BUILTIN
from agentquest.errors import UserError
from agentquest.safe_text import say

DIALECT = "AGENTQUEST_DIALECT"
_NOT_OFFERED = ("command_templates", "game")


class EnvInfos:
    """Which information an environment returns beside the observation."""

    __slots__ = (
        "admissible_commands", "command_templates", "description", "entities", "extras", "facts",
        "fail_facts", "feedback", "game", "intermediate_reward", "inventory", "last_action",
        "last_command", "location", "lost", "max_score", "moves", "objective",
        "policy_commands", "possible_admissible_commands", "possible_commands", "score",
        "typed_entities", "verbs", "win_facts", "won",
    )  # fmt: skip

    extras: list[str]

    def __init__(self, **wanted: Any) -> None:
        unknown = sorted(set(wanted) - set(self.__slots__))
        if unknown:
            raise ValueError(f"Unknown information requested: {unknown}.")
        refused = [name for name in _NOT_OFFERED if wanted.get(name)]
        if refused:
            raise NotImplementedError(f"AgentQuest's games do not offer {', '.join(refused)}")
        for name in self.__slots__:
            setattr(self, name, wanted.get(name, [] if name == "extras" else False))

    @property
    def basics(self) -> list[str]:
        """The names of the infos that are asked for, without the extras."""
        return [name for name in self.__slots__ if name != "extras" and getattr(self, name)]

    def copy(self) -> "EnvInfos":
        """The same wishes, to be changed independently."""
        return EnvInfos(**dict.fromkeys(self.basics, True), extras=list(self.extras))


class GameState(dict[str, Any]):
    """A dictionary whose keys are attributes, too; what is not there is None."""

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class NotOffered:
    """Stands for information that is listed but not worked out; whoever reads it is told."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __iter__(self) -> Any:
        raise NotImplementedError(f"AgentQuest's games do not offer {self._name!r}")

    __len__ = __getitem__ = __contains__ = __iter__

    def __repr__(self) -> str:
        return f"<{self._name}: not offered by AgentQuest>"


class Environment:
    """What plays a game."""

    def __init__(self, request_infos: EnvInfos | None = None) -> None:
        self.state = GameState()
        self.request_infos: Any = request_infos or EnvInfos()

    def seed(self, seed: int | None = None) -> list[int]:
        """Does nothing: our games leave nothing to chance."""
        return []

    def close(self) -> None:
        """Does nothing: there is no process or file to let go of."""


class Agent:
    """The base class of the package's own agents, which would import all of the package for it."""

    wrappers: Sequence[Any] = ()

    def reset(self, env: Any) -> None:
        """Prepare for a game; does nothing."""

    def finish(self, game_state: Any, reward: float, done: bool) -> None:
        """Take note of the end; does nothing."""


class Wrapper:
    """Stands before an environment; an instance can be called to be put before another."""

    def __init__(self, env: Any = None) -> None:
        self._wrapped_env = env

    def __call__(self, env: Any) -> "Wrapper":
        self._wrapped_env = env
        return self

    def __getattr__(self, name: str) -> Any:
        inner = self.__dict__.get("_wrapped_env")
        if inner is None or name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(inner, name)

    @property
    def unwrapped(self) -> Any:
        """The environment behind all wrappers."""
        return getattr(self._wrapped_env, "unwrapped", self._wrapped_env)

    def load(self, *args: Any, **named: Any) -> None:
        """Load a game into the environment behind."""
        self._wrapped_env.load(*args, **named)

    def reset(self, *args: Any, **named: Any) -> Any:
        """Begin the game of the environment behind."""
        return self._wrapped_env.reset(*args, **named)

    def step(self, command: str) -> Any:
        """Play a command in the environment behind."""
        return self._wrapped_env.step(command)

    def seed(self, seed: int | None = None) -> Any:
        """Seed the environment behind."""
        return self._wrapped_env.seed(seed)

    def close(self) -> None:
        """Close the environment behind, if there is one."""
        if self._wrapped_env is not None:
            self._wrapped_env.close()


class AlfredGame(Environment):
    """One game of ALFWorld."""

    dialect = ""
    has_hinted = False  # once for all games

    game: AlfWorldGame
    # Whether a wrapper has given things their readable names; ours have no others.
    demangled = False

    def load(self, path: str) -> None:
        """Open a game file, or a built-in game by its name."""
        self._path = str(path)
        problem = self._path.removesuffix(f"/{GAME_FILE}" if is_builtin(self._path) else "")
        asked = self.dialect or os.environ.get(DIALECT, "")
        if asked and asked not in {each.value for each in Dialect}:
            raise UserError(f"the dialect ({DIALECT}, or env.dialect) is 0.3 or 0.4, not {asked!r}")
        self.game = open_game(problem, Dialect(asked) if asked else None)

    def reset(self) -> GameState:
        """Begin the game; raises UserError unless AlfredDemangler stands before it."""
        if not self.demangled:
            raise UserError("AgentQuest names things readably only: wrap with AlfredDemangler()")
        feedback = self.game.reset()
        self._moves = 0
        self.state = self._gather_state(feedback)
        if "walkthrough" in self.request_infos.extras:
            self.state["extra.walkthrough"] = self._walkthrough()
        return self.state

    def step(self, command: str) -> tuple[GameState, int, bool]:
        """Play a command; returns the state, the score (1 if won, else 0) and whether it is won."""
        if not isinstance(command, str):
            raise UserError(f"a command must be text, not {type(command).__name__}")
        before = self.state
        feedback = self.game.step(command)
        self._moves += self.game.valid
        if not self.game.valid and not AlfredGame.has_hinted:
            self._hint_at_dialect(command)
        self.state = state = self._gather_state(feedback)
        state["last_command"] = command.strip()
        if "walkthrough" in self.request_infos.extras:
            state["extra.walkthrough"] = before["extra.walkthrough"]
        won = self.game.won
        state["score"], state["done"] = int(won), won
        return state, int(won), won

    def _hint_at_dialect(self, command: str) -> None:
        """Many prompts were written for ALFWorld 0.3, whose games say `put` for `move`."""
        verb, _, rest = command.strip().partition(" ")
        thing = rest.partition(" in")[0].partition(" on")[0]
        if verb == "put" and any(
            possible.startswith(f"move {thing} to ") for possible in self.game.admissible
        ):
            AlfredGame.has_hinted = True
            say(
                "AgentQuest: the script says `put … in/on …`, as ALFWorld 0.3 did; this game says"
                f" `move … to …`. {DIALECT}=0.3 plays it in the words of 0.3.",
                err=True,
            )

    def _gather_state(self, feedback: str) -> GameState:
        wanted, game = self.request_infos, self.game
        state = GameState(
            feedback=feedback,
            raw=feedback,
            won=game.won,
            lost=False,
            admissible_commands=game.admissible,
        )
        if wanted.facts:
            state["facts"] = NotOffered("facts")
        if wanted.moves:
            state["moves"] = self._moves
        if wanted.policy_commands:
            state["policy_commands"] = game.plan()
        return state

    def _walkthrough(self) -> list[str]:
        if not is_builtin(self._path):
            written = read_json(Path(self._path)).get("walkthrough")
            if written:
                return list(written)
        return self.game.plan()


class Limit(Wrapper):
    """Ends an episode after so many steps, as done and not as won."""

    def __init__(self, env: Any, max_episode_steps: int) -> None:
        super().__init__(env)
        self.max_episode_steps = max_episode_steps
        self.nb_steps = 0

    def reset(self, *args: Any, **named: Any) -> Any:
        """Begin the game, and count its steps from 0."""
        self.nb_steps = 0
        return super().reset(*args, **named)

    def step(self, command: str) -> Any:
        """Play a command; done when the game is, or when the steps have run out."""
        state, score, done = super().step(command)
        self.nb_steps += 1
        return state, score, done or self.nb_steps >= self.max_episode_steps


class Filter(Wrapper):
    """Returns the observation and what was asked for."""

    def reset(self, *args: Any, **named: Any) -> Any:
        """The first observation and the infos that were asked for."""
        state = super().reset(*args, **named)
        return state.feedback, self._select_infos(state)

    def step(self, command: str) -> Any:
        """Observation, score, done and infos: what Gym's users expect."""
        state, score, done = super().step(command)
        return state.feedback, score, done, self._select_infos(state)

    def _select_infos(self, state: GameState) -> dict[str, Any]:
        wanted = self.request_infos
        infos = {name: state.get(name) for name in wanted.basics}
        infos.update({f"extra.{name}": state.get(f"extra.{name}") for name in wanted.extras})
        return infos


def start(
    path: str, request_infos: EnvInfos | None = None, wrappers: Sequence[Any] | None = None
) -> Any:
    """`textworld.start`: a game, loaded, with these wrappers before it."""
    env: Any = AlfredGame(request_infos)
    for wrapper in wrappers or ():
        env = wrapper(env)
    env.load(path)
    return env


def is_builtin(path: str) -> bool:
    """Whether a game or folder is of the built-in homes (`ALFWORLD_DATA=builtin`)."""
    return path.partition("/")[0].partition(":")[0] == BUILTIN
