"""`index.jsonl`: what was worked out of each line of `episodes.jsonl`, so that it is read once.

The first line says what the entries are made of; a file that says otherwise, or
that is damaged, is begun anew. It can be deleted at any time.
"""

import contextlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

INDEX = "index.jsonl"


class LineIndex:
    """Entries in the order of the lines; each is plain data with `at` and `next`, the places where
    its line begins and ends."""

    def __init__(self, folder: Path, made_of: dict[str, Any]) -> None:
        self._file = folder / INDEX
        self._head = json.dumps(made_of, sort_keys=True)

    def load(self, episodes_size: int) -> list[dict[str, Any]]:
        """The entries on disk; none where they do not belong to these episodes."""
        try:
            lines = self._file.read_bytes().splitlines()
        except OSError:
            return []
        if not lines or lines[0].decode("utf-8", "replace") != self._head:
            return []
        entries: list[dict[str, Any]] = []
        end = 0
        for line in lines[1:]:
            try:
                entry = json.loads(line)
            except ValueError:
                break
            if not isinstance(entry, dict) or entry.get("at") != end:
                break
            end = entry["next"]
            entries.append(entry)
        return entries if end <= episodes_size else []

    def save(self, entries: Sequence[dict[str, Any]], known: int) -> None:
        """Add the entries behind the first `known`; begun anew where none is known.

        Nothing is lost where it cannot be written: it saves time and nothing else.
        """
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries[known:]]
        with contextlib.suppress(OSError):
            if known:
                self._append(lines)
            else:
                draft = self._file.with_name(f".{INDEX}.{os.getpid()}")
                draft.write_text("\n".join([self._head, *lines]) + "\n", encoding="utf-8")
                draft.replace(self._file)

    def _append(self, lines: Sequence[str]) -> None:
        with self._file.open("a", encoding="utf-8") as handle:
            handle.write("".join(f"{line}\n" for line in lines))
