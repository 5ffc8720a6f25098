"""Making agents and benchmarks from their names."""

import inspect
from collections.abc import Mapping
from typing import Any

from agentquest import registry
from agentquest.errors import ConfigError
from agentquest.lib import Agent, Benchmark


def make_benchmark(name: str, **settings: Any) -> Benchmark:
    """A configured benchmark; a setting it does not have is an error that names it."""
    return _make("benchmark", name, settings)  # type: ignore[no-any-return]


def make_agent(
    name: str,
    benchmark: Benchmark,
    offered: Mapping[str, Any] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Agent:
    """A fresh agent for one episode.

    An agent class gets by name, as parameters, whatever it asks for of the
    `benchmark`, an `explorer` (the benchmark's rule-based player) and `offered`;
    the user's own `settings` it must know all of.
    """
    found = registry.load("agent", name)
    known = inspect.signature(found).parameters
    for key in settings or {}:
        if key not in known:
            raise ConfigError(
                f"agent.settings.{key}: unknown; {registry.suggestion(key, list(known))}"
            )
    possible: dict[str, Any] = {**(offered or {}), "benchmark": benchmark}
    given = {key: value for key, value in possible.items() if key in known}
    if "explorer" in known:
        given["explorer"] = benchmark.explorer()
    agent = found(**{**given, **(settings or {})})
    if not isinstance(agent, Agent):
        raise ConfigError(f"agent {name!r} is a {type(agent).__name__}, no agentquest.lib.Agent")
    return agent


def _make(kind: str, name: str, settings: dict[str, Any]) -> Any:
    found = registry.load(kind, name)
    known = inspect.signature(found).parameters
    for key in settings:
        if key not in known:
            raise ConfigError(
                f"{kind} {name!r} has no setting {key!r}; {registry.suggestion(key, list(known))}"
            )
    return found(**settings)
