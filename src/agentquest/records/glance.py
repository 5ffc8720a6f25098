"""What a list of runs shows of one run, kept next to its records: `glance.json`.

Safe to delete at any time. It is taken for true only while the file of episodes
is the one it was made from.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from agentquest.files import write_atomically
from agentquest.records.run_directory import EPISODES
from agentquest.version import __version__

GLANCE = "glance.json"


def stamp(folder: Path) -> list[Any]:
    """What changes whenever an episode is written."""
    try:
        told = (folder / EPISODES).stat()
    except OSError:
        return [__version__, 0, 0]
    return [__version__, told.st_size, told.st_mtime_ns]


def load_glance(folder: Path) -> dict[str, Any] | None:
    """The figures of the episodes as they are now; None if they have not been computed."""
    try:
        content = json.loads((folder / GLANCE).read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(content, dict) or content.get("of") != stamp(folder):
        return None
    figures = content.get("figures")
    return figures if isinstance(figures, dict) else None


def save_glance(folder: Path, of: list[Any], figures: dict[str, Any]) -> None:
    """Keep them; if they cannot be written, nothing is lost."""
    with contextlib.suppress(OSError):
        write_atomically(folder / GLANCE, json.dumps({"of": of, "figures": figures}) + "\n")
