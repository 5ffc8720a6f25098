"""`agentquest info`: what can be assessed, and how."""

import typer

from agentquest import registry

_USAGE = """
Usage:
  agentquest launch                          one game, both agents started and stopped for you
  agentquest launch --num-games 12           two games of each task type
  agentquest launch --task-types "1,2,3"     only these types
  agentquest launch --coverage-mode comprehensive --num-games-per-type 5
  agentquest launch --agent-url URL          test an agent that already runs
  agentquest green                           the assessing agent alone, on port 9001
  agentquest white                           an agent to be tested, on port 9002

`python main.py …` is the same. Without OPENAI_API_KEY a scripted agent plays."""


def command() -> None:
    """Print the task types and how to run an assessment."""
    for name in registry.BENCHMARKS:
        benchmark = registry.load("benchmark", name)
        typer.echo(f"{benchmark.title} task types:")
        for number, task_type in enumerate(benchmark.task_types, start=1):
            typer.echo(f"  {number}  {task_type}")
    typer.echo(_USAGE)
