"""Making benchmarks, agents and models from their names and settings.

`Resources` holds what the episodes of one process share: the benchmark with its
data, the model's client, and whatever the agent class opened for all of them.
"""

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Benchmark
from agentquest.lib.settings import Settings, validate_settings
from agentquest.llms.types import ChatModel
from agentquest.running.asking import watch_model
from agentquest.running.crashes import name_crash, note_crash
from agentquest.running.spec import Choice, RunContext

_OFFERED = ("settings", "model", "explorer", "shared")


def make_benchmark(name: str, settings: Mapping[str, Any] | None = None) -> Benchmark:
    """A configured benchmark; a setting it does not have is an error that names it."""
    found = registry.load("benchmark", name)
    if not (inspect.isclass(found) and issubclass(found, Benchmark)):
        raise ConfigError(f"benchmark {name!r} is not a subclass of agentquest.lib.Benchmark")
    made: Benchmark = found(validate_settings(found.Settings, settings or {}, "benchmark_settings"))
    return made


def agent_class(name: str) -> type[Agent]:
    """The class behind an agent's name, checked before a run begins."""
    found = registry.load("agent", name)
    if not (inspect.isclass(found) and issubclass(found, Agent)):
        kind = found.__name__ if inspect.isclass(found) else f"a {type(found).__name__}"
        raise ConfigError(f"agent {name!r} is {kind}, not a subclass of agentquest.lib.Agent")
    for parameter in _parameters(found):
        if parameter not in _OFFERED:
            raise ConfigError(
                f"agent {name!r}: its constructor asks for {parameter!r}; it can ask for "
                f"{', '.join(_OFFERED)} (settings of its own go into a `Settings` class)"
            )
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise ConfigError(f"agent {name!r} does not say what it does: it needs `{missing}`")
    return found


def agent_settings(name: str, given: Mapping[str, Any]) -> Settings:
    """An agent's settings; unknown ones are refused with the nearest name."""
    return validate_settings(agent_class(name).Settings, given, "agent")


def refuse_caller(name: str) -> None:
    """Raise where the agent is whoever calls a command of ours: nothing else can play it."""
    if command := agent_class(name).called_by:
        raise ConfigError(f"the agent {name!r} is whoever calls `{command}`")


def asks_a_model(name: str) -> bool:
    """Whether the agent takes a model; the built-in baselines do not."""
    return "model" in _parameters(agent_class(name))


def shares_something(name: str) -> bool:
    """Whether the agent takes what all episodes of a process share, which has to be opened."""
    return "shared" in _parameters(agent_class(name))


class Resources:
    """Shared by all episodes of one process and one run.

    The agents' shared resources can be passed in, already open; the caller then closes them.
    """

    def __init__(
        self, context: RunContext, benchmark: Benchmark | None = None, shared: Any = None
    ) -> None:
        self.context = context
        self._benchmark = benchmark
        self._client: ChatModel | None = None
        self._shared = shared
        self._opened = self._is_given = shared is not None

    @cached_property
    def benchmark(self) -> Benchmark:
        """The benchmark of the run, with its data; made on first use."""
        chosen = self.context.benchmark
        return self._benchmark or make_benchmark(chosen.name, chosen.settings)

    @cached_property
    def agent_class(self) -> type[Agent]:
        """The class of the agent that plays."""
        return agent_class(self.context.agent.name)

    @cached_property
    def agent_settings(self) -> Settings:
        """The agent's settings, checked."""
        return agent_settings(self.context.agent.name, self.context.agent.settings)

    async def open(self) -> None:
        """Open what the agent class shares; once."""
        if not self._opened:
            self._opened = True
            refuse_caller(self.context.agent.name)
            with name_crash(f"{self.agent_class.__name__}.open_shared", ConfigError):
                self._shared = await self.agent_class.open_shared(self.agent_settings)

    async def close(self) -> None:
        """Close the model's client, and what the agents share unless it was given."""
        for shared in (self._client, None if self._is_given else self._shared):
            closing = getattr(shared, "close", None)
            if closing is not None:
                with note_crash(f"{type(shared).__name__}.close", set()):
                    await closing()

    def trouble(self) -> str:
        """What is wrong with the model's server now, in one line; empty when all is well."""
        return self._client.status().line if self._client is not None else ""

    def agent(self) -> Agent:
        """A fresh agent for one episode."""
        name, found = self.context.agent.name, self.agent_class
        offered: dict[str, Callable[[], Any]] = {
            "settings": lambda: self.agent_settings,
            "model": self.model,
            "explorer": lambda: self.benchmark.explorer(),
            "shared": lambda: self._shared,
        }
        given = {name: offered[name]() for name in _parameters(found)}
        # Every episode would fail the same way, so the run ends here.
        with name_crash(f"agent {name!r} cannot be made", ConfigError):
            return found(**given)

    def model(self) -> ChatModel:
        """The configured model: one client for all, or a rule-based player for each episode."""
        chosen = self.context.model or Choice("scripted")
        found = registry.load("model", chosen.name)
        settings = validate_settings(found.Settings, chosen.settings, "llm")
        if "explorer" in _parameters(found):
            # It plays by rules: one player per episode.
            explorer = self.benchmark.explorer()
            return watch_model(lambda: found(settings, explorer=explorer), chosen.name)
        if self._client is None:
            self._client = watch_model(lambda: found(settings), chosen.name)
        return self._client


def _parameters(found: type) -> Mapping[str, inspect.Parameter]:
    if found.__init__ is object.__init__:  # type: ignore[misc]
        return {}
    return inspect.signature(found).parameters
