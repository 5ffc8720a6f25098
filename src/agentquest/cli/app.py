"""The table of commands, and how an error reaches the user.

Exit codes are the same for every command: 0 done, 1 incomplete (some episodes have
no score, or a check failed), 2 bad arguments, configuration or data, 128 + n
stopped by signal n (130 after Ctrl-C).
"""

import importlib
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

import typer

from agentquest.cli.env_file import OPTION as ENV_FILE
from agentquest.cli.env_file import take_env_files
from agentquest.cli.terminal import announce_start, end_in_time, prepare_streams
from agentquest.errors import AgentQuestError
from agentquest.safe_text import say
from agentquest.version import __version__

if TYPE_CHECKING:
    from agentquest.lib import Benchmark
    from agentquest.lib.people import Recorder

_LONGEST_MESSAGE = 10_000  # a data file can put any text of its own into one
# name -> (module here, with the function if it is not `command`; one line of help)
COMMANDS = {
    "demo": ("demo", "Play the baseline agents on built-in data."),
    "init": ("eval:write_example", "Write a commented example configuration."),
    "eval": ("eval", "Evaluate an agent, or resume an evaluation."),
    "sweep": ("sweep", "Evaluate models × agents × protocols × seeds."),
    "runs": ("runs", "List the runs in a folder with their results."),
    "rerun": ("rerun", "Run an earlier run's configuration again."),
    "report": ("report", "Report on a run as text, Markdown, CSV or HTML."),
    "compare": ("compare", "Compare runs task by task."),
    "power": ("power", "Say how many games an answer needs."),
    "view": ("view", "Browse runs and episodes in the browser."),
    "export": ("report:export", "Export a run to another tool's format."),
    "launch": ("launch", "Assess an A2A agent with one command."),
    "green": ("a2a:serve_green", "Serve the agent that assesses others over A2A."),
    "white": ("a2a:serve_white", "Serve an agent to be assessed over A2A."),
    "info": ("benchmarks:show_info", "Show the task types and how to assess an agent."),
    "serve-a2a": ("a2a:serve_by_role", "Serve the A2A agent set by ROLE, HOST and AGENT_PORT."),
    "play": ("play", "Play a game yourself in the terminal."),
    "tasks": ("benchmarks:list_tasks", "List and filter a benchmark's tasks."),
    "mcp": ("mcp", "Let an MCP client play; record and score its games."),
    "benchmarks": ("benchmarks", "List the benchmarks and their commands."),
    "check-benchmark": ("check_benchmark", "Check that a benchmark works, by playing it."),
}
# Names that others still use; they work, and are not listed.
_OLD_NAMES = {"run": "serve-a2a"}
# Commands that benchmarks provide: `agentquest COMMAND BENCHMARK`. They may provide others too.
BENCHMARK_COMMANDS = {
    "download": "Download a benchmark's official data.",
    "serve": "Serve a benchmark over HTTP.",
}
# Servers for the clients of other frameworks: `agentquest serve openenv BENCHMARK`.
SERVERS = ("agentbench", "agentgym", "openenv")
_FOR_OTHERS = (
    "To serve a benchmark to another framework's clients:"
    f" `agentquest serve {'|'.join(SERVERS)} BENCHMARK`."
)
# Commands that also accept every setting as an option: `--num-games 12` is `num_games=12`.
_TAKE_SETTINGS = frozenset({"eval", "rerun", "sweep", "play", "tasks", "mcp", "check-benchmark"})
_SETTINGS = {"ignore_unknown_options": True}
# Commands that only read runs, which may be anybody's: nothing beside a run is imported.
_READ_ONLY = frozenset({"runs", "report", "compare", "power", "view", "export"})
# Typer bundles Click or imports it, depending on the version; this works for both.
_UsageError: Any = typer.BadParameter.__base__
_INVALID = re.compile(r"Invalid value for '([^']+)'(?: / '[^']+')*: (.+)")
# Click's messages, and ours in place of them.
_PHRASES = (
    (r"Missing (?:argument|option|parameter:?) '?([^']+?)'?", r"\1 is missing"),
    (r"Option '([^']+)' requires an argument", r"\1 needs a value"),
    (r"No such option:? '?([^' ]+)'?(.*)", r"there is no option \1\2"),
    (r"Got unexpected extra argument(?:s|\(s\))? \((.+)\)", r"unexpected argument: \1"),
    (r"No such command '(.+)'", r"unknown command: \1"),
)
_HELP = "How good is an LLM agent at acting over many turns?"
_EPILOG = (
    "Start with `agentquest demo`. `agentquest COMMAND --help` explains a command,"
    " `agentquest benchmarks` lists what can be played. Exit codes: 0 done, 1 incomplete (some"
    " episodes have no score, or a check failed), 2 bad arguments, configuration or data,"
    " 130 stopped by Ctrl-C."
)


def build(words: Sequence[str]) -> typer.Typer:
    """The command line; only the module of the command that is called is imported."""
    app = _make_group("agentquest", _HELP, _EPILOG)
    app.callback()(_root)
    wanted = words[0] if words else None
    for name, (module, help_line) in COMMANDS.items():
        if name == wanted:
            context = _SETTINGS if name in _TAKE_SETTINGS else None
            app.command(name, context_settings=context)(load_command(module))
        else:
            app.command(name, help=help_line)(_not_loaded)
    if wanted in _OLD_NAMES:
        module, _ = COMMANDS[_OLD_NAMES[wanted]]
        app.command(wanted, hidden=True)(load_command(module))
    elif wanted is not None and wanted not in COMMANDS:
        _add_benchmark_command(app, wanted, words[1] if len(words) > 1 else None)
    for name, help_line in BENCHMARK_COMMANDS.items():
        if name != wanted:
            app.command(name, help=help_line)(_not_loaded)
    return app


