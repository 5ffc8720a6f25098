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


def check_agent(name: str, settings: Mapping[str, Any]) -> None:
    """Refuse an agent that does not exist, or settings it does not know, before a run begins."""
    known = _parameters("agent", name, registry.load("agent", name))
    any_key = any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values())
    for key in settings:
        if key not in known and not any_key:
            raise ConfigError(
                f"agent.settings.{key}: unknown; {registry.suggestion(key, list(known))}"
            )


def asks_a_model(name: str) -> bool:
    """Whether the agent takes a model; the built-in baselines do not."""
    return "model" in _parameters("agent", name, registry.load("agent", name))


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
    check_agent(name, settings or {})
    found = registry.load("agent", name)
    known = _parameters("agent", name, found)
    possible: dict[str, Any] = {**(offered or {}), "benchmark": benchmark}
    given = {key: value for key, value in possible.items() if key in known}
    if "explorer" in known:
        given["explorer"] = benchmark.explorer()
    try:
        agent = found(**{**given, **(settings or {})})
    except (Exception, SystemExit) as error:
        # Somebody else's code: every episode would meet the same, so the run ends with it.
        raise ConfigError(
            f"agent {name!r} cannot be made: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(agent, Agent):
        raise ConfigError(f"agent {name!r} is a {type(agent).__name__}, no agentquest.lib.Agent")
    return agent


def _parameters(kind: str, name: str, found: Any) -> Mapping[str, inspect.Parameter]:
    if not callable(found):
        raise ConfigError(f"{kind} {name!r} is a {type(found).__name__}, no class")
    return inspect.signature(found).parameters


def _make(kind: str, name: str, settings: dict[str, Any]) -> Any:
    found = registry.load(kind, name)
    known = _parameters(kind, name, found)
    for key in settings:
        if key not in known:
            raise ConfigError(
                f"{kind} {name!r} has no setting {key!r}; {registry.suggestion(key, list(known))}"
            )
    return found(**settings)
