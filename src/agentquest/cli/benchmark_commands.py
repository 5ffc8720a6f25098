"""Commands that benchmarks provide: `agentquest download NAME`, `agentquest serve NAME`, …

The name can be left out where only one benchmark has such a command.
"""

from collections.abc import Callable, Sequence
from typing import Any

from agentquest import registry
from agentquest.errors import UnknownName
from agentquest.lib import Benchmark
from agentquest.lib.settings import suggestion

Command = Callable[..., Any]


def all_benchmarks() -> dict[str, type[Benchmark]]:
    """Every benchmark that can be imported; another package's broken one harms only itself."""
    found: dict[str, type[Benchmark]] = {}
    for name in registry.names("benchmark"):
        try:
            found[name] = registry.load("benchmark", name)
        except UnknownName:
            continue
    return found


def choose(command: str, benchmark: str | None) -> dict[str, Command]:
    """The functions that may be meant by `agentquest COMMAND BENCHMARK`, by benchmark.

    Only the benchmark that is named is imported. Empty: no benchmark has such a command.
    """
    is_named = benchmark is not None and (
        benchmark in registry.names("benchmark") or ":" in benchmark
    )
    if benchmark is not None and is_named:
        target = registry.load("benchmark", benchmark).commands.get(command)
        if target is not None:
            return {benchmark: registry.load_object("command", target)}
    targets = {
        name: found.commands[command]
        for name, found in all_benchmarks().items()
        if command in found.commands
    }
    if benchmark is not None and targets and (is_named or len(targets) > 1):
        raise UnknownName(
            f"{command}: {benchmark!r} has no such command; {suggestion(benchmark, list(targets))}"
        )
    return {name: registry.load_object("command", target) for name, target in targets.items()}


def no_such_command(wanted: str, known: Sequence[str]) -> UnknownName:
    """The error for an unknown command, with the nearest of ours and of the benchmarks' own."""
    own = {name for found in all_benchmarks().values() for name in found.commands}
    names = sorted({*known, *own})
    return UnknownName(f"unknown command {wanted!r}; {suggestion(wanted, names)}")