def load_command(place: str) -> Callable[..., Any]:
    """The function of a command in the table."""
    module, _, name = place.partition(":")
    found = importlib.import_module(f"agentquest.cli.{module}")
    command: Callable[..., Any] = getattr(found, name or "command")
    return command


def _add_benchmark_command(app: typer.Typer, wanted: str, benchmark: str | None) -> None:
    from agentquest.cli.benchmarks import choose_command, no_such_command

    is_server = wanted == "serve" and benchmark in SERVERS
    if is_server:
        chosen = {str(benchmark): load_command(f"serve:{benchmark}")}
    else:
        chosen = choose_command(wanted, benchmark)
    if not chosen:
        raise no_such_command(wanted, [*COMMANDS, *BENCHMARK_COMMANDS])
    others = _FOR_OTHERS if wanted == "serve" else ""
    if len(chosen) == 1 and benchmark not in chosen:
        (command,) = chosen.values()
        app.command(wanted, epilog=others)(command)
        return
    group = _make_group(wanted, BENCHMARK_COMMANDS.get(wanted, ""), others)
    group.callback()(lambda: None)  # so that a single command in it keeps its name
    for name, command in chosen.items():
        group.command(name, context_settings=_SETTINGS if is_server else None)(command)
    app.add_typer(group, name=wanted)


def _make_group(name: str, help_text: str, epilog: str) -> typer.Typer:
    return typer.Typer(
        name=name,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
        help=help_text,
        epilog=epilog,
    )


def main(args: list[str] | None = None) -> None:
    """Run the command line; without `args` as the program that this process is."""
    try:
        _run(sys.argv[1:] if args is None else args)
    except SystemExit as done:
        if args is None:
            end_in_time(done.code if isinstance(done.code, int) else 0)
        raise


def _run(given: list[str]) -> NoReturn:
    """A command; a user's mistake gets one line, not a traceback."""
    prepare_streams()
    try:
        given = take_env_files(given)
        words = [word for word in given if not word.startswith("-")]
        if words and words[0] not in _READ_ONLY:
            sys.path.append(str(Path.cwd()))  # users keep agents and benchmarks of their own there
        announce_start(given)
        app = build(words)
        code = app(given, prog_name="agentquest", standalone_mode=False, obj=_open_recorder)
    except AgentQuestError as error:
        _refuse(str(error))
    except _UsageError as error:
        if error.format_message().startswith("Usage:"):  # called without arguments
            error.show()
            sys.exit(2)
        _refuse(_summarize_usage_error(error))
    except typer.Abort:
        _refuse("input ended before the question was answered")
    except OSError as error:
        if error.filename is None:
            _discard(sys.stdout)
        _refuse(f"cannot {_name_failure(error)}: {error.strerror or error}")
    sys.exit(code if isinstance(code, int) else 0)


def _open_recorder(
    benchmark: "Benchmark", settings: Mapping[str, Any], run: Path, max_steps: int
) -> AbstractContextManager["Recorder"]:
    """For benchmarks' own commands that let people play (lib.people.OpenRecorder)."""
    from agentquest.people.recorder import GameRecorder

    run = run.absolute()
    return GameRecorder(benchmark, settings, run.parent, run.name, max_steps)


def _name_failure(error: OSError) -> str:
    """What could not be done. An error without a file name comes from the output itself."""
    if error.filename is not None:
        return f"use {error.filename}"
    is_missing = isinstance(error, FileNotFoundError)
    return "use the folder you are in, which was removed" if is_missing else "write the output"


def _refuse(message: str) -> NoReturn:
    try:
        say(f"agentquest: {message[:_LONGEST_MESSAGE]}", fg="red", err=True)
    except OSError:  # the message cannot be shown anywhere; the exit code still tells
        _discard(sys.stderr)
    sys.exit(2)


def _summarize_usage_error(error: Any) -> str:
    """What is wrong with the arguments, and where to read about them, on one line."""
    from agentquest.lib.settings import in_words

    message = " ".join(error.format_message().split()).rstrip(".")
    wrong = _INVALID.fullmatch(message)
    if wrong:
        message = f"{wrong[1]}: {in_words(wrong[2])}"
    for pattern, words in _PHRASES:
        message = re.sub(f"^{pattern}$", words, message)
    command = error.ctx.command_path if error.ctx else "agentquest"
    return f"{message}; see `{command} -h`"


def _discard(stream: TextIO) -> None:
    """Python flushes what a stream still holds at exit, and would fail a second time."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"agentquest {__version__}")
        raise typer.Exit


def _root(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Print the version."
    ),
    env_file: str = typer.Option(
        None,
        ENV_FILE,
        metavar="FILE",
        help="Read environment variables from FILE; may stand after the command too.",
    ),
) -> None:
    return None


def _not_loaded() -> None:
    """Placeholder for a command that is only listed, not called."""
