"""`agentquest check-benchmark`: does a benchmark keep its promises?"""

import textwrap
from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import read_benchmark
from agentquest.running.check import CHECKS, CheckResult, check_benchmark
from agentquest.safe_text import say
from agentquest.words import counted

_WIDTH = max(len(check.name) for check in CHECKS)


def command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="BENCHMARK [KEY=VALUE]",
            help="A benchmark's name, or package.module:Class; and settings of it.",
        ),
    ],
    per_type: Annotated[int, typer.Option(min=1, help="Tasks to play per type.")] = 1,
) -> None:
    """Play a benchmark and check everything that agents, records and reports rely on.

    Prints one line per check; for a failed one also what is wrong and how to fix it.
    Exit code 0: all checks passed, 1: some failed.

    Example: agentquest check-benchmark my_package.my_module:MyBenchmark
    """
    benchmark, settings = read_benchmark(words)
    results = []
    for result in check_benchmark(benchmark, settings, per_type):
        _show(result)
        results.append(result)
    broken = sum(not result.ok for result in results)
    say(f"{counted(len(results), 'check')}, {broken} with problems")
    raise typer.Exit(1 if broken else 0)


def _show(result: CheckResult) -> None:
    name = f"{result.check.name:{_WIDTH}}"
    if result.ok:
        say(f"ok       {name}  {result.check.promise}")
        return
    say(f"problem  {name}  failed: {result.check.promise}", fg="red")
    for problem in result.problems:
        say(textwrap.indent(problem, " " * 9))
    remedy = textwrap.fill(f"To fix it: {result.check.remedy}", 90)
    say(textwrap.indent(remedy, " " * 9))
