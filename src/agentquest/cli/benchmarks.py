"""Which benchmarks and tasks there are, and the commands that benchmarks provide themselves.

`agentquest download NAME`, `agentquest serve NAME` and the like are commands of a benchmark. The
name can be left out where only one has such a command.
"""

import textwrap
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from agentquest import registry
from agentquest.cli.benchmark_choice import (
    BenchmarkWords,
    TaskTypes,
    read_benchmark,
)
from agentquest.cli.terminal import terminal_width
from agentquest.errors import UnknownName
from agentquest.lib import Benchmark
from agentquest.lib.settings import suggestion
from agentquest.reports.render.text import pairs, wrap_text
from agentquest.safe_text import say
from agentquest.words import plural

Command = Callable[..., Any]
_NO_BREAK = "\xa0"
_LAYOUT: dict[str, Any] = {
    "subsequent_indent": " " * 12,
    "break_long_words": False,
    "break_on_hyphens": False,
}

_USAGE = (
    ("launch", "one game, both agents started and stopped for you"),
    ("launch --num-games 12", "two games of each task type"),
    ('launch --task-types "1,2,3"', "only these types"),
    ("launch --num-games-per-type 5", "five games of each type"),
    ("launch --agent-url URL", "test an agent that is already running"),
    ("green", "the assessing agent alone, on port 9001"),
    ("white", "an agent to be tested, on port 9002"),
)
_MORE = "`python main.py …` does the same. Without OPENAI_API_KEY a scripted agent plays."


def command() -> None:
    """List the benchmarks: their splits (the first is the default), task types and commands."""
    for name, found in all_benchmarks().items():
        say(f"{name}: {found.title}")
        for heading, text in _describe(found):
            start = f"  {heading:10}"
            lines = textwrap.fill(text, terminal_width(), initial_indent=start, **_LAYOUT)
            say(lines.replace(_NO_BREAK, " "))


def _describe(found: type[Benchmark]) -> list[tuple[str, str]]:
    splits = (name if size is None else f"{name} ({size})" for name, size in found.splits.items())
    types = (f"{number}:{_NO_BREAK}{name}" for number, name in enumerate(found.task_types, start=1))
    lists = {
        "splits": splits,
        "types": types,
        "settings": found.Settings.model_fields,
        "commands": found.commands,
    }
    return [(heading, text) for heading, names in lists.items() if (text := ", ".join(names))]


def list_tasks(
    words: BenchmarkWords = None,
    task_type: TaskTypes = None,
    match: Annotated[
        str, typer.Option("--match", "-m", help="Only ids that contain this text.")
    ] = "",
    count: Annotated[
        bool, typer.Option("--count", help="Only print the number of tasks per type.")
    ] = False,
) -> None:
    """List the tasks of a benchmark, one id per line.

    Example: agentquest tasks alfworld --split valid_seen --type heat
    """
    from agentquest.running.factory import make_benchmark  # the other commands need no runner

    name, settings = read_benchmark(words)
    source = make_benchmark(name, settings | ({"task_types": task_type} if task_type else {}))
    found = [task for task in source.tasks() if match.lower() in task.id.lower()]
    if not count:
        for task in found:
            say(task.id)
    for task_type_name in source.task_types:
        number = sum(task.task_type == task_type_name for task in found)
        if number:
            say(f"{number:5d} {task_type_name}", err=not count)
    total = f"{len(found):5d} {plural(len(found), 'task')}"
    say(f"{total} ({source.provenance().data} data)", err=not count)


def show_info() -> None:
    """Print the task types, as `agentquest benchmarks` does, and how to run an assessment."""
    command()
    width = terminal_width()
    usage = pairs(((f"agentquest {words}", meaning) for words, meaning in _USAGE), width)
    say(f"\nUsage:\n{usage}\n\n{wrap_text(_MORE, width)}")


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
