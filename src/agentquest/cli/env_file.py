"""`--env-file FILE`: environment variables from a file, for every command that takes a model.

A file is read only where it is named: a `.env` that lies in the folder may be another project's.
"""

import os
import re
from collections.abc import MutableMapping, Sequence
from pathlib import Path

from agentquest.errors import ConfigError

OPTION = "--env-file"
_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""(?:"([^"]*)"|'([^']*)')\s*(?:#.*)?""")


def take_env_files(
    words: Sequence[str], environment: MutableMapping[str, str] = os.environ
) -> list[str]:
    """Read the files that are named among the words of a command line; returns the other words.

    A variable that is set already keeps its value.
    """
    rest: list[str] = []
    waiting = iter(words)
    for word in waiting:
        name, separator, value = word.partition("=")
        if name != OPTION:
            rest.append(word)
            continue
        file = value if separator else next(waiting, "")
        if not file:
            raise ConfigError(f"{OPTION} needs a file: {OPTION} .env")
        for key, text in _read(Path(file)).items():
            environment.setdefault(key, text)
    return rest


def _read(file: Path) -> dict[str, str]:
    """`NAME=value` lines; `export`, quotes, comments and empty lines as shells write them."""
    try:
        lines = file.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigError(f"{OPTION}: cannot read {file}: {reason}") from None
    found = {}
    for number, line in enumerate(map(str.strip, lines), start=1):
        if not line or line.startswith("#"):
            continue
        pair = _LINE.fullmatch(line)
        if pair is None:  # the line is not shown: it may hold a key
            raise ConfigError(f"{OPTION}: {file}, line {number} is not of the form NAME=value")
        quoted = _QUOTED.fullmatch(pair[2])
        if quoted is not None:
            found[pair[1]] = quoted[1] if quoted[1] is not None else quoted[2]
        else:
            found[pair[1]] = re.split(r"\s+#", pair[2])[0].strip()
    return found
