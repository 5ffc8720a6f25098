"""The command that brings an optional part fits the way AgentQuest was installed."""

import json
import sys
from pathlib import Path

import pytest

from agentquest.errors import UserError
from agentquest.extras import install_command, is_installed, require


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package of our name that came from `origin`."""

    def install(origin: object) -> None:
        information = tmp_path / "agentquest_bench-9.9.dist-info"
        information.mkdir()
        (information / "METADATA").write_text("Name: agentquest-bench\nVersion: 9.9\n")
        if origin is not None:
            text = origin if isinstance(origin, str) else json.dumps(origin)
            (information / "direct_url.json").write_text(text)
        monkeypatch.syspath_prepend(str(tmp_path))

    return install


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (None, "pip install 'agentquest-bench[a2a]'"),
        ("no JSON", "pip install 'agentquest-bench[a2a]'"),
        ([], "pip install 'agentquest-bench[a2a]'"),
        (
            {"url": "file:///home/me/my%20clone", "dir_info": {"editable": True}},
            "pip install -e '/home/me/my clone[a2a]'",
        ),
        ({"url": "file:///src/aq", "dir_info": {}}, "pip install '/src/aq[a2a]'"),
        (
            {"url": "https://host/aq.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'agentquest-bench[a2a] @ git+https://host/aq.git@abc'",
        ),
        (
            {"url": "file:///src/aq", "vcs_info": {"vcs": "git", "commit_id": "abc"}},
            "pip install 'agentquest-bench[a2a] @ git+file://localhost/src/aq@abc'",
        ),
        (
            {"url": "file:///w/aq.whl", "archive_info": {}},
            "pip install 'agentquest-bench[a2a] @ file:///w/aq.whl'",
        ),
    ],
)
def test_the_command_fits_the_installation(installed, origin: object, command: str) -> None:
    installed(origin)
    assert install_command("a2a") == command


def test_what_is_missing_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert not is_installed("uvicorn")
    assert not is_installed("no_such_package.part")
    with pytest.raises(UserError, match=r"the viewer needs uvicorn: pip install .*\[serve\]"):
        require("serve", "json", "uvicorn", why="the viewer")


def test_what_is_there_is_not_complained_about() -> None:
    require("serve", "json", "pathlib", why="anything")
