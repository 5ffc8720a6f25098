"""`agentquest info`: what can be assessed, and how."""

import typer

from agentquest import registry
from agentquest.cli.terminal import terminal_width
from agentquest.reports.render.text import pairs, wrap_text

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
    """Print the task types and the commands that run an assessment."""
    for name in registry.BENCHMARKS:
        benchmark = registry.load("benchmark", name)
        typer.echo(f"{benchmark.title} task types:")
        for number, task_type in enumerate(benchmark.task_types, start=1):
            typer.echo(f"  {number}  {task_type}")
    width = terminal_width()
    usage = pairs(((f"agentquest {words}", meaning) for words, meaning in _USAGE), width)
    typer.echo(f"\nUsage:\n{usage}\n\n{wrap_text(_MORE, width)}")
