"""`agentquest tasks`: the games of a benchmark."""

from typing import Annotated

import typer

from agentquest.cli.benchmark_choice import (
    DATA_HELP,
    SETTING_HELP,
    SPLIT_HELP,
    BenchmarkWords,
    chosen_settings,
    read_words,
)
from agentquest.running.factory import make_benchmark
from agentquest.words import plural


def command(
    benchmark: BenchmarkWords = None,
    split: Annotated[str | None, typer.Option(help=SPLIT_HELP)] = None,
    task_type: Annotated[
        list[str] | None,
        typer.Option("--type", "-t", help="Only this task type (number or name); may be repeated."),
    ] = None,
    match: Annotated[
        str, typer.Option("--match", "-m", help="Only ids that contain this text.")
    ] = "",
    data_path: Annotated[str | None, typer.Option(help=DATA_HELP)] = None,
    setting: Annotated[list[str] | None, typer.Option(help=SETTING_HELP)] = None,
    count: Annotated[
        bool, typer.Option("--count", help="Only print the number of tasks per type.")
    ] = False,
) -> None:
    """List the tasks of a benchmark, one id per line.

    Example: agentquest tasks alfworld --split valid_seen --type heat
    """
    name, options = read_words(benchmark)
    given = {"split": split, "task_types": task_type, "data_path": data_path}
    source = make_benchmark(name, chosen_settings(given, setting, options))
    tasks = [task for task in source.tasks() if match.lower() in task.id.lower()]
    if not count:
        for task in tasks:
            typer.echo(task.id)
    for task_type_name in source.task_types:
        number = sum(task.task_type == task_type_name for task in tasks)
        if number:
            typer.echo(f"{number:5d} {task_type_name}", err=not count)
    total = f"{len(tasks):5d} {plural(len(tasks), 'task')}"
    typer.echo(f"{total} ({source.provenance().data} data)", err=not count)
