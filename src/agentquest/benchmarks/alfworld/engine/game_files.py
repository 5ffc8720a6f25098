"""Reading a game from disk, never writing there.

A game is a `game.tw-pddl` (JSON with rules, grammar and problem), or a problem directory
that only has `initial_state.pddl` and `traj_data.json`. Only regular files are read: a pipe
or a device may never end.

ALFRED's annotators described each task in their own words; some studies show these to the
agent instead of the template (in ALFWorld: `goal_desc_human_anns_prob`). One of them is
chosen by the task's id and a seed, the same on every machine, and used as it was written.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
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
TEMPLATE, HUMAN = GOAL_SOURCES = ("template", "human")  # who worded the goal


@dataclass(frozen=True)
class GameText:
    """A game as text: the problem, the goal sentence and the dialect it speaks.

    `dialect` is None if the game's grammar is not one of ALFWorld's; `grammar` is then
    its fingerprint. `source` is the file it came from, for error messages.
    """

    problem: str
    goal: str
    dialect: Dialect | None = dialects.DEFAULT
    cleaners: frozenset[str] = dialects.DEFAULT_CLEANERS
    source: str = field(default="", compare=False)
    grammar: str = ""

    @property
    def sha256(self) -> str:
        """The hash of everything that decides how the game plays."""
        parts = (self.problem, self.goal, *sorted(self.cleaners))
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()

    def own_dialect(self) -> Dialect:
        """The dialect that the game is written in; raises DataError if its grammar is unknown."""
        if self.dialect is None:
            raise DataError(
                f"unknown grammar (fingerprint {self.grammar}): only the texts of ALFWorld"
                " 0.3.x and 0.4.x are implemented; naming one of them as the dialect plays"
                " the game in those words"
            )
        return self.dialect


def read_game(path: Path, goals: str = TEMPLATE, goal_seed: int = 0) -> GameText:
    """Read a game file or problem directory; every error names the file."""
    file = path / GAME_FILE if path.is_dir() else path
    bare = path.is_dir() and not file.exists()
    source = str(path if bare else file)
    try:
        text = _read_directory(path) if bare else _read_game_file(file)
        if goals == HUMAN:
            folder = file.parent
            trajectory = read_json(folder / TRAJECTORY_FILE)
            text = replace(text, goal=human_goal(trajectory, _task_id(folder), goal_seed))
    except DataError as error:
        raise DataError(f"{source}: {error}") from None
    return replace(text, source=source)


def _read_game_file(file: Path) -> GameText:
    game = read_json(file)
    for key in ("pddl_domain", "grammar", "pddl_problem"):
        if not isinstance(game.get(key), str):
            raise DataError(f"{key!r} is missing or is not text")
        _require_unicode(game[key], repr(key))
    dialect, goal, fingerprint = dialects.read_grammar(game["grammar"])
    cleaners = dialects.cleaners_of(game["pddl_domain"])
    if not goal:
        if not (file.parent / TRAJECTORY_FILE).exists():
            raise DataError('grammar has no goal sentence ("Your task is to: ….")')
        trajectory = read_json(file.parent / TRAJECTORY_FILE)
        goal = goal_from_trajectory(trajectory, _task_id(file.parent))
    grammar = fingerprint if dialect is None else ""
    return GameText(game["pddl_problem"], goal, dialect, cleaners, grammar=grammar)


def _read_directory(folder: Path) -> GameText:
    problem = read_text(folder / PROBLEM_FILE)
    trajectory = read_json(folder / TRAJECTORY_FILE)
    return GameText(problem, goal_from_trajectory(trajectory, _task_id(folder)))


def _task_id(folder: Path) -> str:
    """`<task>/<trial>`, also for a relative path."""
    folder = Path(os.path.abspath(folder))  # noqa: PTH100 - links keep their own names
    return f"{folder.parent.name}/{folder.name}"


def read_json(file: Path) -> dict[str, Any]:
    """The object that a file holds; raises DataError for anything else."""
    try:
        content = json.loads(read_text(file))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.name} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise DataError(f"{file.name} holds a {type(content).__name__} instead of an object")
    return content


def _require_unicode(text: str, what: str) -> None:
    """JSON can have a lone surrogate, which could not be written out again."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise DataError(f"{what} is not Unicode: {error.reason}") from None


def read_text(file: Path) -> str:
    """The text of a regular file of bounded size; raises DataError with the reason."""
    try:
        status = file.stat()
        if not stat.S_ISREG(status.st_mode):
            raise DataError(f"{file.name} is not a regular file")
        if status.st_size > MAX_BYTES:
            raise DataError(f"{file.name} is larger than {MAX_BYTES:,} bytes")
        with file.open("rb") as stream:
            content = stream.read(MAX_BYTES)
        # Some editors begin a file with a byte-order mark, which is not part of the text.
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{file.name} is not UTF-8: {error.reason}") from None
    except OSError as error:
        raise DataError(f"cannot read {file.name}: {error.strerror or error}") from None


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


def human_goal(trajectory: dict[str, Any], task_id: str, seed: int) -> str:
    """One of the descriptions that people wrote of a task."""
    annotations = trajectory.get("turk_annotations")
    written = annotations.get("anns") if isinstance(annotations, dict) else None
    if not isinstance(written, list) or not written:
        raise DataError(f"{TRAJECTORY_FILE} has no descriptions written by people")
    digest = hashlib.sha256(f"{seed} {task_id}".encode()).digest()
    chosen = written[int.from_bytes(digest[:8], "big") % len(written)]
    text = chosen.get("task_desc") if isinstance(chosen, dict) else None
    if not isinstance(text, str):
        raise DataError(f"{TRAJECTORY_FILE} has a description without a 'task_desc'")
    return dialects.plain_goal(text.strip())
