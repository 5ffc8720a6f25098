"""Short names of classes.

Tables of strings, so that nothing is imported before it is used. A dotted path
`package.module:Class` works wherever a short name does, and other packages can
add names through the entry-point groups `agentquest.benchmarks`,
`agentquest.agents`, `agentquest.models`, `agentquest.executors`,
`agentquest.protocols` and `agentquest.sinks`. What comes over a network may only use names, never
paths: see `load_registered`.
"""

import traceback
from importlib import import_module
from pathlib import PurePath
from typing import Any

from agentquest.errors import AgentQuestError, UnknownName

BENCHMARKS = {
    "alfworld": "agentquest.benchmarks.alfworld.benchmark:AlfWorldBenchmark",
    "mastermind": "agentquest.benchmarks.mastermind.benchmark:MasterMindBenchmark",
    "sudoku": "agentquest.benchmarks.sudoku.benchmark:SudokuBenchmark",
    "webshop": "agentquest.benchmarks.webshop.benchmark:WebshopBenchmark",
}
AGENTS = {
    "a2a": "agentquest.a2a.remote_agent:RemoteAgent",
    "human": "agentquest.agents.human:HumanAgent",
    "mcp": "agentquest.adapters.mcp_callers:CallerAgent",
    "clumsy": "agentquest.agents.baselines:ClumsyAgent",
    "command": "agentquest.agents.command:CommandAgent",
    "oracle": "agentquest.agents.baselines:OracleAgent",
    "prompted": "agentquest.agents.prompted:PromptedAgent",
    "random": "agentquest.agents.baselines:RandomAgent",
    "react": "agentquest.agents.react:ReActAgent",
    "scripted": "agentquest.agents.baselines:ScriptedAgent",
    "tools": "agentquest.agents.tools:ToolsAgent",
}
MODELS = {
    "anthropic": "agentquest.llms.anthropic:AnthropicMessages",
    "gemini": "agentquest.llms.gemini:GeminiModel",
    "openai": "agentquest.llms.openai_chat:OpenAIChat",
    "responses": "agentquest.llms.openai_responses:OpenAIResponses",
    "scripted": "agentquest.llms.scripted:ScriptedModel",
}
EXECUTORS = {
    "local": "agentquest.running.executors.local:LocalExecutor",
    "processes": "agentquest.running.executors.processes:ProcessExecutor",
    "ray": "agentquest.running.executors.ray:RayExecutor",
}
PROTOCOLS = {
    "agentbench-fc-alfworld": "agentquest.benchmarks.alfworld.protocols:AGENTBENCH_FC",
    "agentbench-fc-webshop": "agentquest.benchmarks.webshop.protocols:AGENTBENCH_FC",
    "agentboard-alfworld": "agentquest.benchmarks.alfworld.protocols:AGENTBOARD",
    "agentgym-alfworld-200": "agentquest.benchmarks.alfworld.protocols:AGENTGYM_200",
    "agentgym-webshop-200": "agentquest.benchmarks.webshop.protocols:AGENTGYM_200",
    "agentify-100": "agentquest.benchmarks.alfworld.protocols:AGENTIFY_100",
    "eto-alfworld-seen": "agentquest.benchmarks.alfworld.protocols:ETO_SEEN",
    "eto-alfworld-unseen": "agentquest.benchmarks.alfworld.protocols:ETO_UNSEEN",
    "eto-webshop-200": "agentquest.benchmarks.webshop.protocols:ETO_200",
    "gigpo-alfworld": "agentquest.benchmarks.alfworld.protocols:GIGPO",
    "gigpo-webshop": "agentquest.benchmarks.webshop.protocols:GIGPO",
    "gigpo-webshop-as-published": "agentquest.benchmarks.webshop.protocols:GIGPO_AS_PUBLISHED",
    "react-alfworld": "agentquest.benchmarks.alfworld.protocols:REACT",
    "reflexion-alfworld": "agentquest.benchmarks.alfworld.protocols:REFLEXION",
    "seen-140": "agentquest.benchmarks.alfworld.protocols:SEEN_140",
    "train-200": "agentquest.benchmarks.alfworld.protocols:TRAIN_200",
    "unseen-134": "agentquest.benchmarks.alfworld.protocols:UNSEEN_134",
    "unseen-134-two-shot": "agentquest.benchmarks.alfworld.protocols:UNSEEN_134_TWO_SHOT",
    "webshop-500": "agentquest.benchmarks.webshop.protocols:WEBSHOP_500",
}
SINKS = {
    "mlflow": "agentquest.adapters.sinks.mlflow_sink:MLflowSink",
    "otel": "agentquest.adapters.sinks.otel:OpenTelemetrySink",
    "wandb": "agentquest.adapters.sinks.wandb_sink:WandbSink",
}
_TABLES = {
    "benchmark": BENCHMARKS,
    "agent": AGENTS,
    "model": MODELS,
    "executor": EXECUTORS,
    "protocol": PROTOCOLS,
    "sink": SINKS,
}


def names(kind: str) -> list[str]:
    """All short names of a kind, ours and those of installed packages."""
    return sorted({**_TABLES[kind], **_plugins(kind)})


def load(kind: str, name: str) -> Any:
    """The class behind a short name or a dotted path."""
    return _import(kind, target(kind, name))


def target(kind: str, name: str) -> str:
    """The dotted path behind a name; nothing is imported."""
    found = _TABLES[kind].get(name) or _plugins(kind).get(name)
    if found is None and ":" not in name:
        raise _unknown(kind, name)
    return found or name


def load_registered(kind: str, name: str) -> Any:
    """The class behind a registered name; a dotted path is refused, as it would import anything."""
    if name not in names(kind):
        raise _unknown(kind, name)
    return load(kind, name)


def load_object(what: str, path: str) -> Any:
    """What a dotted path `package.module:NAME` leads to."""
    if ":" not in path:
        raise UnknownName(f"{what} {path!r} is not of the form package.module:NAME")
    return _import(what, path)


def _import(kind: str, path: str) -> Any:
    module, _, attribute = path.partition(":")
    if "/" in module or module.endswith(".py"):
        meant = f"{PurePath(module).stem}:{attribute}"
        raise UnknownName(f"{kind} {path!r} names a file; name its module, as in {meant}")
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
        return found
    except AgentQuestError:
        raise
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownName(f"{kind} {path!r} cannot be imported: {error}") from error
    except (Exception, SystemExit) as error:
        # Somebody else's code, which may raise anything.
        raise UnknownName(
            f"{kind} {path!r} cannot be imported: {_what_and_where(error)}"
        ) from error


def _what_and_where(error: BaseException) -> str:
    """An error in one line, with the last place in the code that it came from."""
    said = f"{type(error).__name__}: {error}"
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) or not frames:
        return said  # which names its place itself
    return f"{said} ({PurePath(frames[-1].filename).name}, line {frames[-1].lineno})"


def _plugins(kind: str) -> dict[str, str]:
    from importlib.metadata import entry_points  # needed only for names that are not ours

    return {point.name: point.value for point in entry_points(group=f"agentquest.{kind}s")}


def _unknown(kind: str, name: str) -> UnknownName:
    # Imported here, so that a list of names costs no import of the library.
    from agentquest.lib.settings import suggestion

    article = "an" if kind[0] in "aeiou" else "a"
    return UnknownName(f"{name!r} is not {article} {kind}; {suggestion(name, names(kind))}")
