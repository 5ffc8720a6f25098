"""Every server decides alike who needs a token, and asks for it in the same way."""

import os
import re
import subprocess
from pathlib import Path

import httpx
import pytest

from warm_python import Process, agentquest

# The command, and an address that its token protects.
SERVERS = {
    "green": (["green", "--port", "0"], "/"),
    "white": (["white", "--type", "scripted", "--port", "0"], "/"),
    "webshop": (["serve", "webshop", "--data", "builtin", "--port", "0"], "/reset"),
    "mcp": (["mcp", "mastermind", "num_games=1", "--http", "0"], "/mcp"),
    "view": (["view", ".", "--port", "0"], "/"),
    "openenv": (["serve", "openenv", "mastermind", "--port", "0"], "/schema"),
    "agentgym": (["serve", "agentgym", "alfworld", "data_path=builtin", "--port", "0"], "/create"),
    "agentbench": (["serve", "agentbench", "mastermind", "--port", "0"], "/api/get_indices"),
}
_PORT = re.compile(r"(?:http://(?:\[[\d:]+\]|[\w.]+):|\(port )(\d+)")
every_server = pytest.mark.parametrize("name", SERVERS)


@every_server
def test_other_machines_are_served_with_a_token_only(name: str, tmp_path: Path) -> None:
    command, _ = SERVERS[name]
    refused = agentquest(*command, "--host", "0.0.0.0", cwd=tmp_path)
    assert refused.returncode == 2
    assert "set AGENTQUEST_TOKEN, or use --insecure-no-token" in refused.stderr
    assert not list(tmp_path.glob("runs/*")), "what is not served has no run"


@every_server
def test_a_token_that_nobody_could_send_is_refused(name: str, tmp_path: Path) -> None:
    command, _ = SERVERS[name]
    env = {**os.environ, "AGENTQUEST_TOKEN": "schlüssel"}
    refused = agentquest(*command, cwd=tmp_path, env=env)
    assert refused.returncode == 2
    assert "AGENTQUEST_TOKEN must consist of visible ASCII characters" in refused.stderr


@every_server
@pytest.mark.parametrize("host", ["127.1", "localhost", "::1", "[::1]"])
def test_a_loopback_address_needs_none_however_it_is_written(
    name: str, host: str, tmp_path: Path
) -> None:
    command, path = SERVERS[name]
    asked = "[::1]" if "::1" in host else "127.0.0.1"
    assert _ask([*command, "--host", host], path, tmp_path, {}, asked) not in (401, 403)


@every_server
def test_a_token_is_asked_for_and_compared(name: str, tmp_path: Path) -> None:
    command, path = SERVERS[name]
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic t0ken"}):
        assert _ask(command, path, tmp_path, given, AGENTQUEST_TOKEN="t0ken") == 401
    right = {"Authorization": "Bearer t0ken"}
    assert _ask(command, path, tmp_path, right, AGENTQUEST_TOKEN="t0ken") not in (401, 403)


@pytest.mark.parametrize("role", ["green", "white"])
def test_a_controllers_server_reads_the_token_too(role: str, tmp_path: Path) -> None:
    more = {"ROLE": role, "AGENT_PORT": "0", "OPENAI_API_KEY": "none"}
    assert _ask(["serve-a2a"], "/", tmp_path, {}, AGENTQUEST_TOKEN="t0ken", **more) == 401


@pytest.mark.parametrize("pages", ["--site", "--original-pages"])
def test_pages_without_tokens_stay_here(pages: str, tmp_path: Path) -> None:
    command, _ = SERVERS["webshop"]
    words = [*command, pages, "--site-port", "0", "--host", "0.0.0.0"]
    env = {**os.environ, "AGENTQUEST_TOKEN": "t0ken"}
    refused = agentquest(*words, cwd=tmp_path, env=env)
    assert refused.returncode == 2
    assert "its pages ask for no token" in refused.stderr
    assert not list(tmp_path.iterdir()), "what is not served has no run"


def _ask(
    command: list[str],
    path: str,
    folder: Path,
    headers: dict[str, str],
    host: str = "127.0.0.1",
    **variables: str,
) -> int:
    """The status of a request to a server that is started for it."""
    process = Process(
        ["-m", "agentquest", *command],
        cwd=folder,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    said = ""
    try:
        for line in process.stdout:
            said += line
            if found := _PORT.search(line):
                url = f"http://{host}:{found[1]}{path}"
                method = "GET" if path in ("/schema", "/api/get_indices") else "POST"
                asked = httpx.request(
                    method, url, headers=headers, json={}, trust_env=False, timeout=60
                )
                return asked.status_code
        raise AssertionError(said)
    finally:
        process.terminate()
        process.communicate(timeout=60)
