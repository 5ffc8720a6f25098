"""Every block of Python on the page about environments runs as printed, in a process of its own."""

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "environments.md"
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_it_runs_as_printed(block: str, tmp_path: Path) -> None:
    if "gymnasium" in block and find_spec("gymnasium") is None:
        pytest.skip("gymnasium is not installed")
    done = subprocess.run(
        [sys.executable, "-c", block],
        cwd=tmp_path,
        env={**os.environ, "ALFWORLD_DATA": "builtin"},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_there_are_such_blocks() -> None:
    assert len(BLOCKS) >= 4
