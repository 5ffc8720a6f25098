"""An environment with a2a-sdk 0.3, as the AgentBeats platform and older agents have it.

Made once in `.a2a-03-venv` beside the project's own environment, from the
package index; tests that need it are skipped where there is no index.
"""

import subprocess
import sys
from pathlib import Path

import pytest

VERSION = "0.3.26"
FOLDER = Path(__file__).resolve().parents[2] / ".a2a-03-venv"
_PYTHON = FOLDER / "bin" / "python"
_READY = FOLDER / f".ready-{VERSION}"


@pytest.fixture(scope="session")
def old_python():
    """The interpreter of that environment."""
    if not _READY.exists():
        _make()
    return str(_PYTHON)


def _make():
    wanted = f"a2a-sdk[http-server]=={VERSION}"
    commands = (
        [sys.executable, "-m", "venv", "--clear", str(FOLDER)],
        [str(_PYTHON), "-m", "pip", "install", "--quiet", "--retries", "1", wanted, "uvicorn"],
    )
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, timeout=280)
        if done.returncode:
            pytest.skip(f"no environment with a2a-sdk {VERSION}: {done.stderr.strip()[-300:]}")
    _READY.touch()
