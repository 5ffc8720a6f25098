"""Short names and the classes they stand for.

Tables of strings, so that nothing is imported before it is used. A dotted path
`package.module:Class` works wherever a short name does, and other packages can
add names through the entry-point groups `agentquest.benchmarks` and
`agentquest.agents`.
"""

import difflib
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from agentquest.errors import UnknownName

BENCHMARKS = {
    "alfworld": "agentquest.benchmarks.alfworld.benchmark:AlfWorldBenchmark",
    "webshop": "agentquest.benchmarks.webshop.benchmark:WebshopBenchmark",
}
AGENTS = {
    "oracle": "agentquest.agents.oracle:OracleAgent",
    "random": "agentquest.agents.random_agent:RandomAgent",
    "react": "agentquest.agents.react:ReActAgent",
    "scripted": "agentquest.agents.scripted:ScriptedAgent",
}
_TABLES = {"benchmark": BENCHMARKS, "agent": AGENTS}


def names(kind: str) -> list[str]:
    """All short names of a kind, ours and those of installed packages."""
    return sorted({**_TABLES[kind], **_plugins(kind)})


def load(kind: str, name: str) -> Any:
    """The class behind a short name or a dotted path."""
    target = _TABLES[kind].get(name) or _plugins(kind).get(name)
    if target is None and ":" not in name:
        raise UnknownName(f"{name!r} is not {_article(kind)}; {suggestion(name, names(kind))}")
    return _import(kind, target or name)


def suggestion(name: str, known: list[str]) -> str:
    """`did you mean …?`, or the list of what there is."""
    close = difflib.get_close_matches(name, known, n=1)
    there = f"there are: {', '.join(known)}"
    return f"did you mean {close[0]!r}? ({there})" if close else there


def _import(kind: str, target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownName(f"{kind} {target!r} cannot be imported: {error}") from error


def _plugins(kind: str) -> dict[str, str]:
    return {point.name: point.value for point in entry_points(group=f"agentquest.{kind}s")}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
