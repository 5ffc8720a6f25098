"""`agentquest check-benchmark`: is a benchmark what it promises to be?"""

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import SETTING_HELP, chosen_settings
from agentquest.running.check import CHECKS, CheckResult, check_benchmark

_WIDTH = max(len(check.name) for check in CHECKS)


def command(
    benchmark: Annotated[str, typer.Argument(help="A benchmark's name, or package.module:Class.")],
    setting: Annotated[list[str] | None, typer.Option(help=SETTING_HELP)] = None,
    per_type: Annotated[int, typer.Option(min=1, help="Tasks of each type to play.")] = 1,
) -> None:
    """Play a benchmark and verify what agents, records and reports rely on.

    One line per promise, and what is wrong and how to mend it where one is not kept.
    Exit code 0: all are kept, 1: some are not.
    """
    # A benchmark of the user's own may stand in the folder they are in.
    sys.path.append(str(Path.cwd()))
    results = []
    for result in check_benchmark(benchmark, chosen_settings({}, setting), per_type):
        _show(result)
        results.append(result)
    broken = sum(not result.ok for result in results)
    typer.echo(f"{len(results)} checks, {broken} with problems")
    raise typer.Exit(1 if broken else 0)


def _show(result: CheckResult) -> None:
    name = f"{result.check.name:{_WIDTH}}"
    if result.ok:
        typer.echo(f"ok       {name}  {result.check.promise}")
        return
    typer.secho(f"problem  {name}  not so: {result.check.promise}", fg="red")
    for problem in result.problems:
        typer.echo(textwrap.indent(problem, " " * 9))
    remedy = textwrap.fill(f"To mend it: {result.check.remedy}", 90)
    typer.echo(textwrap.indent(remedy, " " * 9))
