"""An environment of its own for packages of others, made once and kept.

Only where it is asked for: AGENTQUEST_OTHERS=some (`make test-long`) plays with those that
are installed soon, AGENTQUEST_OTHERS=all (`make conformance`) with every one.

uv makes one in seconds; where it is not there, or knows no index, pip does. Tests
run in several processes: one makes the environment, the others wait for it.
"""

import fcntl
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import pytest


def skip_unless_asked_for(takes_long: bool) -> None:
    """Skips the test, and says which command runs it."""
    asked = os.environ.get("AGENTQUEST_OTHERS", "")
    if takes_long and asked != "all":
        pytest.skip("needs packages that take long to install: make conformance")
    if not asked:
        pytest.skip("needs packages of others: make test-long")


def own_python(folder: Path, requirements: Sequence[str], takes_long: bool = False) -> str:
    """The interpreter of an environment with these; skips the test where it cannot be had.

    A requirement that is a folder is installed so that changes in it show at once.
    """
    skip_unless_asked_for(takes_long)
    python, ready = folder / "bin" / "python", folder / ".ready"
    wanted = "\n".join(requirements)
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (ready.is_file() and ready.read_text() == wanted):
            _make(folder, python, requirements)
            ready.write_text(wanted)
    return str(python)


def _make(folder: Path, python: Path, requirements: Sequence[str]) -> None:
    listed = [part for one in requirements for part in (["-e", one] if "/" in one else [one])]
    if find_spec("uv") is not None:
        uv = [sys.executable, "-m", "uv"]
        made = _run([*uv, "venv", "--quiet", "--clear", "--seed", "-p", sys.executable, folder])
        if not made and not _run([*uv, "pip", "install", "--quiet", "-p", python, *listed]):
            return
    for command in (
        [sys.executable, "-m", "venv", "--clear", folder],
        [python, "-m", "pip", "install", "--quiet", "--retries", "1", *listed],
    ):
        if wrong := _run(command):
            pytest.skip(f"no environment with {' '.join(requirements)}: {wrong}")


def _run(command: Sequence[str | Path]) -> str:
    """What went wrong; empty when nothing did."""
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=1800, check=False
    )
    return (done.stderr.strip()[-300:] or "it failed") if done.returncode else ""
