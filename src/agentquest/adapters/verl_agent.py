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

import yaml

from agentquest.adapters.alfworld_dropin import AlfredTWEnv
from agentquest.adapters.verl_vectors import AlfworldEnvs, WebshopEnvs

_CJK = re.compile("[\u4e00-\u9fff]")


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
    if config["env"]["type"] != "AlfredTWEnv":
        raise NotImplementedError(f"{config['env']['type']}: AgentQuest plays AlfredTWEnv")
    if is_train and config["env"]["domain_randomization"]:
        raise NotImplementedError("domain_randomization is not offered by AgentQuest")
    games = AlfredTWEnv(config, train_eval="train" if is_train else split)
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
    return _projected(actions, 30)


def webshop_projection(actions: Sequence[str]) -> tuple[list[str], list[int]]:
    """The commands in a model's replies, and which replies had the wanted form."""
    return _projected(actions, 20)


def _projected(replies: Sequence[str], tail: int) -> tuple[list[str], list[int]]:
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
