"""Scripts of others are not run where something is missing, and fail only for what is ours."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parents[2] / "conformance" / "public_scripts.py"
HUB = "We couldn't connect to 'https://huggingface.co' to load the files.\\nCheck your connection."
NEEDS_TORCH = "\\nAutoModel requires the PyTorch library.\\nYou may need to restart."


@pytest.mark.parametrize(
    ("script", "verdict"),
    [
        ("import no_such_package", "not run"),
        (f'raise OSError("{HUB}")', "not run"),
        (f'raise ImportError("{NEEDS_TORCH}")', "not run"),
        ("import urllib.request; urllib.request.urlopen('http://hub.invalid/')", "not run"),
        ("class LocalEntryNotFoundError(Exception): pass\n"
         "LocalEntryNotFoundError.__module__ = 'huggingface_hub.errors'\n"
         "raise LocalEntryNotFoundError('Cannot find the file on disk, the hub is offline.')",
         "not run"),
        ("open('not_there.yaml')", "not run"),
        ("from agentquest.adapters import no_such_name", "FAILED"),
        ("raise ConnectionError('nobody listens at http://127.0.0.1:3000')", "FAILED"),
        ("raise ValueError('this is\\nOSError-like')", "FAILED"),
        ("assert 1 == 2", "FAILED"),
        ("print('nothing that plays')", "FAILED"),
    ],
)  # fmt: skip
def test_why_a_script_did_not_play(tmp_path: Path, script: str, verdict: str) -> None:
    checkout = tmp_path / "WebShop" / "run_envs"
    checkout.mkdir(parents=True)
    (checkout / "run_web_agent_text_env.py").write_text(script, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path], capture_output=True, text=True, timeout=120
    )
    (line,) = [line for line in done.stdout.splitlines() if "run_web_agent_text_env" in line]
    assert line.startswith(f"{verdict} "), done.stdout
