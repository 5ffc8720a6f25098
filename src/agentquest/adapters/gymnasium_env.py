"""Gymnasium environments of every benchmark and split.

    import gymnasium
    import agentquest.adapters.gymnasium_env      # registers the ids

    env = gymnasium.make("agentquest/alfworld-v0", split="train")
    observation, info = env.reset(seed=1)         # or options={"task": id or place}

A won game is `terminated`, the step limit is `truncated`. A reset without a task
draws one with the environment's own generator.
"""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Text

from agentquest import registry
from agentquest.adapters.arenas import shared_arena
from agentquest.errors import UserError
from agentquest.lib import Session, Turn

NAMESPACE = "agentquest"
LONGEST_OBSERVATION = 1_000_000
LONGEST_ACTION = 10_000
_SAMPLED = 24
_LETTERS = "abcdefghijklmnopqrstuvwxyz 0123456789[]"


class AnyText(Text):
    """Every text up to a length, as titles of products hold any character.

    A sample is short, and no command that means anything.
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(max_length, min_length=0, charset=_LETTERS, seed=seed)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        length = int(self.np_random.integers(1, _SAMPLED))
        return "".join(self.np_random.choice(list(_LETTERS), size=length))

    def __repr__(self) -> str:
        return f"AnyText({self.max_length})"


class TextEnv(gymnasium.Env[str, str]):
    """One session; the observation is the game's text, `info` holds what else a turn says."""

    metadata: dict[str, Any] = {"render_modes": ["ansi"], "render_fps": 1}  # noqa: RUF012

    def __init__(
        self,
        benchmark: str,
        split: str | None = None,
        max_steps: int | None = 50,
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        self.session = Session(shared_arena(benchmark, {**settings, "split": split}), max_steps)
        self.render_mode = render_mode
        self.observation_space = AnyText(LONGEST_OBSERVATION)
        self.action_space = AnyText(LONGEST_ACTION)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        chosen = check_options(options, {"task", "split"})
        split, task = chosen.get("split"), chosen.get("task")
        if task is None:
            task = int(self.np_random.integers(len(self.session.arena.tasks(split))))
        turn = self.session.reset(task, split)
        return turn.text, info_of(self.session, turn)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        turn = self.session.step(action)
        info = info_of(self.session, turn)
        return turn.text, turn.reward, turn.terminated, turn.truncated, info

    def plan(self) -> list[str]:
        """The oracle's commands from here."""
        return self.session.plan()

    def render(self) -> str:
        return self.session.last.text

    def close(self) -> None:
        self.session.close()


def info_of(session: Session, turn: Turn) -> dict[str, Any]:
    """What `reset` and `step` return beside the observation."""
    return {
        "admissible_commands": list(turn.admissible),
        "won": turn.won,
        "valid": turn.valid,
        "goal": session.goal,
        "task": session.task.id,
        "task_type": session.task.task_type,
    }


def check_options(options: Mapping[str, Any] | None, known: set[str]) -> Mapping[str, Any]:
    """The options of a reset; raises UserError for one that is not known."""
    unknown = sorted(set(options or {}) - known)
    if unknown:
        raise UserError(f"options: unknown {unknown[0]!r}; there are: {', '.join(sorted(known))}")
    return options or {}


def register() -> None:
    """An id per benchmark, and one per split of it: `agentquest/<benchmark>[-<split>]-v0`."""
    for name in registry.names("benchmark"):
        for split in (None, *registry.load("benchmark", name).splits):
            env_id = f"{NAMESPACE}/{name}{f'-{split}' if split else ''}-v0"
            if env_id in gymnasium.registry:
                continue
            gymnasium.register(
                id=env_id,
                entry_point="agentquest.adapters.gymnasium_env:TextEnv",
                vector_entry_point="agentquest.adapters.gymnasium_vector:TextVectorEnv",
                kwargs={"benchmark": name, **({"split": split} if split else {})},
            )


register()
