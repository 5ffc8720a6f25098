"""Playing over MCP: the real clients, the record beside the evaluator's, and hostile messages."""

import asyncio
import json
import sys

import httpx
import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python
from server_process import served

from agentquest.adapters.mcp_desk import Desk
from agentquest.adapters.mcp_protocol import answer_message, answer_text
from agentquest.adapters.mcp_run import seated
from agentquest.api import evaluate, load_run
from agentquest.config import load_config
from agentquest.lib import Arena, Session
from agentquest.running.events import RunEvents
from agentquest.running.run import Run

GAMES = ["benchmark=alfworld", "data_path=builtin", "num_games=3"]


def _run(tmp_path, *more):
    overrides = [*GAMES, "agent=mcp", f"output_dir={tmp_path}", *more]
    return Run(load_config(None, overrides)[0])


def _plan(run, number=0):
    session = Session(Arena(run.benchmark))
    session.reset(run.specs[number].task)
    return session.plan()


async def _playing(run, work):
    """Do `work` with a caller's tools while the run is open."""
    stop, desk = asyncio.Event(), Desk()
    task = asyncio.create_task(
        run.play(run.prepare(), RunEvents(), stop, lambda: None, executor=desk)
    )
    await desk.opened.wait()
    seat, host = seated(run, desk)("tester")
    try:
        return await work(seat, host)
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

    async def work(seat, host):
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

        async def work(seat, host):
            await host.call("start", {})
            await host.call("act", {"command": "look"})
            await seat.leave()
            assert not seat.is_playing

        await _playing(run, work)
        (record,) = load_run(run.directory.path).records
        assert (record.end.value, record.scored) == ("agent_fault", scored)
        assert len(record.steps) == 1


async def test_what_the_servers_end_interrupts_is_owed(tmp_path):
    run = _run(tmp_path)

    async def work(seat, host):
        await host.call("start", {})
        await host.call("act", {"command": "look"})

    await _playing(run, work)
    (record,) = load_run(run.directory.path).records
    assert (record.end.value, record.scored) == ("cancelled", False)


async def test_tasks_can_be_chosen_and_are_given_out_once(tmp_path):
    run = _run(tmp_path)
    wanted = run.specs[1].task.id

    async def work(seat, host):
        assert (await host.call("observe", {})).is_error
        assert (await host.call("start", {"task_id": "nothing"})).is_error
        assert (await host.call("start", {"task_id": 5})).is_error
        assert (await host.call("start", {"task_id": wanted})).data["task_id"] == wanted
        assert (await host.call("start", {})).is_error, "one episode at a time"
        await host.call("give_up", {})
        assert (await host.call("start", {"task_id": wanted})).is_error
        both = await asyncio.gather(*(host.call("act", {"command": "look"}) for _ in range(2)))
        assert all(answer.is_error for answer in both)

    await _playing(run, work)


async def test_admissible_commands_and_typed_tools_are_settings(tmp_path):
    run = _run(tmp_path, "agent.show_admissible=false", "agent.tools=typed")

    async def work(seat, host):
        answer = await host.call("start", {})
        assert "admissible" not in answer.data
        assert "Possible now" not in answer.text
        names = {tool.name for tool in host.tools()}
        assert {"start", "observe", "give_up", "go_to"} <= names
        place = _plan(run)[0].removeprefix("go to ")
        answer = await host.call("go_to", {"receptacle": place})
        assert place in answer.data["observation"]

    await _playing(run, work)


async def test_webshop_is_played_with_its_own_tools(tmp_path):
    config = ["benchmark=webshop", "data_path=builtin", "num_games=1", "agent=mcp"]
    run = Run(load_config(None, [*config, f"output_dir={tmp_path}"])[0])

    async def work(seat, host):
        assert {"search", "click"} <= {tool.name for tool in host.tools()}
        await host.call("start", {})
        for command in _plan(run):
            name, _, rest = command.partition("[")
            argument = {"search": "query", "click": "target"}[name]
            answer = await host.call(name, {argument: rest.removesuffix("]")})
        assert answer.data["won"]

    await _playing(run, work)


async def test_text_that_is_no_text_is_played_and_recorded(tmp_path):
    run = _run(tmp_path, "max_steps=3")

    async def work(seat, host):
        await host.call("start", {})
        for command in ("\ud800", "\x00", "a" * 50_000):
            answer = await host.call("act", {"command": command})
        return answer

    assert (await _playing(run, work)).data["done"]
    (record,) = load_run(run.directory.path).records
    assert record.end == "step_limit"
    assert len(record.steps) == 3


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ("7", -32600),
        ('{"id": 1}', -32600),
        ('{"id": [1], "method": "ping"}', -32600),
        ('{"id": true, "method": "ping"}', -32600),
        ('{"id": 1, "method": "ping", "params": [1]}', -32602),
        ('{"id": 1, "method": "server/discover"}', -32601),
        ('{"id": 1, "method": "tools/call"}', -32602),
        ('{"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": 4}}', -32602),
        ('{"id": 1, "method": "tools/call", "params": {"name": "rm"}}', -32602),
    ],
)
async def test_what_is_no_proper_request_is_an_error(tmp_path, message, code):
    async def work(seat, host):
        return json.loads(await answer_text(message, host))

    answer = await _playing(_run(tmp_path), work)
    assert answer["error"]["code"] == code


async def test_the_handshake(tmp_path):
    async def work(seat, host):
        for wanted, given in (("2025-03-26", "2025-03-26"), ("1999-01-01", "2025-11-25")):
            asked = {"id": "a", "method": "initialize", "params": {"protocolVersion": wanted}}
            result = (await answer_message(asked, host))["result"]
            assert result["protocolVersion"] == given
        assert await answer_message({"method": "notifications/initialized"}, host) is None
        assert await answer_message({"id": 3, "result": {}}, host) is None
        assert (await answer_message({"id": 3, "method": "ping"}, host))["result"] == {}

    await _playing(_run(tmp_path), work)


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


def test_a_http_server_that_is_full_or_asked_wrongly(tmp_path):
    arguments = ["mcp", "alfworld", *GAMES[1:], "--output-dir", str(tmp_path)]
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    full = served(*arguments, "--http", "0", "--max-sessions", "1")
    with full as url, httpx.Client(base_url=url) as client:
        begun = client.post("/mcp", json=hello)
        session = {"Mcp-Session-Id": begun.headers["Mcp-Session-Id"]}
        assert client.post("/mcp", json=hello).status_code == 503
        assert client.get("/mcp").status_code == 405
        assert client.post("/mcp", json={"id": 1, "method": "ping"}).status_code == 400
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        wrong = {"Mcp-Session-Id": "guessed"}
        assert client.post("/mcp", json=ping, headers=wrong).status_code == 404
        assert client.post("/mcp", json=ping, headers=session).json()["result"] == {}
        told = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert client.post("/mcp", json=told, headers=session).status_code == 202
        assert client.post("/mcp", content=b"{", headers=session).status_code == 400
        odd = rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "ping"}'
        assert client.post("/mcp", content=odd, headers=session).status_code == 200
        assert client.post("/mcp", content=b"x" * 2_000_000).status_code == 413
        rebound = {"Host": "evil.example", **session}
        assert client.post("/mcp", json=ping, headers=rebound).status_code == 403
        assert client.delete("/mcp", headers=session).status_code == 200
        assert client.delete("/mcp", headers=session).status_code == 404
        assert client.post("/mcp", json=hello).status_code == 200
        assert client.get("/health").json() == {"status": "healthy", "sessions": 1}
