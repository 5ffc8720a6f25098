"""Commands of ALFWorld for the command line: `agentquest download alfworld`, `agentquest homes`."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import track

from agentquest.benchmarks.alfworld.download import (
    OFFICIAL_URL,
    default_data_folder,
    download_alfworld,
)
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.benchmarks.alfworld.engine.game_files import GameText
from agentquest.benchmarks.alfworld.homes import game, game_ids
from agentquest.benchmarks.alfworld.homes.compare import distributions, side_by_side
from agentquest.benchmarks.alfworld.homes.export import read_logic, reference_logic, write_game
from agentquest.benchmarks.alfworld.tasks import BUILTIN, data_root, find_tasks, open_problem
from agentquest.downloads import download_bars
from agentquest.errors import UserError
from agentquest.safe_text import say
from agentquest.words import counted


def download(
    data_path: Annotated[
        Path | None,
        typer.Option(help="Target folder; default $ALFWORLD_DATA or ~/.cache/alfworld."),
    ] = None,
    base_url: Annotated[
        str, typer.Option(help="Download from this mirror of the official site.")
    ] = OFFICIAL_URL,
    force: Annotated[bool, typer.Option("--force", help="Replace existing files.")] = False,
) -> None:
    """Download the official ALFWorld archives (about 145 MB).

    An interrupted download resumes, also when the command is run again.

    Example: agentquest download alfworld --data-path ~/alfworld
    """
    with download_bars() as add_bar:
        done = download_alfworld(data_path, base_url=base_url, force=force, on_archive=add_bar)
    for archive in done:
        state = (
            "already there" if archive.present else f"{counted(archive.written, 'file')} written"
        )
        say(f"{archive.name}: {state}")
    say(f"ALFWorld data is in {data_path or default_data_folder()}")


def homes(
    action: Annotated[str, typer.Argument(help="`compare` or `export`.")],
    folder: Annotated[
        Path | None,
        typer.Argument(help="compare: folder of the official data; export: output folder."),
    ] = None,
    split: Annotated[str, typer.Option(help="Which split.")] = "valid_unseen",
    count: Annotated[
        int, typer.Option(help="export: only the first COUNT games; 0 writes all.")
    ] = 0,
    logic: Annotated[
        Path | None,
        typer.Option(
            help="export: folder with alfred.pddl and alfred.twl2, if alfworld is not installed."
        ),
    ] = None,
) -> None:
    """Compare the built-in homes with real games, or export them for the reference engine.

    \b
    Examples:
      agentquest homes compare ~/.cache/alfworld
      agentquest homes export my_games --count 20
      agentquest homes export my_games --logic FOLDER  (alfworld not installed)
    """
    if action == "compare":
        _compare(folder, split)
    elif action == "export":
        _export(folder, split, count, logic)
    else:
        raise UserError(f"{action!r} is not an action; there are: compare, export")


def _compare(folder: Path | None, split: str) -> None:
    root = data_root(folder)
    if root is None:
        raise UserError("no real games found to compare with; give their folder")
    ours = [open_problem(task.problem).problem for task in find_tasks(split, data_path=BUILTIN)]
    real = [open_problem(task.problem).problem for task in find_tasks(split, data_path=root)]
    say(f"{split}: {counted(len(ours), 'built-in home')}, {counted(len(real), 'real game')}")
    measured = (distributions(each, lambda text: len(_walkthrough(text))) for each in (ours, real))
    say(side_by_side(*measured))


def _export(folder: Path | None, split: str, count: int, logic: Path | None) -> None:
    if folder is None:
        raise UserError("export needs a folder to write to")
    domain, grammar = reference_logic() if logic is None else read_logic(logic)
    ids = game_ids(split)[: count or None]
    for game_id in track(ids, "writing", console=Console(stderr=True)):
        home = game(game_id)
        write_game(home, folder, domain, grammar, _walkthrough(home.problem))
    say(f"wrote {counted(len(ids), 'game')} to {folder}")


def _walkthrough(problem: str) -> tuple[str, ...]:
    return AlfWorldEngine.from_text(GameText(problem, goal="solve it")).plan().commands
