"""Making agents and benchmarks from their names."""

import inspect
from typing import Any

from agentquest import registry
from agentquest.errors import UserError
from agentquest.lib import Agent, Benchmark


def make_benchmark(name: str, **settings: Any) -> Benchmark:
    """A configured benchmark; a setting it does not have is an error that names it."""
    return _make("benchmark", name, settings)  # type: ignore[no-any-return]


def make_agent(name: str, benchmark: Benchmark, **settings: Any) -> Agent:
    """A fresh agent for one episode.

    An agent class may ask for an `explorer` (the benchmark's rule-based player),
    the `benchmark` itself or anything in `settings` by naming it as a parameter.
    """
    found = registry.load("agent", name)
    wanted = inspect.signature(found).parameters
    offered = {**settings, "benchmark": benchmark}
    if "explorer" in wanted:
        offered["explorer"] = benchmark.explorer()
    given = {key: value for key, value in offered.items() if key in wanted}
    agent = found(**given)
    if not isinstance(agent, Agent):
        raise UserError(f"agent {name!r} is a {type(agent).__name__}, not an agentquest.lib.Agent")
    return agent


def _make(kind: str, name: str, settings: dict[str, Any]) -> Any:
    found = registry.load(kind, name)
    known = inspect.signature(found).parameters
    for key in settings:
        if key not in known:
            raise UserError(
                f"{kind} {name!r} has no setting {key!r}; {registry.suggestion(key, list(known))}"
            )
    return found(**settings)
