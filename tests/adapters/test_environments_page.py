"""The page about environments: a section for every user, and the lines that need others' packages.

Only what a test needs stands behind them: a free port, a model that answers, a short game. Every
other line is run by test_pages.
"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from adapter_scripts import countable, run
from foreign import foreign_python
from server_process import served
from streaming_chat_server import chatting

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(?:python|bash)\n(.*?)```", PAGE, re.DOTALL)
BUILTIN = {"ALFWORLD_DATA": "builtin"}
USERS = ("alfworld", "WebShop", "verl-agent", "Gymnasium", "TRL", "verifiers", "OpenEnv", "Inspect",
         "MCP", "AgentGym", "AgentBench")  # fmt: skip


@pytest.fixture
def printed():
    """What test_pages leaves out, because it needs others' packages."""
    return lambda start: next(block for block in BLOCKS if block.startswith(start))


def test_openenv_runs_as_printed(printed):
    python = foreign_python("openenv")
    block = printed("from openenv")
    with served("serve", "openenv", "alfworld", "--port", "0", **BUILTIN) as url:
        assert "http://127.0.0.1:8000" in block
        run([python, "-c", block.replace("http://127.0.0.1:8000", url)])


def test_verifiers_runs_as_printed(printed, tmp_path):
    program = foreign_python("verifiers").replace("/python", "/vf-eval")
    if shutil.which("uv") is None:
        pytest.skip("verifiers starts its harnesses with uv, which is not on this machine")
    _, *arguments = shlex.split(printed("vf-eval"))
    more = ["-m", "explorer", "-n", 1, "--no-push", "--no-rich", "--env.taskset.max-steps", 5]
    more += ["-o", tmp_path, "--run.name", "run", "--client.api-key-var", "FAKE_KEY"]
    with chatting("explorer_answers:answer") as url:
        run([program, *arguments, *more, "--client.base-url", url], FAKE_KEY="none", **BUILTIN)
    (line,) = (tmp_path / "run" / "traces.jsonl").read_text().splitlines()
    assert json.loads(line)["traces"][0]["ok"]


def test_inspect_runs_as_printed(printed, tmp_path):
    python = foreign_python("inspect")
    _, *arguments = shlex.split(printed("inspect"))
    more = ["-T", "max_steps=2", "--limit", 1, "--log-dir", tmp_path, "--display", "plain"]
    run([python.replace("/python", "/inspect"), *arguments, *more], **BUILTIN, **countable(python))
    assert list(tmp_path.glob("*.eval"))


@pytest.mark.parametrize("user", USERS)
def test_every_user_finds_lines_to_change(user):
    section = re.search(rf"^## I use (?:an )?{user}.*?(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
    assert section, user
    codes = re.findall(r"```(?:python|bash)\n(.*?)```", section.group(), re.DOTALL)
    assert codes
    for code in codes:
        assert 1 <= len([line for line in code.splitlines() if line]) <= 6
