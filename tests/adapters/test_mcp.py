"""Playing over MCP: the real clients, the record beside the evaluator's, and hostile messages."""

import asyncio
import json
import signal
import subprocess
import sys

import httpx
import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python
from server_process import served

from agentquest import extras
from agentquest.adapters.mcp_callers import CallerExecutor
from agentquest.adapters.mcp_server import GameServer
from agentquest.api import evaluate, load_run
from agentquest.cli.app import main
from agentquest.config import load_config
from agentquest.lib import Arena, Session
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from warm_python import Process

JSON_OR_EVENTS = {"Accept": "application/json, text/event-stream"}
GAMES = ["benchmark=alfworld", "data_path=builtin", "num_games=3"]


def _run(tmp_path, *more):
    overrides = [*GAMES, "agent=mcp", f"output_dir={tmp_path}", *more]
    return Run(load_config(None, overrides)[0])


def _plan(run, number=0):
    session = Session(Arena(run.benchmark))
    session.reset(run.specs[number].task)
    return session.plan()


class Host:
    """One caller of a server, without a protocol between them."""

    def __init__(self, server):
        self.server = server
        self.tools = server.tools

    async def call(self, name, arguments):
        return await self.server.call("tester", name, arguments)

    @property
    def caller(self):
        return self.server.callers.peek("tester")


async def _playing(run, work):
    """Do `work` with a caller's tools while the run is open."""
    stop, executor = asyncio.Event(), CallerExecutor()
    task = asyncio.create_task(
        run.play(run.prepare(), RunEvents(), stop, lambda running: None, executor=executor)
    )
    await executor.opened
    try:
        return await work(Host(GameServer(run, executor)))
    finally:
        stop.set()
        await task


async def _won(host, plan):
    await host.call("start", {})
    for command in plan:
        answer = await host.call("act", {"command": command})
    return answer


async def test_the_record_is_the_evaluators(tmp_path):
    run = _run(tmp_path, "max_steps=20")

    async def work(host):
        await _won(host, _plan(run))
        await host.call("start", {})
        for _ in range(20):
            answer = await host.call("act", {"command": "look"})
        assert answer.data["end"] == "step_limit"
        assert (await host.call("act", {"command": "look"})).is_error
        await host.call("start", {})
        assert (await host.call("give_up", {})).data["end"] == "gave_up"
        assert (await host.call("start", {})).data == {"tasks_left": 0}

    await _playing(run, work)
    ours = load_run(run.directory.path)
    assert ours.complete
    assert [record.end.value for record in ours.records] == ["solved", "step_limit", "gave_up"]
    oracle = await asyncio.to_thread(
        evaluate, benchmark="alfworld", data_path="builtin", num_games=3, max_steps=20,
        agent="oracle", output_dir=tmp_path,
    )  # fmt: skip
    mine, theirs = ours.records[0], oracle.records[0]
    for name in ("task_id", "goal", "first_observation", "first_admissible", "success", "reward",
                 "progress", "scored", "end", "data_hash", "facts", "milestones"):  # fmt: skip
        assert getattr(mine, name) == getattr(theirs, name), name
    for left, right in zip(mine.steps, theirs.steps, strict=True):
        for name in ("action", "valid", "observation", "admissible", "reward", "progress"):
            assert getattr(left, name) == getattr(right, name), name


async def test_who_leaves_has_lost_or_owes_as_the_run_says(tmp_path):
    for policy, scored in (("owe", False), ("lose", True)):
        run = _run(tmp_path, f"agent_faults={policy}", f"run_name={policy}")

        async def work(host):
            await host.call("start", {})
            await host.call("act", {"command": "look"})
            await host.caller.leave()
            assert not host.caller.is_playing

        await _playing(run, work)
        (record,) = load_run(run.directory.path).records
        assert (record.end.value, record.scored) == ("agent_fault", scored)
        assert len(record.steps) == 1


async def test_what_the_servers_end_interrupts_is_owed(tmp_path):
    run = _run(tmp_path)

    async def work(host):
        await host.call("start", {})
        await host.call("act", {"command": "look"})

    await _playing(run, work)
    (record,) = load_run(run.directory.path).records
    assert (record.end.value, record.scored) == ("cancelled", False)


async def test_tasks_can_be_chosen_and_are_given_out_once(tmp_path):
    run = _run(tmp_path)
    wanted = run.specs[1].task.id

    async def work(host):
        assert (await host.call("observe", {})).is_error
        assert (await host.call("start", {"task_id": "nothing"})).is_error
        assert (await host.call("start", {"task_id": 5})).is_error
        assert (await host.call("start", {"task_id": wanted})).data["task_id"] == wanted
        assert (await host.call("start", {})).is_error, "one episode at a time"
        assert (await host.call("act", {})).is_error, "a call without its argument"
        assert not (await host.call("act", {"command": "look"})).is_error
        await host.call("give_up", {})
        assert (await host.call("start", {"task_id": wanted})).is_error
        both = await asyncio.gather(*(host.call("act", {"command": "look"}) for _ in range(2)))
        assert all(answer.is_error for answer in both)

    await _playing(run, work)


