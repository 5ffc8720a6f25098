"""Every Python that a script on AgentQuest's engines starts runs this first, by `PYTHONPATH`.

The stand-ins are put in place when one of their packages is first imported, before any folder
is looked into: a package beside the child's script would be another engine than its parent's.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from os import environ, path


class _OnFirstImport:
    """Asks for the stand-ins, and then is not in the way of anything."""

    @classmethod
    def find_spec(cls, name: str, *_: object) -> ModuleSpec | None:
        if name not in ("alfworld", "textworld", "web_agent_site", "webshop_minimal"):
            return None
        sys.meta_path.remove(cls)
        from agentquest.adapters.stand_ins import ASKED, dropin

        asked = environ.get(ASKED, "alfworld web_agent_site").split()
        dropin(alfworld="alfworld" in asked, webshop="web_agent_site" in asked)
        return find_spec(name)


sys.meta_path.insert(0, _OnFirstImport)
# The module of this name that Python would have run without us.
_others = [place for place in sys.path if place != path.dirname(__file__)]  # noqa: PTH120
_hidden = PathFinder.find_spec(__name__, _others)
if _hidden and _hidden.loader:
    _hidden.loader.exec_module(module_from_spec(_hidden))
