"""Reading a game from disk, never writing there.

A game is a `game.tw-pddl` (JSON with rules, grammar and problem), or a problem
directory that only has `initial_state.pddl` and `traj_data.json`.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from agentquest.benchmarks.alfworld.engine import dialects
from agentquest.benchmarks.alfworld.engine.dialects import Dialect
from agentquest.benchmarks.alfworld.task_types import goal_sentence, task_type
from agentquest.errors import DataError, UnknownName

GAME_FILE = "game.tw-pddl"
PROBLEM_FILE = "initial_state.pddl"
TRAJECTORY_FILE = "traj_data.json"
MAX_BYTES = 16_000_000


@dataclass(frozen=True)
class GameText:
    """A game as text: the problem, the goal sentence and the dialect it speaks.

    `source` is the file it came from, for error messages.
    """

    problem: str
    goal: str
    dialect: Dialect = dialects.DEFAULT
    cleaners: frozenset[str] = dialects.DEFAULT_CLEANERS
    source: str = field(default="", compare=False)

    @property
    def sha256(self) -> str:
        """The hash of all that decides how the game plays, whichever files it came from."""
        parts = (self.problem, self.goal, *sorted(self.cleaners))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def read_game(path: Path) -> GameText:
    """Read a game file or problem directory; every error names the file."""
    file = path / GAME_FILE if path.is_dir() else path
    bare = path.is_dir() and not file.exists()
    source = str(path if bare else file)
    try:
        text = _read_directory(path) if bare else _read_game_file(file)
    except DataError as error:
        raise DataError(f"{source}: {error}") from None
    return replace(text, source=source)


def _read_game_file(file: Path) -> GameText:
    game = read_json(file)
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if not isinstance(game.get(key), str):
            raise DataError(f"{key!r} is missing or is not text")
        _require_unicode(game[key], repr(key))
    dialect, goal = dialects.read_grammar(game["grammar"])
    cleaners = dialects.cleaners_of(game["pddl_domain"])
    return GameText(game["pddl_problem"], goal, dialect, cleaners)


def _read_directory(folder: Path) -> GameText:
    problem = read_text(folder / PROBLEM_FILE)
    trajectory = read_json(folder / TRAJECTORY_FILE)
    return GameText(
        problem, goal_from_trajectory(trajectory, f"{folder.parent.name}/{folder.name}")
    )


def goal_from_trajectory(trajectory: dict[str, Any], task_id: str) -> str:
    """The sentence for a task without a game file, chosen by the task's own id."""
    params = trajectory.get("pddl_params")
    if not isinstance(params, dict) or not isinstance(trajectory.get("task_type"), str):
        raise DataError(f"{TRAJECTORY_FILE} has no 'task_type' and 'pddl_params'")
    target, receptacle, toggle = (
        params.get(key, "") for key in ("object_target", "parent_target", "toggle_target")
    )
    if not all(isinstance(name, str) for name in (target, receptacle, toggle)):
        raise DataError(f"{TRAJECTORY_FILE}: 'pddl_params' holds something that is not text")
    if not target or not (receptacle or toggle):
        raise DataError(f"{TRAJECTORY_FILE}: 'pddl_params' does not say what the task is about")
    try:
        task = task_type(trajectory["task_type"])
    except UnknownName as error:
        raise DataError(f"{TRAJECTORY_FILE}: {error}") from None
    sliced = bool(params.get("object_sliced"))
    return dialects.plain_goal(goal_sentence(task, task_id, target, receptacle, toggle, sliced))


def read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.name} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise DataError(f"{file.name} holds a {type(content).__name__} instead of an object")
    return content


def _require_unicode(text: str, what: str) -> None:
    """JSON can spell half a character, which is no text and could not be written out again."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{what} is not Unicode: {error.reason}") from None


def read_text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise DataError(f"{file.name} is larger than {MAX_BYTES:,} bytes")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name} is not UTF-8: {error.reason}") from None
    except OSError as error:
        raise DataError(f"cannot read {file.name}: {error.strerror or error}") from None
