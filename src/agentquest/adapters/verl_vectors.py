"""The vectors behind verl-agent's environments; see `verl_agent`."""

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from agentquest.adapters.alfworld_dropin import AlfredTWEnv
from agentquest.adapters.textworld_gym import shuffled_for_ever
from agentquest.adapters.webshop_dropin import WebAgentTextEnv
from agentquest.adapters.webshop_server import SimServer, open_shop
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.errors import UserError
from agentquest.lib import Arena, SessionVector, Task, Turn
from agentquest.lib.vector import check_commands

WON = 10.0
VALIDATION_GOALS = 500

Texts = list[str]
Infos = list[dict[str, Any]]


class AlfworldEnvs:
    """`env_num` games, each played by `group_n` copies."""

    multi_modal = False

    def __init__(
        self, games: AlfredTWEnv, seed: int, env_num: int, group_n: int, max_steps: int
    ) -> None:
        if not games.game_files:
            raise UserError("there are no games to play: is ALFWORLD_DATA correct?")
        self.num_processes = env_num * group_n
        self.group_n = group_n
        arena = Arena(AlfWorldBenchmark(data_path="builtin"))  # games are opened by their paths
        self.vector = SessionVector(arena, env_num, group_n, max_steps)
        self._orders = [
            shuffled_for_ever(games.game_files, np.random.RandomState(seed + group))
            for group in range(env_num)
        ]

    def reset(self) -> tuple[Texts, None, Infos]:
        """Begin the next game of each group; returns texts, None for images, and infos."""
        turns = self.vector.reset([_task(next(order)) for order in self._orders])
        return [turn.text for turn in turns], None, self._infos(turns)

    def step(self, actions: Sequence[str]) -> tuple[Texts, None, list[float], list[bool], Infos]:
        """Play one command in each game; only a win is rewarded."""
        check_commands(actions, self.num_processes)
        turns = self.vector.step(actions)
        rewards = [WON if turn.won else 0.0 for turn in turns]
        dones = [turn.over for turn in turns]
        return [turn.text for turn in turns], None, rewards, dones, self._infos(turns)

    @property
    def get_admissible_commands(self) -> list[list[str]]:
        """The possible commands of each game; a property, as verl-agent reads it."""
        return [list(turn.admissible) for turn in self.vector.turns]

    def _infos(self, turns: Sequence[Turn]) -> Infos:
        return [
            {
                "won": turn.won,
                "admissible_commands": list(turn.admissible),
                "extra.gamefile": session.task.id,
                "observation_text": turn.text,
            }
            for turn, session in zip(turns, self.vector.sessions, strict=True)
        ]

    def close(self) -> None:
        """Close every game."""
        self.vector.close()


class WebshopEnvs:
    """`env_num` goals, each shopped for by `group_n` copies."""

    def __init__(
        self, seed: int, env_num: int, group_n: int, is_train: bool, env_kwargs: Mapping[str, Any]
    ) -> None:
        if not is_train and group_n != 1:
            raise UserError(f"validation plays every goal once: group_n is 1, not {group_n}")
        self.env_num, self.group_n = env_num, group_n
        self.num_processes = env_num * group_n
        self.is_train = is_train
        self._rng = np.random.RandomState(seed)
        given = {"observation_mode": "text", "num_products": None, **env_kwargs}
        mode, order = given["observation_mode"], given.get("goal_order", "fixed")
        if order not in ("fixed", "as-published"):
            raise UserError(f"goal_order is 'fixed' or 'as-published', not {order!r}")
        with _random_left_alone():
            shop = open_shop(
                given.get("file_path"), given["num_products"], given.get("human_goals")
            )
            servers = [SimServer(shop=shop)] if order == "fixed" else [
                SimServer(shop=shop, shuffle_seed=seed + group) for group in range(env_num)
            ]  # fmt: skip
            self.envs = [
                WebAgentTextEnv(
                    mode, server=servers[slot // group_n % len(servers)], session_prefix=f"{slot}-"
                )
                for slot in range(self.num_processes)
            ]
        self.goals = servers[0].goals
        first, end = (VALIDATION_GOALS, len(self.goals)) if is_train else (0, VALIDATION_GOALS)
        self.goal_idxs = range(min(first, end), min(end, len(self.goals)))
        if len(self.goal_idxs) < env_num:
            raise UserError(f"only {len(self.goal_idxs)} goals for {env_num} environments")
        self._last: list[tuple[str, float, bool, dict[str, Any]] | None]
        self._last = [None] * self.num_processes
        self._closed = False

    def reset(self) -> tuple[Texts, Infos]:
        """Draw a goal for each group, none twice, and begin; returns texts and infos."""
        self._check_open()
        chosen = self._rng.choice(np.asarray(self.goal_idxs), size=self.env_num, replace=False)
        self._last = [None] * self.num_processes
        texts, infos = [], []
        for slot, env in enumerate(self.envs):
            env.server.sessions.pop(env.session, None)  # nobody will ask for it again
            texts.append(env.reset(session=int(chosen[slot // self.group_n]))[0])
            infos.append({"available_actions": env.get_available_actions(), "won": False})
        return texts, infos

    def step(self, actions: Sequence[str]) -> tuple[Texts, list[float], list[bool], Infos]:
        """Take one action in each session."""
        self._check_open()
        check_commands(actions, self.num_processes)
        results = [self._step(slot, action) for slot, action in enumerate(actions)]
        texts, rewards, dones, infos = map(list, zip(*results, strict=True))
        return texts, rewards, dones, infos

    def _step(self, slot: int, action: str) -> tuple[str, float, bool, dict[str, Any]]:
        last = self._last[slot]
        if last is not None and last[2]:
            return last
        env = self.envs[slot]
        text, score, done, _ = env.step(action)
        won = done and score == 1.0
        info = {"available_actions": env.get_available_actions(), "task_score": score, "won": won}
        result = (text, WON if won else 0, done, info)
        self._last[slot] = result
        return result

    def render(self, mode: str = "text", env_idx: int | None = None) -> None:
        """Shows nothing; it is here because trainers call it."""
        return None

    def close(self) -> None:
        """From now on, `reset` and `step` are refused."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise UserError("the environments are closed")


def _task(file: str) -> Task:
    kind = Path(file).parent.parent.name.partition("-")[0]
    return Task(file, kind, "", file.removesuffix("/game.tw-pddl"))


@contextmanager
def _random_left_alone() -> Iterator[None]:
    """The trainer's own `random` is as before, whatever shuffling does to it."""
    state = random.getstate()
    try:
        yield
    finally:
        random.setstate(state)
