"""Turns and credentials stay with the server that was given: its scheme, host and port."""

import base64
import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from agent_processes import agentquest
from green_client import Green

from agentquest.a2a.addresses import AllowList
from agentquest.a2a.client.connection import find_agent
from agentquest.a2a.launcher import AssessmentFailed

SECRET = {"Authorization": "Bearer s3cret", "X-Key": "s3cret"}


class Agent(BaseHTTPRequestHandler):
    """Answers every turn with `look`; its card names the addresses that it was told to name."""

    def do_GET(self):
        interfaces = [
            {"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            for url in self.server.named
        ]
        self._answer({"name": "agent", "supportedInterfaces": interfaces})

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        asked = json.loads(self.rfile.read(length))
        message = {"messageId": "1", "role": "ROLE_AGENT", "parts": [{"text": "look"}]}
        self._answer({"jsonrpc": "2.0", "id": asked["id"], "result": {"message": message}})

    def _answer(self, content):
        self.server.heard.append((self.command, self.path, dict(self.headers)))
        body = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def _agent():
    with ThreadingHTTPServer(("127.0.0.1", 0), Agent) as server:
        server.heard, server.named = [], []
        server.url = f"http://127.0.0.1:{server.server_port}/"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()


@pytest.fixture
def given():
    with _agent() as server:
        yield server


@pytest.fixture
def other():
    with _agent() as server:
        yield server


async def say(server, allowed=None, path="mine/"):
    endpoint = await find_agent(server.url + path, 5, SECRET, allowed)
    connection = endpoint.connect()
    try:
        return await connection.send("hello")
    finally:
        await connection.close()


def turns(server):
    return [(path, headers) for command, path, headers in server.heard if command == "POST"]


@pytest.mark.parametrize("allowed", [None, AllowList(), AllowList(["*"])])
async def test_a_card_leads_nowhere_else_not_even_on_this_machine(given, other, allowed):
    given.named = [f"{other.url}stolen/"]
    assert (await say(given, allowed)).text == "look"
    assert other.heard == []
    ((path, headers),) = turns(given)
    assert path == "/mine/"
    assert headers["Authorization"] == "Bearer s3cret"


async def test_of_several_interfaces_that_of_the_same_origin_is_used(given, other):
    given.named = [f"{other.url}stolen/", f"{given.url}a2a/"]
    await say(given)
    assert [path for path, _ in turns(given)] == ["/a2a/"]
    assert other.heard == []


async def test_one_that_is_allowed_by_name_gets_turns_but_no_credentials(given, other):
    given.named = [f"{other.url}there/"]
    await say(given, AllowList([f"127.0.0.1:{other.server_port}"]))
    ((path, headers),) = turns(other)
    assert path == "/there/"
    assert "s3cret" not in str(headers)
    assert turns(given) == []


@pytest.mark.parametrize("host", ["localhost", "0.0.0.0", "[::1]"])
async def test_other_names_of_the_same_port_are_the_given_server(given, host):
    """Cards often know this machine by another of its names."""
    given.named = [f"http://{host}:{given.server_port}/a2a/"]
    await say(given)
    ((path, headers),) = turns(given)
    assert (path, headers["X-Key"]) == ("/a2a/", "s3cret")
    assert headers["Host"] == f"127.0.0.1:{given.server_port}"


def test_a_password_in_a_request_goes_to_that_agent_alone(tmp_path, given, other):
    given.named = [f"{other.url}stolen/"]
    options = ["--port", "0", "--log-dir", str(tmp_path), "--data-path", "builtin"]
    header = ["--agent-header", "X-Key: s3cret", "--allow-agent", "*"]
    url = given.url.replace("http://", "http://user:SECRETPW@")
    with agentquest("green", *options, *header) as process:
        green = Green(process, tmp_path)
        green.ask(_request(f"{url}mine/"))
        assert other.heard == []
        basic = base64.b64encode(b"user:SECRETPW").decode()
        assert {headers["Authorization"] for _, headers in turns(given)} == {f"Basic {basic}"}
        for sign in "\0\x1b\u202e":
            with pytest.raises(AssessmentFailed, match=rf"rejected.*U\+{ord(sign):04X}"):
                green.ask(_request(f"http://localhost{sign}/"))


def _request(url):
    return json.dumps({"participants": {"agent": url}, "config": {"num_games": 1, "max_steps": 2}})
