"""Runs a public script on AgentQuest's engines, with a scripted model in the place of a real one.

    python conformance/pretended_packages.py REPLIES SCRIPT [ARGUMENTS …]

REPLIES is a JSON list of what the model says in turn; `{product}` is the last product that it was
shown. Packages that have nothing to do with the engine are pretended: their names can be imported
and called, and do nothing.
"""

import json
import re
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import cycle
from types import FunctionType, ModuleType

PRETENDED = (
    "langchain", "langchain_community", "langchain_openai", "llm", "openai", "tiktoken",
    "torchvision",
)  # fmt: skip
_PRODUCT = re.compile(r"\[(B[0-9A-Z]{9})\]")


class Reply(str):
    """Whatever a script takes out of a reply is its text."""

    prompt_tokens = completion_tokens = total_tokens = 1

    def __getattr__(self, name):
        return self

    def __getitem__(self, place):
        return super().__getitem__(place) if isinstance(place, slice) else self


class Anything:
    """A name of a pretended package; as a decorator it leaves functions as they are."""

    replies = cycle([""])

    def __getattr__(self, name):
        return self._reply if name == "create" else self

    def __call__(self, *given, **_):
        return given[0] if given and isinstance(given[0], FunctionType) else self

    def __len__(self):
        return 0

    def _reply(self, **asked):
        shown = _PRODUCT.findall(str(asked)) or [""]
        return Reply(next(Anything.replies).replace("{product}", shown[-1]))


class Pretend(MetaPathFinder, Loader):
    """Makes the modules of pretended packages."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in PRETENDED:
            return ModuleSpec(name, self, is_package=True)
        return None

    def exec_module(self, module: ModuleType):
        vars(module).update(__getattr__=Anything().__getattr__, __file__=__file__)


if __name__ == "__main__":
    _, replies, *rest = sys.argv
    Anything.replies = cycle(json.loads(replies))
    del sys.path[0]
    sys.meta_path.insert(0, Pretend())

    from agentquest.dropin import main

    sys.exit(main(rest))
