"""`import alfworld`, `textworld`, `web_agent_site` and `webshop_minimal` get AgentQuest's engines.

A finder at the head of `sys.meta_path` makes the modules that we offer, so that they can be
imported and reloaded like any others. What we do not offer comes from the package of that name
if one is installed or lies beside the script: its modules, and its names in modules of ours.

Child processes are given a folder on their path whose `sitecustomize` asks for the stand-ins, so
that they never play another engine than their parent.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from agentquest.errors import UserError

_FOR_CHILDREN = str(Path(__file__).parent / "for_children")
_PATH = "PYTHONPATH"
ASKED = "AGENTQUEST_DROPIN"  # which stand-ins children are to have; not set: all


def dropin(alfworld: bool = True, webshop: bool = True) -> None:
    """From now on the packages of ALFWorld or WebShop are AgentQuest's, here and in children.

    Nothing is installed, the packages of these names stay as they are on disk, and asking
    again does nothing. Raises UserError if one of them is already imported.
    """
    modules: dict[str, dict[str, Any]] = {}
    if alfworld:
        modules |= _alfworld_modules()
    if webshop:
        modules |= _webshop_modules()
    for name in modules:
        if name in sys.modules and sys.modules[name].__loader__ is not _STAND_INS:
            raise UserError(f"{name} is already imported: ask for AgentQuest's engines before that")
    if _STAND_INS not in sys.meta_path:
        sys.meta_path.insert(0, _STAND_INS)
        sys.meta_path.append(_NotFound())
    _STAND_INS.modules.update(modules)
    _lead_children()


def _lead_children() -> None:
    """Have every Python that this process starts ask for what was asked for here."""
    given = os.environ.get(_PATH, "").split(os.pathsep)
    if _FOR_CHILDREN not in given:
        os.environ[_PATH] = os.pathsep.join([_FOR_CHILDREN, *filter(None, given)])
    os.environ[ASKED] = " ".join(name for name in _STAND_INS.modules if "." not in name)


class _StandIns(MetaPathFinder, Loader):
    """Makes the modules that we offer."""

    def __init__(self) -> None:
        self.modules: dict[str, dict[str, Any]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in self.modules:
            return None
        theirs = PathFinder.find_spec(fullname, path)
        spec = ModuleSpec(fullname, self, origin=__file__, loader_state=theirs, is_package=True)
        # Where modules that we do not offer are looked for.
        spec.submodule_search_locations = [*((theirs and theirs.submodule_search_locations) or ())]
        return spec

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        spec = module.__spec__
        assert spec is not None, "importlib sets it first"
        content = self.modules[name]
        vars(module).update(
            content,
            __file__=__file__,
            __doc__="AgentQuest's stand-in; see docs/environments.md.",
            __getattr__=_look_up_in(module, spec.loader_state),
        )
        if name == "web_agent_site.envs":  # as the original's does
            _register_gym_ids()

    def get_resource_reader(self, fullname: str) -> Any:
        """Files inside the package (`importlib.resources`) are those of the other one."""
        module = sys.modules[fullname]
        theirs = module.__spec__ and module.__spec__.loader_state
        read = getattr(theirs and theirs.loader, "get_resource_reader", None)
        return read and read(fullname)


_STAND_INS = _StandIns()


class _NotFound(MetaPathFinder):
    """Asked last: says whose packages these are, and where the rest of them can come from."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> None:
        package = fullname.partition(".")[0]
        if package in _STAND_INS.modules:
            # Without a name: `from … import` would catch it, and say less in its place.
            raise ModuleNotFoundError(f"No module named {fullname!r}: {_say_not_offered(package)}")


def _look_up_in(ours: ModuleType, theirs: ModuleSpec | None) -> Callable[[str], Any]:
    """Finds names that our module lacks: modules of ours below it, which the originals import by
    themselves, and what the module of the installed package or checkout has."""
    name = ours.__name__
    loaded: list[ModuleType] = []

    def look_up(attribute: str) -> Any:
        if f"{name}.{attribute}" in _STAND_INS.modules:
            return import_module(f"{name}.{attribute}")
        if theirs is not None and theirs.loader is not None and not attribute.startswith("__"):
            if not loaded:
                loaded.append(module_from_spec(theirs))
                try:
                    theirs.loader.exec_module(loaded[0])
                except ImportError:
                    # A module that it imports asks for what it has defined so far.
                    half = loaded.pop()
                    if hasattr(half, attribute):
                        return getattr(half, attribute)
                    raise
            if hasattr(loaded[0], attribute):
                return getattr(loaded[0], attribute)
            if attribute in vars(ours):  # a module that it has imported
                return vars(ours)[attribute]
        raise AttributeError(f"{name} has no {attribute!r}: {_say_not_offered(name)}")

    return look_up


