"""`agentquest info`: what can be assessed, and how."""

import typer

from agentquest.benchmarks.alfworld.task_types import TASK_TYPES

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
    typer.echo("ALFWorld task types:")
    for task in TASK_TYPES:
        typer.echo(f"  {task.number}  {task.name}")
    typer.echo(_USAGE)
