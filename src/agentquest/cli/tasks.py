"""`agentquest tasks`: which games there are."""

from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import (
    BENCHMARK_HELP,
    SETTING_HELP,
    SPLIT_HELP,
    chosen_benchmark,
)


def command(
    benchmark: Annotated[str, typer.Argument(help=BENCHMARK_HELP)],
    split: Annotated[str | None, typer.Option(help=SPLIT_HELP)] = None,
    task_type: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this task type (number or name); may be repeated."),
    ] = None,
    match: Annotated[
        str, typer.Option("--match", "-m", help="Only ids that contain this text.")
    ] = "",
    data_path: Annotated[
        str | None, typer.Option(help="Folder of the real data, or `builtin`.")
    ] = None,
    setting: Annotated[list[str] | None, typer.Option(help=SETTING_HELP)] = None,
    count: Annotated[bool, typer.Option("--count", help="Only say how many, by type.")] = False,
) -> None:
    """List the tasks of a benchmark, one id a line.

    Example: agentquest tasks alfworld --split valid_seen --type heat --match Fridge
    """
    given = {"split": split, "task_types": task_type, "data_path": data_path}
    source = chosen_benchmark(benchmark, given, setting)
    tasks = [task for task in source.tasks() if match.lower() in task.id.lower()]
    if not count:
        for task in tasks:
            typer.echo(task.id)
    for name in source.task_types:
        number = sum(task.task_type == name for task in tasks)
        if number:
            typer.echo(f"{number:5d} {name}", err=not count)
    typer.echo(f"{len(tasks):5d} tasks ({source.provenance()['data']} data)", err=not count)