async def test_admissible_commands_and_typed_tools_are_settings(tmp_path):
    run = _run(tmp_path, "agent.show_admissible=false", "agent.tools=typed")

    async def work(host):
        answer = await host.call("start", {})
        assert "admissible" not in answer.data
        assert "Possible now" not in answer.text
        names = {tool.name for tool in host.tools}
        assert {"start", "observe", "give_up", "go_to"} <= names
        place = _plan(run)[0].removeprefix("go to ")
        answer = await host.call("go_to", {"receptacle": place})
        assert place in answer.data["observation"]

    await _playing(run, work)


async def test_webshop_is_played_with_its_own_tools(tmp_path):
    config = ["benchmark=webshop", "data_path=builtin", "num_games=1", "agent=mcp"]
    run = Run(load_config(None, [*config, f"output_dir={tmp_path}"])[0])

    async def work(host):
        assert {"search", "click"} <= {tool.name for tool in host.tools}
        await host.call("start", {})
        for command in _plan(run):
            name, _, rest = command.partition("[")
            argument = {"search": "query", "click": "target"}[name]
            answer = await host.call(name, {argument: rest.removesuffix("]")})
        assert answer.data["won"]

    await _playing(run, work)


async def test_text_that_is_no_text_is_played_and_recorded(tmp_path):
    run = _run(tmp_path, "max_steps=3")

    async def work(host):
        await host.call("start", {})
        for command in ("\ud800", "\x00", "a" * 50_000):
            answer = await host.call("act", {"command": command})
        return answer

    assert (await _playing(run, work)).data["done"]
    (record,) = load_run(run.directory.path).records
    assert record.end == "step_limit"
    assert len(record.steps) == 3


async def test_the_record_stands_however_a_call_ends(tmp_path):
    """Who hangs up while a step is made finds the game where the step left it."""
    run = _run(tmp_path)

    async def work(host):
        await host.call("start", {})
        call = asyncio.create_task(host.call("act", {"command": "look"}))
        await asyncio.sleep(0)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await host.call("act", {"command": "inventory"})
        return await host.call("observe", {})

    assert "carrying" in (await _playing(run, work)).text


def _expected(said):
    assert said["tools"] == ["act", "give_up", "observe", "start"]
    assert said["early"]
    assert said["again"]
    assert said["won"] == [True, True, 1.0, "solved", True]
    assert said["after"]
    assert said["malformed"].startswith("act takes exactly: command.")
    assert said["limit"] == [True, "step_limit"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
@pytest.mark.parametrize("version", ["mcp1", "mcp2"])
def test_the_real_clients_play(tmp_path, version, transport):
    python = foreign_python(version)
    prepared = _run(tmp_path)
    plan = _plan(prepared)
    arguments = ["mcp", "alfworld", *GAMES[1:], "--max-steps", str(len(plan))]
    arguments += ["--output-dir", str(tmp_path), "--run-name", "played"]
    play = [python, SCRIPTS / "mcp_play.py", transport]
    environment = {"PLAN": json.dumps(plan)}
    if transport == "stdio":
        out = run([*play, sys.executable, "-m", "agentquest", *arguments], **environment)
    else:
        with served(*arguments, "--http", "0") as url:
            out = run([*play, f"{url}/mcp"], **environment)
    _expected(json.loads(out.splitlines()[-1]))
    rows = load_run(tmp_path / "played").to_rows()
    assert [(row["end"], row["steps"]) for row in rows] == [
        ("solved", len(plan)),
        ("step_limit", len(plan)),
    ]


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "tester", "version": "1"},
}


def _request(method, number=1, **params):
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.fixture(scope="module")
def http_server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    arguments = ["mcp", "alfworld", *GAMES[1:], "--output-dir", str(folder)]
    with served(*arguments, "--http", "0", "--max-sessions", "1") as url:
        yield url


