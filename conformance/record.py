"""Records what the reference prints on built-in homes, for a test that needs no reference.

    .venv/bin/python conformance/record.py

Each kind of walk is played once in every task type and dialect, and what the
reference answers is written to tests/golden/alfworld_reference.jsonl.gz, which
`make test` replays. Record again only when the homes themselves have changed.
"""

import argparse
import gzip
import hashlib
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from games import Case, builtin_cases
from reference_client import ReferenceClient, Shown
from reference_install import ROOT, reference_logic, reference_python
from walks import KINDS, WalkKind

from agentquest.benchmarks.alfworld import homes
from agentquest.benchmarks.alfworld.engine.engine import AlfWorldEngine
from agentquest.errors import AgentQuestError
from agentquest.safe_text import say
from agentquest.words import counted

RECORDINGS = ROOT / "tests" / "golden" / "alfworld_reference.jsonl.gz"
_WALKS = {"odd": 70, "sensible": 25}  # commands of each


def main() -> int:
    parser = argparse.ArgumentParser(description="Record the reference on built-in homes.")
    parser.add_argument(
        "--reference-python", metavar="PATH", help="an interpreter that has alfworld 0.4.2"
    )
    try:
        python = reference_python(parser.parse_args().reference_python)
        assert python is not None
        recordings = list(_record_all(python))
    except AgentQuestError as error:
        say(f"error: {error}")
        return 2
    lines = "".join(json.dumps(recording) + "\n" for recording in recordings)
    RECORDINGS.write_bytes(gzip.compress(lines.encode(), mtime=0))
    steps = sum(len(recording["steps"]) for recording in recordings)
    size = RECORDINGS.stat().st_size
    say(f"{counted(len(recordings), 'game')}, {counted(steps, 'step')}, {size:,} bytes")
    return 0


def _record_all(python: Path) -> Iterator[dict[str, Any]]:
    with ReferenceClient(python) as reference:
        for dialect in ("0.3", "0.4"):
            logic = reference_logic(python, dialect)
            for kind, steps in _WALKS.items():
                dice = random.Random(f"{dialect} {kind}")
                with tempfile.TemporaryDirectory() as folder:
                    for case in builtin_cases(1, dice, Path(folder), logic):
                        say(f"{dialect}, {kind} walk: {case.name}")
                        head = {"game": case.name, "dialect": dialect, "problem": _digest(case)}
                        yield {**head, **_play(case, reference, KINDS[kind], steps, dice)}


def _digest(case: Case) -> str:
    return hashlib.sha256(homes.game(case.name).problem.encode()).hexdigest()


def _play(
    case: Case, reference: ReferenceClient, walk: WalkKind, steps: int, dice: random.Random
) -> dict[str, Any]:
    """The reference's answers; our engine only helps the walk to find its way."""
    engine = AlfWorldEngine.load(case.file)
    engine.reset()
    start = _shown(reference.open(case.file))
    played = []
    commands = walk(engine, dice)
    for _ in range(steps):
        command = next(commands)
        engine.step(command)
        played.append({"action": command, **_shown(reference.step(command))})
    return {"start": start, "steps": played}


def _shown(shown: Shown) -> dict[str, Any]:
    return {"obs": shown.observation, "admissible": shown.admissible, "won": shown.won}


if __name__ == "__main__":
    sys.exit(main())
