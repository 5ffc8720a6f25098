"""The documentation builds into a site without a warning, and fetches nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agentquest import registry
from agentquest.cli.app import COMMANDS

pytest.importorskip("mkdocs", reason="mkdocs, which builds the site, is not installed")

ROOT = Path(__file__).resolve().parents[2]
_FETCHED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?(?:src|href)=\"([^\"]+)\"")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.version_info < (3, 11):
        pytest.skip(
            "the last mkdocstrings for Python 3.10 does not work with the pinned extensions"
        )
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_defaults_are_written_as_in_yaml(site: Path) -> None:
    text = (site / "reference/settings.html").read_text("utf-8")
    defaults = dict(re.findall(r"<td><code>(\w+)</code></td>\s*<td><code>(.*?)</code></td>", text))
    shown = {name: defaults[name] for name in ("preflight", "metrics", "note", "output_dir")}
    assert shown == {"preflight": "true", "metrics": "[]", "note": "''", "output_dir": "runs"}


def test_pages_fetch_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    fetched = {link for page in pages for link in _FETCHED.findall(page.read_text("utf-8"))}
    assert len(pages) > 15
    assert [link for link in fetched if link.startswith(("http:", "https:", "//"))] == []


def test_every_command_and_setting_is_in_the_reference(site: Path) -> None:
    commands = (site / "reference" / "commands.html").read_text("utf-8")
    assert [name for name in COMMANDS if f'id="{name}"' not in commands] == []
    settings = (site / "reference" / "settings.html").read_text("utf-8")
    assert [name for name in registry.names("benchmark") if name not in settings] == []
    for key in ("num_games", "max_steps", "cost_limit", "api_key_env"):
        assert f"<code>{key}</code>" in settings


def test_search_works_without_a_service(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert "check-benchmark" in index
