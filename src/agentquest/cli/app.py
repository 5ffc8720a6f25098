"""The table of commands, and how an error reaches the user."""

import importlib
import sys

import typer

from agentquest import __version__
from agentquest.errors import AgentQuestError

# name -> (module with a function `command`, one line of help)
COMMANDS = {
    "demo": ("agentquest.cli.demo", "Play the baseline agents on the built-in homes."),
    "init": ("agentquest.cli.init", "Write a commented example configuration."),
    "eval": ("agentquest.cli.eval", "Evaluate an agent; the same command again resumes."),
    "report": ("agentquest.cli.report", "Report on a run as text, Markdown, CSV or HTML."),
    "compare": ("agentquest.cli.compare", "Compare runs task by task."),
    "launch": ("agentquest.cli.launch", "Assess an A2A agent with one command."),
    "green": ("agentquest.cli.green", "Serve the agent that assesses others over A2A."),
    "white": ("agentquest.cli.white", "Serve an agent to be assessed over A2A."),
    "info": ("agentquest.cli.info", "Show the task types and how to assess an agent."),
    "run": ("agentquest.cli.role", "Serve the A2A agent that ROLE, HOST and AGENT_PORT name."),
    "play": ("agentquest.cli.play", "Play a game yourself in the terminal."),
    "tasks": ("agentquest.cli.tasks", "List and filter a benchmark's tasks."),
    "homes": ("agentquest.cli.homes", "Compare or write out the built-in ALFWorld homes."),
    "serve": ("agentquest.cli.serve", "Serve a benchmark over HTTP."),
    "download": ("agentquest.cli.download", "Fetch a benchmark's real data."),
}
_HELP = "How good is an LLM agent at acting over many turns? ALFWorld and WebShop, natively."
_EPILOG = "Start with `agentquest demo`; `agentquest COMMAND --help` explains each command."


def build(wanted: str | None) -> typer.Typer:
    """The command line; only the wanted command's module is imported."""
    app = typer.Typer(
        name="agentquest",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        help=_HELP,
        epilog=_EPILOG,
    )
    app.callback()(_root)
    for name, (module, help_line) in COMMANDS.items():
        if name == wanted:
            app.command(name)(importlib.import_module(module).command)
        else:
            app.command(name, help=help_line)(_not_loaded)
    return app


def main(args: list[str] | None = None) -> None:
    """Run the command line; a mistake of the user's is one line, not a traceback."""
    given = sys.argv[1:] if args is None else args
    wanted = next((word for word in given if not word.startswith("-")), None)
    try:
        build(wanted)(given, prog_name="agentquest")
    except AgentQuestError as error:
        typer.secho(f"agentquest: {error}", fg="red", err=True)
        sys.exit(2)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"agentquest {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
) -> None:
    return None


def _not_loaded() -> None:
    """Stands in for a command that was not asked for."""