def _say_not_offered(name: str) -> str:
    package = name.partition(".")[0]
    return (
        f"AgentQuest stands in for {package} and does not offer it; install {package} or run where"
        " its checkout can be imported, and it comes from there (docs/environments.md)"
    )


class StandIn:
    """A class of ours under another package's name; what it lacks is not taken for a bug there."""

    if not TYPE_CHECKING:  # or mypy would take every name for one that is there

        def __getattr__(self, name):
            raise AttributeError(
                f"AgentQuest's stand-in for {type(self).__name__} has no {name!r}"
                " (docs/environments.md says what is offered)"
            )


def _names(module: ModuleType, names: str) -> dict[str, Any]:
    return {name: getattr(module, name) for name in names.split()}


def _alfworld_modules() -> dict[str, dict[str, Any]]:
    from agentquest.adapters import alfworld_dropin as ours
    from agentquest.adapters import textworld_core as core
    from agentquest.adapters import textworld_gym as gym

    data = os.environ.setdefault("ALFWORLD_DATA", os.path.expanduser("~/.cache/alfworld"))  # noqa: PTH111
    environment = _names(
        ours, "TASK_TYPES AlfredDemangler AlfredExpert AlfredExpertType AlfredInfos AlfredTWEnv"
    )
    registering = _names(gym, "make register_game register_games registry")
    batch = _names(gym, "TextworldBatchGymEnv")
    single = _names(gym, "TextworldGymEnv")
    words = _names(core, "Agent EnvInfos Environment GameState Wrapper")
    return {
        "alfworld": {"__version__": "0.4.2"},
        "alfworld.info": {"ALFWORLD_DATA": data, "__version__": "0.4.2"},
        "alfworld.agents": {},
        "alfworld.agents.environment": _names(ours, "get_environment AlfredTWEnv"),
        "alfworld.agents.environment.alfred_tw_env": environment,
        "alfworld.agents.modules": {},
        "alfworld.agents.modules.generic": _names(ours, "load_config"),
        "textworld": {"__version__": "1.7.0", "start": core.start, **words},
        "textworld.core": words,
        "textworld.envs": {},
        "textworld.envs.wrappers": _names(core, "Filter Limit"),
        "textworld.gym": registering,
        "textworld.gym.utils": registering,
        "textworld.gym.envs": batch | single,
        "textworld.gym.envs.textworld_batch": batch,
        "textworld.gym.envs.textworld": single,
    }


def _webshop_modules() -> dict[str, dict[str, Any]]:
    from agentquest.adapters.webshop_dropin import WebAgentSiteEnv, WebAgentTextEnv
    from agentquest.adapters.webshop_server import DEFAULT_FILE_PATH, SimServer, get_reward
    from agentquest.benchmarks.webshop.shop.shop import parse_action

    env = {"WebAgentTextEnv": WebAgentTextEnv}
    site = {"WebAgentSiteEnv": WebAgentSiteEnv}
    init = {"init_basedir": lambda *_, **__: None}
    paths = {
        "DEBUG_PROD_SIZE": None,
        "DEFAULT_FILE_PATH": DEFAULT_FILE_PATH,
        "BASE_DIR": os.path.dirname(DEFAULT_FILE_PATH),  # noqa: PTH120
    }
    return {
        "web_agent_site": {},
        "web_agent_site.engine": {},
        "web_agent_site.engine.engine": {"parse_action": parse_action},
        "web_agent_site.engine.goal": {"get_reward": get_reward},
        "web_agent_site.envs": env | site,
        "web_agent_site.envs.web_agent_site_env": site,
        "web_agent_site.envs.web_agent_text_env": env | {"SimServer": SimServer},
        "web_agent_site.utils": paths,
        # The copy that RAGEN and ROLL import; our shop finds its data by itself.
        "webshop_minimal": env | init,
        "webshop_minimal.engine": {"parse_action": parse_action},
        "webshop_minimal.goal": {"get_reward": get_reward},
        "webshop_minimal.env": env | {"SimServer": SimServer},
        "webshop_minimal.utils": paths | init,
    }


def _register_gym_ids() -> None:
    """`gym.make("WebAgentTextEnv-v0")`, where the user's code has a gym."""
    try:
        from gym.envs.registration import register
    except ImportError:
        return
    for name in ("WebAgentTextEnv", "WebAgentSiteEnv"):
        target = {"id": f"{name}-v0", "entry_point": f"web_agent_site.envs:{name}"}
        try:
            # Newer releases check spaces, of which the original has none.
            register(**target, disable_env_checker=True, order_enforce=False)
        except TypeError:
            register(**target)