def test_a_http_server_that_is_full_or_asked_wrongly(http_server):
    hello = _request("initialize", **HELLO)
    with httpx.Client(base_url=http_server) as client:
        begun = client.post("/mcp", json=hello)
        assert begun.json()["result"]["protocolVersion"] == "2025-06-18"
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        assert client.post("/mcp", json=hello).status_code == 503
        ping = _request("ping")
        wrong = {"Mcp-Session-Id": "guessed"}
        assert client.get("/mcp", headers=wrong).status_code == 404
        assert client.post("/mcp", json=ping, headers=wrong).status_code == 404
        assert client.post("/mcp", json=ping, headers=session).json()["result"] == {}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert client.post("/mcp", json=told, headers=session).status_code == 202
        assert client.post("/mcp", content=b"x" * 2_000_000).status_code == 413
        rebound = {"Host": "evil.example", **session}
        assert client.post("/mcp", json=ping, headers=rebound).status_code == 403
        start = _request("tools/call", name="start", arguments={})
        assert (
            "goal"
            in client.post("/mcp", json=start, headers=session).json()["result"][
                "structuredContent"
            ]
        )
        assert client.get("/health").json() == {"status": "healthy", "sessions": 1}
        assert client.delete("/mcp", headers=session).status_code == 200
        assert client.delete("/mcp", headers=session).status_code == 404
        assert client.get("/health").json() == {"status": "healthy", "sessions": 0}
        again = client.post("/mcp", json=hello)
        assert again.status_code == 200
        client.delete("/mcp", headers={"Mcp-Session-Id": again.headers["Mcp-Session-Id"]})


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"{", -32700),
        (b"[" * 100_000, -32700),
        (rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}', -32700),
        (b"7", -32602),
        (b'{"id": 1}', -32602),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "nothing/known"}', -32601),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call"}', -32602),
        (json.dumps(_request("tools/call", name="act", arguments=4)).encode(), -32602),
        (json.dumps(_request("tools/call", name="rm")).encode(), -32602),
    ],
)
def test_what_is_no_proper_request_is_an_error(http_server, message, code):
    with httpx.Client(base_url=http_server, headers={"Content-Type": "application/json"}) as client:
        begun = client.post("/mcp", json=_request("initialize", **HELLO))
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        try:
            answer = client.post("/mcp", content=message, headers=session)
            assert answer.json()["error"]["code"] == code
        finally:
            client.delete("/mcp", headers=session)


def _modern(name, **arguments):
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return _request("tools/call", name=name, arguments=arguments, _meta=meta)


def _modern_headers(name):
    return {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
        "Accept": "application/json, text/event-stream",
    }


def test_requests_that_stand_alone_name_their_game(http_server):
    def call(client, name, **arguments):
        message, headers = _modern(name, **arguments), _modern_headers(name)
        return client.post("/mcp", json=message, headers=headers).json()["result"]

    with httpx.Client(base_url=http_server) as one, httpx.Client(base_url=http_server) as other:
        assert call(one, "act", command="look")["isError"]
        begun = call(one, "start")["structuredContent"]
        game = begun["game"]
        assert not call(one, "act", command="look")["isError"], "the same connection"
        assert call(other, "observe")["isError"], "another one, which says nothing"
        assert call(other, "observe", game="guessed")["isError"]
        seen = call(other, "observe", game=game)
        assert seen["structuredContent"]["task_id"] == begun["task_id"]
        assert call(other, "start")["isError"], "the server is full"
        assert call(other, "give_up", game=game)["structuredContent"]["end"] == "gave_up"
        proxied = {**_modern_headers("observe"), "X-Forwarded-For": "192.0.2.1"}
        alone = one.post("/mcp", json=_modern("observe"), headers=proxied)
        assert alone.json()["result"]["isError"], "a proxy may share its connections"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_whose_client_says_nothing(tmp_path, number):
    arguments = ["mcp", "alfworld", *GAMES[1:], "--output-dir", str(tmp_path)]
    server = subprocess.Popen(
        [sys.executable, "-m", "agentquest", *arguments],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    server.stdin.write(json.dumps(_request("initialize", **HELLO)) + "\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["result"]["serverInfo"]["name"]
    server.send_signal(number)
    assert server.wait(60) == 128 + number
    server.stdin.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_server_as_soon_as_it_has_said_something(tmp_path, number):
    """What asyncio was just setting up would tell of it."""
    arguments = ["mcp", "alfworld", *GAMES[1:], "--output-dir", str(tmp_path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    server = Process(["-m", "agentquest", *arguments], **pipes)
    assert "to play" in server.stderr.readline()
    server.send_signal(number)
    _, rest = server.communicate(timeout=60)
    assert server.wait() == 128 + number
    assert rest == "stopping; press again to stop at once\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_an_http_server_without_a_traceback(tmp_path, number):
    arguments = ["mcp", "alfworld", *GAMES[1:], "--output-dir", str(tmp_path), "--http", "0"]
    server = Process(["-m", "agentquest", *arguments], stderr=subprocess.PIPE)
    said = [server.stderr.readline(), server.stderr.readline()]
    url = said[1].split()[-1]
    hello = httpx.post(url, json=_request("initialize", **HELLO), headers=JSON_OR_EVENTS)
    assert hello.status_code == 200
    server.send_signal(number)
    _, rest = server.communicate(timeout=60)
    assert server.wait() == 128 + number
    assert rest == "stopping; press again to stop at once\n"


def test_a_missing_extra_is_named_in_one_line(monkeypatch, capsys):
    monkeypatch.setattr(extras, "is_installed", lambda module: module != "mcp")
    with pytest.raises(SystemExit):
        main(["mcp", "alfworld"])
    (line,) = capsys.readouterr().err.splitlines()
    assert "[mcp]" in line
