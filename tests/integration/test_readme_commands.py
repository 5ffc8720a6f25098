"""The README's two commands, in an environment that has nothing but what they need."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 280
# What installing packages may need on a machine behind a proxy or a mirror; and whose test it is.
INSTALLING = ("PYTEST_FAMILY", "PIP_", "UV_", "SSL_CERT_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


def bare_environment() -> dict[str, str]:
    """`env -i` with a home, a path and what package installs need."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in ("HOME", "PATH") or name.upper().startswith(INSTALLING)
    }


def make(*arguments: object, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", *map(str, arguments)],
        cwd=folder,
        env=bare_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.mark.long
def test_make_demo_in_a_fresh_clone(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("needs a git clone")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True, timeout=60)
    done = make("demo", folder=clone)
    assert done.returncode == 0, done.stderr
    assert "agentquest view" in done.stdout


@pytest.mark.long
def test_make_test_needs_nothing_from_the_environment() -> None:
    if not (ROOT / ".venv/.dev-installed").exists():
        pytest.skip("needs the environment that `make install` makes")
    # A file whose results once depended on PYTHONUNBUFFERED.
    done = make("test", "ARGS=tests/integration/test_cli_streams.py -n 0", folder=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
