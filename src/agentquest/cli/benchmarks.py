"""`agentquest benchmarks`: what can be played, and each benchmark's own commands."""

import textwrap
from typing import Any

import typer

from agentquest.cli.benchmark_commands import all_benchmarks
from agentquest.cli.width import terminal_width
from agentquest.lib import Benchmark

_LOOKS: dict[str, Any] = {
    "subsequent_indent": " " * 12,
    "break_long_words": False,
    "break_on_hyphens": False,
}


def command() -> None:
    """List the benchmarks: their splits (the first is the default), task types and commands."""
    for name, found in all_benchmarks().items():
        typer.echo(f"{name}: {found.title}")
        for heading, text in _described(found):
            typer.echo(
                textwrap.fill(text, terminal_width(), initial_indent=f"  {heading:10}", **_LOOKS)
            )


def _described(found: type[Benchmark]) -> list[tuple[str, str]]:
    splits = ", ".join(
        name if size is None else f"{name} ({size})" for name, size in found.splits.items()
    )
    settings = ", ".join(found.Settings.model_fields)
    lines = [("splits", splits), ("types", ", ".join(found.task_types)), ("settings", settings)]
    return [*lines, *([("commands", ", ".join(found.commands))] if found.commands else [])]
