"""Writing built-in homes as standard ALFWorld game folders, for the reference engine to play.

A game file also contains the reference's domain and grammar. Those texts are not ours:
they are read from an installed `alfworld` package, or from a folder, when games are written.
"""

import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path

from agentquest.benchmarks.alfworld.engine.game_files import (
    GAME_FILE,
    PROBLEM_FILE,
    TRAJECTORY_FILE,
)
from agentquest.benchmarks.alfworld.homes import HomeGame
from agentquest.benchmarks.alfworld.tasks import DATA_FOLDER
from agentquest.errors import DataError, UserError

_GOAL_MARK = "UNKNOWN GOAL"


def reference_logic() -> tuple[str, str]:
    """The domain and the grammar of the installed `alfworld` package, which is not imported."""
    spec = importlib.util.find_spec("alfworld")
    # A folder of that name somewhere on the path is no package: it has no origin.
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise UserError(
            "writing game folders needs the domain and grammar of the reference engine:"
            " install the package 'alfworld' into this environment, or name a folder that has"
            " alfred.pddl and alfred.twl2 (`agentquest homes export FOLDER --logic THERE`)"
        )
    return read_logic(Path(next(iter(spec.submodule_search_locations))) / "data")


def read_logic(folder: Path) -> tuple[str, str]:
    """The domain and the grammar in a folder."""
    try:
        domain, grammar = (folder / name for name in ("alfred.pddl", "alfred.twl2"))
        return domain.read_text("utf-8"), grammar.read_text("utf-8")
    except OSError as error:
        raise UserError(f"cannot read the logic files: {error}") from None


def write_game(
    made: HomeGame, folder: Path, domain: str, grammar: str, walkthrough: Sequence[str] = ()
) -> Path:
    """Write a game below `folder`/json_2.1.1; returns its own folder."""
    if _GOAL_MARK not in grammar:
        raise DataError(f"the grammar has no {_GOAL_MARK!r} where the goal sentence belongs")
    target = folder / DATA_FOLDER / made.id
    target.mkdir(parents=True, exist_ok=True)
    contents = {
        "pddl_domain": domain,
        "grammar": grammar.replace(_GOAL_MARK, made.goal),
        "pddl_problem": made.problem,
        "solvable": True,
    }
    if walkthrough:
        contents["walkthrough"] = list(walkthrough)
    (target / PROBLEM_FILE).write_text(made.problem, encoding="utf-8")
    (target / TRAJECTORY_FILE).write_text(json.dumps(made.traj_data), encoding="utf-8")
    (target / GAME_FILE).write_text(json.dumps(contents), encoding="utf-8")
    return target
