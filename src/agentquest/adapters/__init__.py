"""AgentQuest's games behind other people's interfaces: the only room that knows foreign APIs.

Each module speaks one of them, over `agentquest.lib.Session` and `SessionVector`.
What needs a foreign package imports it in its own module, and each such package
is an extra of its own; docs/environments.md shows how each is used.

`dropin` puts our stand-ins where `import` looks first: `sys.modules`, for this process only.
"""

import os
import sys
from types import ModuleType
from typing import Any

from agentquest.errors import UserError

_MARK = "__agentquest_dropin__"
_ALFWORLD_CACHE = "~/.cache/alfworld"

__all__ = ["dropin"]


def dropin(alfworld: bool = True, webshop: bool = True) -> None:
    """From now on `import alfworld`, `textworld` and `web_agent_site` get AgentQuest's engines.

    Nothing is installed, the packages of these names stay as they are on disk, and asking
    again does nothing. Raises UserError if one of them is already imported.
    """
    modules: dict[str, dict[str, Any]] = {}
    if alfworld:
        modules |= _alfworld_modules()
    if webshop:
        modules |= _webshop_modules()
    foreign = [name for name in modules if name in sys.modules and not _ours(name)]
    if foreign:
        raise UserError(
            f"{foreign[0]} is already imported: ask for AgentQuest's engines before that"
        )
    wanted = {name: content for name, content in modules.items() if name not in sys.modules}
    for name, content in wanted.items():
        _make(name, content)
    if "web_agent_site.envs" in wanted:
        _register_gym_id()


def _ours(name: str) -> bool:
    return hasattr(sys.modules[name], _MARK)


def _make(name: str, content: dict[str, Any]) -> None:
    module = ModuleType(name, "AgentQuest's stand-in; see docs/environments.md.")
    vars(module).update(content, **{_MARK: True})
    module.__path__ = []  # so that what we do not offer is a module not found
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], last, module)


def _alfworld_modules() -> dict[str, dict[str, Any]]:
    from agentquest.adapters import alfworld_dropin as ours
    from agentquest.adapters import textworld_core as core
    from agentquest.adapters import textworld_gym as gym

    data = os.environ.setdefault("ALFWORLD_DATA", os.path.expanduser(_ALFWORLD_CACHE))  # noqa: PTH111
    environment = {
        name: getattr(ours, name)
        for name in (
            "TASK_TYPES", "AlfredDemangler", "AlfredExpert", "AlfredExpertType", "AlfredInfos",
            "AlfredTWEnv",
        )
    }  # fmt: skip
    registering = {
        name: getattr(gym, name) for name in ("make", "register_game", "register_games", "registry")
    }
    batch = {"TextworldBatchGymEnv": gym.TextworldBatchGymEnv}
    single = {"TextworldGymEnv": gym.TextworldGymEnv}
    words = {
        name: getattr(core, name) for name in ("EnvInfos", "Environment", "GameState", "Wrapper")
    }
    wrappers = {"Filter": core.Filter, "Limit": core.Limit}
    return {
        "alfworld": {"__version__": "0.4.2"},
        "alfworld.info": {"ALFWORLD_DATA": data, "__version__": "0.4.2"},
        "alfworld.agents": {},
        "alfworld.agents.environment": {
            "get_environment": ours.get_environment,
            "AlfredTWEnv": ours.AlfredTWEnv,
        },
        "alfworld.agents.environment.alfred_tw_env": environment,
        "alfworld.agents.modules": {},
        "alfworld.agents.modules.generic": {"load_config": ours.load_config},
        "textworld": {"__version__": "1.7.0", **words},
        "textworld.core": words,
        "textworld.envs": {},
        "textworld.envs.wrappers": wrappers,
        "textworld.gym": registering,
        "textworld.gym.utils": registering,
        "textworld.gym.envs": batch | single,
        "textworld.gym.envs.textworld_batch": batch,
        "textworld.gym.envs.textworld": single,
    }


def _webshop_modules() -> dict[str, dict[str, Any]]:
    from agentquest.adapters.webshop_dropin import WebAgentTextEnv
    from agentquest.adapters.webshop_server import DEFAULT_FILE_PATH, SimServer

    env = {"WebAgentTextEnv": WebAgentTextEnv}
    paths = {
        "DEBUG_PROD_SIZE": None,
        "DEFAULT_FILE_PATH": DEFAULT_FILE_PATH,
        "BASE_DIR": os.path.dirname(DEFAULT_FILE_PATH),  # noqa: PTH120
    }
    return {
        "web_agent_site": {},
        "web_agent_site.envs": env,
        "web_agent_site.envs.web_agent_text_env": env | {"SimServer": SimServer},
        "web_agent_site.utils": paths,
    }


def _register_gym_id() -> None:
    """`gym.make("WebAgentTextEnv-v0")`, where the user's code has a gym."""
    try:
        from gym.envs.registration import register
    except ImportError:
        return
    target = {"id": "WebAgentTextEnv-v0", "entry_point": "web_agent_site.envs:WebAgentTextEnv"}
    try:
        # Newer releases check spaces, of which the original has none.
        register(**target, disable_env_checker=True, order_enforce=False)
    except TypeError:
        register(**target)
