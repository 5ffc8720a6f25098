"""Writing a benchmark out as an OpenEnv package: a folder to validate, build and push."""

import json
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING

from agentquest.errors import UserError
from agentquest.lib import Arena, Session
from agentquest.version import __version__

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable  # new in Python 3.11

_MOST_ACTIONS = 100


def write_package(arena: Arena, folder: Path, max_steps: int) -> None:
    """Make the folder; one that has something in it is left alone."""
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder} is not empty; choose another folder")
    benchmark = arena.benchmark
    settings = benchmark.settings.model_dump(mode="json", exclude_defaults=True)
    counts = {split: len(arena.tasks(split)) for split in benchmark.splits}
    words = {
        "name": f"{benchmark.name}_env",
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "version": __version__,
        "settings": repr(settings),
        "max_steps": str(max_steps),
        "task_counts": json.dumps(counts),
    }
    try:
        _copy(resources.files("agentquest.adapters") / "openenv_template", folder, words)
        probe = json.dumps(_probe(arena, max_steps), indent=2) + "\n"
        (folder / "validation" / "runtime.json").write_text(probe, encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error


def _copy(source: "Traversable", target: Path, words: dict[str, str]) -> None:
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.is_dir():
            _copy(entry, target / entry.name, words)
            continue
        text = Template(entry.read_text(encoding="utf-8")).substitute(words)
        (target / entry.name.removesuffix(".tmpl")).write_text(text, encoding="utf-8")


def _probe(arena: Arena, max_steps: int) -> dict[str, object]:
    """A few steps that a validator replays: the oracle's, on the first task."""
    session = Session(arena, max_steps)
    session.reset(0)
    plan = session.plan()[:_MOST_ACTIONS] or ["look"]
    return {
        "plan_schema_version": "1",
        "reset": {"episode_id": "probe", "seed": 0, "options": {"split": arena.split, "index": 0}},
        "actions": [{"command": command} for command in plan],
    }
