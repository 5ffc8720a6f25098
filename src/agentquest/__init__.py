"""AgentQuest: how good is an LLM agent at acting over many turns?

    import agentquest

    result = agentquest.evaluate("run.yaml", agent=MyAgent, num_games=12)
    record = agentquest.play("my_benchmark:Chess", agent="oracle")
    earlier = agentquest.load_run("runs/my-run")

Nothing is imported before it is used: `agentquest --help` and a driver in a
training loop must both start at once.
"""

from typing import TYPE_CHECKING, Any

from agentquest.version import __version__

if TYPE_CHECKING:
    from agentquest.api import RunResult, evaluate, load_run, play

__all__ = ["RunResult", "__version__", "evaluate", "load_run", "play"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from agentquest import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
