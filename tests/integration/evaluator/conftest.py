"""What the evaluator's tests share."""

import shutil
from pathlib import Path

import pytest
from evaluator_runs import HERE


@pytest.fixture
def odd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module with agents, in a folder that is on the path as a user's would be."""
    folder = tmp_path / "modules"
    folder.mkdir()
    shutil.copy(HERE / "odd_agents.py", folder / "somebodys_agents.py")
    monkeypatch.syspath_prepend(str(folder))
    return "somebodys_agents"
