"""Lists of tasks in files: one id per line, or a JSON list.

The ids are copied into the configuration, so that a run does not depend on the file; the line
of each is kept for messages.
"""

import json
from pathlib import Path
from typing import Any

from agentquest.errors import ConfigError


def read_task_list(file: Path) -> dict[str, str]:
    """The ids in the file's order, each with its place in the file."""
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"tasks.file: cannot read {file}: {reason}") from None
    lines = _json_lines(text, file) if text.lstrip().startswith("[") else _plain_lines(text)
    found: dict[str, str] = {}
    for number, name in lines:
        where = f"{file}, line {number}"
        if name in found:
            raise ConfigError(f"tasks.file: {where}: {name!r} is listed twice")
        found[name] = where
    if not found:
        raise ConfigError(f"tasks.file: {file} lists no tasks")
    return found


def _plain_lines(text: str) -> list[tuple[int, str]]:
    """Empty lines and lines that start with `#` are skipped."""
    numbered = ((number, line.strip()) for number, line in enumerate(text.splitlines(), start=1))
    return [(number, line) for number, line in numbered if line and not line.startswith("#")]


def _json_lines(text: str, file: Path) -> list[tuple[int, str]]:
    try:
        names: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise ConfigError(
            f"tasks.file: {file} is not JSON, line {error.lineno}: {error.msg}"
        ) from None
    lines, at = [], 0
    for place, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise ConfigError(f"tasks.file: {file}: entry {place} is not a task id")
        at = max(at, text.find(json.dumps(name, ensure_ascii=False), at))
        lines.append((text.count("\n", 0, at) + 1, name))
    return lines
