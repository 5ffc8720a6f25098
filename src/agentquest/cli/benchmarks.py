"""Which benchmarks there are, and the commands they provide themselves.

`agentquest benchmarks` lists them; `agentquest download NAME`, `agentquest serve NAME` and the
like are commands of a benchmark. The name can be left out where only one has such a command.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import typer

from agentquest import registry
from agentquest.cli.terminal import terminal_width
from agentquest.errors import UnknownName
from agentquest.lib import Benchmark
from agentquest.lib.settings import suggestion

Command = Callable[..., Any]
_LAYOUT: dict[str, Any] = {
    "subsequent_indent": " " * 12,
    "break_long_words": False,
    "break_on_hyphens": False,
}


def command() -> None:
    """List the benchmarks: their splits (the first is the default), task types and commands."""
    for name, found in all_benchmarks().items():
        typer.echo(f"{name}: {found.title}")
        for heading, text in _describe(found):
            typer.echo(
                textwrap.fill(text, terminal_width(), initial_indent=f"  {heading:10}", **_LAYOUT)
            )


def _describe(found: type[Benchmark]) -> list[tuple[str, str]]:
    splits = ", ".join(
        name if size is None else f"{name} ({size})" for name, size in found.splits.items()
    )
    settings = ", ".join(found.Settings.model_fields)
    lines = [("splits", splits), ("types", ", ".join(found.task_types)), ("settings", settings)]
    return [*lines, *([("commands", ", ".join(found.commands))] if found.commands else [])]


def all_benchmarks() -> dict[str, type[Benchmark]]:
    """Every benchmark that can be imported; another package's broken one harms only itself."""
    found: dict[str, type[Benchmark]] = {}
    for name in registry.names("benchmark"):
        try:
            found[name] = registry.load("benchmark", name)
        except UnknownName:
            continue
    return found


def choose_command(command: str, benchmark: str | None) -> dict[str, Command]:
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
