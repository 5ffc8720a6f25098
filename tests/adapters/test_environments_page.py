"""Every line of code on the page about environments runs as printed.

Python in a process of its own; command lines as their users type them, with only
what a test needs behind them: a free port, a model that answers, a short game.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from adapter_scripts import SCRIPTS, alfworld_config, countable, run, written
from foreign import foreign_python
from server_process import served
from streaming_chat_server import chatting

from warm_python import agentquest

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
LINES = [line for block in re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)
         for line in block.splitlines()]  # fmt: skip
BUILTIN = {"ALFWORLD_DATA": "builtin"}
USERS = ("alfworld", "WebShop", "verl-agent", "Gymnasium", "TRL", "verifiers", "OpenEnv", "Inspect",
         "MCP", "AgentGym", "AgentBench")  # fmt: skip


def _python(code, folder, python=sys.executable):
    command = [python, "-c", code]
    environment = {**os.environ, **BUILTIN}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=280,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_python_runs_as_printed(block, tmp_path):
    if "gymnasium" in block and find_spec("gymnasium") is None:
        pytest.skip("gymnasium is not installed")
    if "openenv" not in block:
        _python(block, tmp_path)
        return
    python = foreign_python("openenv")
    with served("serve", "openenv", "alfworld", "--port", "0", **BUILTIN) as url:
        assert "http://127.0.0.1:8000" in block
        _python(block.replace("http://127.0.0.1:8000", url), tmp_path, python)


@pytest.mark.parametrize("line", LINES)
def test_command_lines_run_as_printed(line, tmp_path):
    program, *arguments = shlex.split(line)
    {"python": _script, "vf-eval": _verifiers, "inspect": _inspect, "agentquest": _ours}[program](
        arguments, tmp_path
    )


def _script(arguments, folder):
    module, script, config = arguments[1], *arguments[2:]
    assert (script, config) == ("your_script.py", "config.yaml")
    theirs = [SCRIPTS / "alfworld_walk.py", written(alfworld_config(), folder)]
    out = run([sys.executable, "-m", module, *theirs, "train", 1, "dqn", 1, 2], **BUILTIN)
    assert "Training with 3553 games" in out


def _verifiers(arguments, folder):
    program = foreign_python("verifiers").replace("/python", "/vf-eval")
    if shutil.which("uv") is None:
        pytest.skip("verifiers starts its harnesses with uv, which is not on this machine")
    more = ["-m", "explorer", "-n", 1, "--no-push", "--no-rich", "--env.taskset.max-steps", 5]
    more += ["-o", folder, "--run.name", "run", "--client.api-key-var", "FAKE_KEY"]
    with chatting("explorer_answers:answer") as url:
        run([program, *arguments, *more, "--client.base-url", url], FAKE_KEY="none", **BUILTIN)
    (line,) = (folder / "run" / "traces.jsonl").read_text().splitlines()
    assert json.loads(line)["traces"][0]["ok"]


def _inspect(arguments, folder):
    python = foreign_python("inspect")
    program = python.replace("/python", "/inspect")
    more = ["-T", "max_steps=2", "--limit", 1, "--log-dir", folder, "--display", "plain"]
    run([program, *arguments, *more], **BUILTIN, **countable(python))
    assert list(folder.glob("*.eval"))


def _ours(arguments, folder):
    if arguments[0] == "mcp":
        client = {"name": "tester", "version": "1"}
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about}
        environment = {**os.environ, **BUILTIN}
        done = agentquest(*arguments, input=json.dumps(hello) + "\n", cwd=folder, env=environment)
        assert json.loads(done.stdout.splitlines()[0])["result"]["serverInfo"], done.stderr
        return
    free = [*arguments, "--port", "0"]
    if "--original-pages" in arguments:
        free += ["--site-port", "0"]
    first = {
        "agentbench": "/api/get_indices",
        "openenv": "/health",
        "agentgym": "/",
        "webshop": "/healthz",
    }
    with served(*free, **BUILTIN) as url:
        assert httpx.get(f"{url}{first[arguments[1]]}").status_code == 200


@pytest.mark.parametrize("user", USERS)
def test_every_user_finds_lines_to_change(user):
    section = re.search(rf"^## I use (?:an )?{user}.*?(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
    assert section, user
    codes = re.findall(r"```(?:python|bash)\n(.*?)```", section.group(), re.DOTALL)
    assert codes
    for code in codes:
        assert 1 <= len([line for line in code.splitlines() if line]) <= 6
