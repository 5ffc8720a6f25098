"""What verl-agent and its derivatives call to make their environments.

    # agent_system/environments/env_package/alfworld/__init__.py
    from agentquest.adapters.verl_agent import alfworld_projection, build_alfworld_envs
    # agent_system/environments/env_package/webshop/__init__.py
    from agentquest.adapters.verl_agent import build_webshop_envs, webshop_projection

All games are in the calling process: no Ray workers, and `resources_per_worker`
has nothing to say. Nothing resets by itself; a finished slot repeats its result.

In the published WebShop environment every worker shuffles the goals with its own
seed, so goal 17 is another goal in each, and the 500 validation goals are played
in training too. Here all workers have the benchmark's own order, in which they
are apart; `env_kwargs={"goal_order": "as-published"}` asks for theirs.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from agentquest.adapters.alfworld_dropin import AlfredTWEnv, get_environment
from agentquest.adapters.textworld_gym import shuffled_for_ever
from agentquest.adapters.webshop_server import GoalRecords, open_shop
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.benchmarks.webshop.shop.shop import MODES, ShoppingSession
from agentquest.errors import UserError
from agentquest.lib import Arena, SessionVector, Task, Turn
from agentquest.lib.vector import check_commands

WON = 10.0
VALIDATION_GOALS = 500

Texts = list[str]
Infos = list[dict[str, Any]]

_CJK = re.compile("[\u4e00-\u9fff]")


class AlfworldEnvs:
    """`env_num` games, each played by `group_n` copies."""

    multi_modal = False

    def __init__(
        self, games: AlfredTWEnv, seed: int, env_num: int, group_n: int, max_steps: int
    ) -> None:
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
        self._mode, order = given["observation_mode"], given.get("goal_order", "fixed")
        if self._mode not in MODES:
            raise UserError(f"observation_mode is one of {', '.join(MODES)}, not {self._mode!r}")
        if order not in ("fixed", "as-published"):
            raise UserError(f"goal_order is 'fixed' or 'as-published', not {order!r}")
        benchmark = WebshopBenchmark()
        benchmark.shop = open_shop(
            given.get("file_path"), given["num_products"], given.get("human_goals")
        )
        self.vector = SessionVector(Arena(benchmark), env_num, group_n, max_steps=None)
        goals = benchmark.shop.goals
        self.goals = GoalRecords(goals)
        self._orders = [np.arange(len(goals))] * env_num
        if order == "as-published":
            self._orders = [goals.numbers_shuffled(seed + group) for group in range(env_num)]
        first, end = (VALIDATION_GOALS, len(self.goals)) if is_train else (0, VALIDATION_GOALS)
        self.goal_idxs = range(min(first, end), min(end, len(self.goals)))
        if len(self.goal_idxs) < env_num:
            raise UserError(f"only {len(self.goal_idxs)} goals for {env_num} environments")

    def reset(self) -> tuple[Texts, Infos]:
        """Draw a goal for each group, none twice, and begin; returns texts and infos."""
        chosen = self._rng.choice(np.asarray(self.goal_idxs), size=self.env_num, replace=False)
        numbers = [order[place] for order, place in zip(self._orders, chosen, strict=True)]
        self.vector.reset([Task(f"{number}", "", "", f"{number}") for number in numbers])
        return self._texts(), [
            {"available_actions": shopping.available, "won": False} for shopping in self._shoppings
        ]

    def step(self, actions: Sequence[str]) -> tuple[Texts, list[float], list[bool], Infos]:
        """Take one action in each session."""
        check_commands(actions, self.num_processes)
        turns = self.vector.step(actions)
        infos = [
            {"available_actions": shopping.available, "task_score": turn.reward, "won": turn.won}
            for shopping, turn in zip(self._shoppings, turns, strict=True)
        ]
        rewards = [WON if turn.won else 0 for turn in turns]
        return self._texts(), rewards, [turn.over for turn in turns], infos

    @property
    def _shoppings(self) -> list[ShoppingSession]:
        games = (session.game for session in self.vector.sessions)
        return [game.session for game in games if isinstance(game, WebshopGame)]

    def _texts(self) -> Texts:
        return [shopping.observe(self._mode) for shopping in self._shoppings]

    def render(self, mode: str = "text", env_idx: int | None = None) -> None:
        """Shows nothing; it is here because trainers call it."""

    def close(self) -> None:
        """From now on, `reset` and `step` are refused."""
        self.vector.close()


def build_alfworld_envs(
    alf_config_path: str,
    seed: int,
    env_num: int,
    group_n: int,
    resources_per_worker: Any = None,
    is_train: bool = True,
    env_kwargs: Mapping[str, Any] | None = None,
) -> AlfworldEnvs:
    """Environments as an ALFWorld configuration file describes them; `group_n` copies of each.

    `resources_per_worker` is not used. Raises NotImplementedError for what is not offered.
    """
    config = yaml.safe_load(Path(alf_config_path).read_text(encoding="utf-8"))
    split = (env_kwargs or {}).get("eval_dataset", "eval_in_distribution")
    if is_train and config["env"]["domain_randomization"]:
        raise NotImplementedError("domain_randomization is not offered by AgentQuest")
    make_games = get_environment(config["env"]["type"])
    games = make_games(config, train_eval="train" if is_train else split)
    section = "dagger" if config["general"]["training_method"] == "dagger" else "rl"
    limit = config[section]["training"]["max_nb_steps_per_episode"]
    return AlfworldEnvs(games, seed, env_num, group_n, limit)


def build_webshop_envs(
    seed: int = 0,
    env_num: int = 1,
    group_n: int = 1,
    resources_per_worker: Any = None,
    is_train: bool = True,
    env_kwargs: Mapping[str, Any] | None = None,
) -> WebshopEnvs:
    """Environments of WebShop's goals; `resources_per_worker` is not used."""
    return WebshopEnvs(seed, env_num, group_n, is_train, env_kwargs or {})


def alfworld_projection(
    actions: Sequence[str], action_pools: Sequence[Sequence[str]] | None = None
) -> tuple[list[str], list[int]]:
    """The commands in a model's replies, and which replies had the wanted form."""
    return _project(actions, 30)


def webshop_projection(actions: Sequence[str]) -> tuple[list[str], list[int]]:
    """The commands in a model's replies, and which replies had the wanted form."""
    return _project(actions, 20)


def _project(replies: Sequence[str], tail: int) -> tuple[list[str], list[int]]:
    """A reply without an action is played by its last characters, and counts as invalid."""
    commands, valid = [], []
    for reply in replies:
        text = reply.lower()
        start, end = text.find("<action>"), text.find("</action>")
        found = start >= 0 and end >= 0
        commands.append(text[start + len("<action>") : end].strip() if found else text[-tail:])
        thought = "<think>" in reply and "</think>" in reply
        valid.append(int(found and thought and not _CJK.search(reply)))
    return commands, valid


def _task(file: str) -> Task:
    kind = Path(file).parent.parent.name.partition("-")[0]
    return Task(file, kind, "", file.removesuffix("/game.tw-pddl"))
