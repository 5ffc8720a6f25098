"""The OpenEnv server: its wire format, many clients, hostile ones, and the real client."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

import aiohttp
import pytest
import yaml
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python
from server_process import served

from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.openenv_package import write_package
from agentquest.adapters.openenv_server import LONGEST_MESSAGE, OpenEnvServer, Terms
from agentquest.errors import UserError
from agentquest.http.guard import Names, Rules, guard_app
from agentquest.http.serving import Served, Serving
from agentquest.http.sockets import listen

BUILTIN = {"data_path": "builtin"}


@asynccontextmanager
async def _serving(benchmark="alfworld", **terms):
    server = OpenEnvServer(shared_arena(benchmark, BUILTIN), Terms(**terms))
    app = guard_app(server.app(), Rules(Names("127.0.0.1")))
    place = Served(app, listen(), websocket_bytes=4 * LONGEST_MESSAGE)
    serving = Serving([place])
    task = asyncio.create_task(serving.run())
    await _until(lambda: serving.started)
    async with aiohttp.ClientSession(place.url) as client:
        try:
            yield server, client
        finally:
            serving.stop()
            await task


async def _until(holds):
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it never came about")


class _Client:
    def __init__(self, socket):
        self._socket = socket

    async def ask(self, kind, data=None):
        await self._socket.send_str(json.dumps({"type": kind, "data": data or {}}))
        return await self.heard()

    async def heard(self):
        return json.loads((await self._socket.receive(timeout=20)).data)

    async def error(self, kind, data=None):
        answer = await self.ask(kind, data)
        assert answer["type"] == "error", answer
        return answer["data"]["code"]


@pytest.mark.parametrize("benchmark", ["alfworld", "webshop"])
async def test_an_episode(benchmark):
    async with _serving(benchmark, oracle=True) as (_, http), http.ws_connect("/ws") as socket:
        client = _Client(socket)
        assert (await client.ask("state"))["data"] == {"episode_id": None, "step_count": 0}
        assert await client.error("step", {"command": "look"}) == "EXECUTION_ERROR"
        first = (await client.ask("reset", {"index": 2, "episode_id": "e", "oracle": True}))["data"]
        assert (first["reward"], first["done"]) == (None, False)
        again = (await client.ask("reset", {"task_id": first["observation"]["task_id"]}))["data"]
        assert again["observation"]["text"] == first["observation"]["text"]
        assert again["observation"]["plan"] is None
        for command in first["observation"]["plan"]:
            last = (await client.ask("step", {"command": command, "metadata": {}}))["data"]
        assert (last["reward"], last["done"], last["observation"]["won"]) == (1.0, True, True)
        assert (await client.ask("step", {"command": "look"}))["data"] == last
        state = (await client.ask("state"))["data"]
        assert state["step_count"] == len(first["observation"]["plan"])
        assert state["done"]
        await socket.send_str('{"type": "close"}')
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE


async def test_what_a_client_gets_wrong_is_said_and_changes_nothing():
    async with _serving() as (_, http), http.ws_connect("/ws") as socket:
        client = _Client(socket)
        await client.ask("reset", {"index": 0})
        for text in ("{", "[" * 60_000, "x" * (LONGEST_MESSAGE + 1), ""):
            await socket.send_str(text)
            assert (await client.heard())["data"]["code"] == "INVALID_JSON"
        await socket.send_bytes(b'{"type": "state"}')
        assert (await client.heard())["data"]["code"] == "INVALID_JSON"
        for text in ("7", '{"kind": "reset"}', '{"type": 3}', '{"type": "dance"}'):
            await socket.send_str(text)
            assert (await client.heard())["data"]["code"] == "UNKNOWN_TYPE"
        await socket.send_str('{"type": "step", "data": [1]}')
        assert (await client.heard())["data"]["code"] == "VALIDATION_ERROR"
        wrong_steps = ({}, {"command": 7}, {"command": "look", "more": 1}, {"cmd": "look"})
        for data in wrong_steps:
            assert await client.error("step", data) == "VALIDATION_ERROR"
        wrong_resets = (
            {"idx": 1}, {"index": "1"}, {"index": True}, {"seed": 1.5}, {"task_id": 4},
            {"oracle": True}, {"episode_id": "e" * 300}, {"index": 1, "task_id": "x"},
        )  # fmt: skip
        for data in wrong_resets:
            assert await client.error("reset", data) == "VALIDATION_ERROR"
        for data in ({"index": -1}, {"index": 10**9}, {"task_id": "no"}, {"split": "no"}):
            assert await client.error("reset", data) == "EXECUTION_ERROR"
        assert (await client.ask("state"))["data"]["step_count"] == 0


async def test_a_message_that_is_far_too_long_ends_the_connection():
    async with _serving() as (server, http), http.ws_connect("/ws") as socket:
        await socket.send_str("x" * (5 * LONGEST_MESSAGE))
        assert (await socket.receive(timeout=20)).type in (
            aiohttp.WSMsgType.CLOSE,
            aiohttp.WSMsgType.CLOSED,
        )
        await _until(lambda: server.active == 0)


async def test_a_full_server_says_so_and_has_room_again_when_one_leaves():
    async with _serving(max_sessions=2) as (server, http):
        first, second = await http.ws_connect("/ws"), await http.ws_connect("/ws")
        await _Client(first).ask("reset", {"index": 0})
        await _Client(second).ask("reset", {"index": 0})
        async with http.ws_connect("/ws") as third:
            told = (await _Client(third).heard())["data"]
            assert told["code"] == "CAPACITY_REACHED"
            assert (told["active_sessions"], told["max_sessions"]) == (2, 2)
            assert (await third.receive()).type is aiohttp.WSMsgType.CLOSE
        await first.close()
        await _until(lambda: server.active == 1)
        async with http.ws_connect("/ws") as fourth:
            assert (await _Client(fourth).ask("reset", {"index": 0}))["type"] == "observation"
        await second.close()


async def test_a_silent_session_ends():
    async with _serving(idle_s=0.2) as (server, http), http.ws_connect("/ws") as socket:
        assert (await _Client(socket).heard())["data"]["code"] == "SESSION_ERROR"
        await socket.receive()
        await _until(lambda: server.active == 0)


async def test_pages_of_other_sites_get_no_connection():
    async with _serving() as (_, http):
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await http.ws_connect("/ws", headers=headers)


async def test_hundreds_of_sessions_share_one_benchmark():
    number = 400
    async with _serving(max_sessions=number) as (server, http):
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(http._base_url, connector=connector) as many:
            sockets = await asyncio.gather(*(many.ws_connect("/ws") for _ in range(number)))
            clients = [_Client(socket) for socket in sockets]
            resets = [client.ask("reset", {"index": i % 10}) for i, client in enumerate(clients)]
            answers = await asyncio.gather(*resets)
            assert len({a["data"]["observation"]["task_id"] for a in answers}) == 10
            assert server.active == number
            steps = await asyncio.gather(*(c.ask("step", {"command": "look"}) for c in clients))
            assert all(step["type"] == "observation" for step in steps)
            await asyncio.gather(*(socket.close() for socket in sockets))
        await _until(lambda: server.active == 0)


async def test_http_routes():
    async with _serving() as (_, http):

        async def get(path):
            async with http.get(path) as answer:
                return answer.status, await answer.json()

        async def post(path, **kwargs):
            async with http.post(path, **kwargs) as answer:
                return answer.status, await answer.json()

        assert await get("/health") == (200, {"status": "healthy"})
        assert (await get("/schema"))[1]["action"]["required"] == ["command"]
        assert (await get("/metadata"))[1]["name"] == "alfworld"
        assert (await get("/state"))[1] == {"episode_id": None, "step_count": 0}
        assert "/reset" in (await get("/openapi.json"))[1]["paths"]
        assert (await post("/reset", json={"index": 1}))[1]["done"] is False
        stepped = await post("/step", json={"action": {"command": "look"}})
        assert stepped[1]["reward"] == 0.0
        for path, body in (("/reset", {"idx": 1}), ("/step", {}), ("/step", {"action": {}})):
            assert (await post(path, json=body))[0] == 422
        assert (await post("/reset", data=b"{"))[0] == 400
        assert (await post("/mcp", json={}))[1]["jsonrpc"] == "2.0"
        odd = rb'{"jsonrpc": "2.0", "id": "\ud800", "method": "\ud800"}'
        assert (await post("/mcp", data=odd))[0] == 200
        for body in (rb'{"split": "\ud800"}', rb'{"task_id": "\ud800"}', rb'{"\ud800": 1}'):
            assert (await post("/reset", data=body))[0] == 422
        assert (await post("/step", data=rb'{"action": {"command": "\ud800"}}'))[0] == 200
        assert await get("/list_environments") == (200, ["alfworld"])
        splits = (await get("/alfworld/splits"))[1]
        assert {"name": "train", "type": "train"} in splits
        assert (await get("/webshop/splits"))[0] == 404
        seen = {"split": "valid_seen"}
        assert (await post("/alfworld/num_tasks", json=seen))[1] == {"num_tasks": 140}
        listed = (await post("/alfworld/tasks", json=seen))[1]
        assert listed["env_name"] == "alfworld"
        assert len(listed["tasks"]) == 140
        one = (await post("/alfworld/task", json={**seen, "index": 7}))[1]["task"]
        assert one == listed["tasks"][7]
        some = (await post("/alfworld/task_range", json={**seen, "start": 5, "stop": 9}))[1]
        assert some["tasks"] == listed["tasks"][5:9]
        wrong = ({}, {"split": "no"}, {**seen, "index": 140}, {**seen, "index": "1"}, [])
        for body in wrong:
            assert (await post("/alfworld/task", json=body))[0] == 400
        assert (await post("/alfworld/task_range", json={**seen, "start": -1}))[0] == 400


async def test_requests_for_tools_are_told_what_serves_them():
    async with _serving() as (_, http), http.ws_connect("/ws") as socket:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        answer = (await _Client(socket).ask("mcp", call))["data"]
        assert (answer["id"], answer["error"]["code"]) == (1, -32601)
        assert "agentquest mcp" in answer["error"]["message"]


def test_a_package_is_written_once(tmp_path):
    arena = shared_arena("alfworld", BUILTIN)
    folder = tmp_path / "alfworld_env"
    write_package(arena, folder, 50)
    manifest = yaml.safe_load((folder / "openenv.yaml").read_text())
    assert manifest["validation"]["capabilities"]["declared_task_count"]["train"] == 3553
    for file in folder.rglob("*.py"):
        compile(file.read_text(), file, "exec")
    out = run([sys.executable, folder / "validation" / "oracle.py"])
    assert float(out) == 1.0
    with pytest.raises(UserError, match="not empty"):
        write_package(arena, folder, 50)


def test_the_real_client_and_validator(tmp_path):
    python = foreign_python("openenv")
    folder = tmp_path / "alfworld_env"
    write_package(shared_arena("alfworld", BUILTIN), folder, 50)
    validate = [python, "-m", "openenv.cli", "validate"]
    assert "Verdict: PASS" in run([*validate, folder, "--level", "static"])
    arguments = ("serve", "openenv", "alfworld", "data_path=builtin", "--port", "0")
    with served(*arguments, "--oracle", "--max-sessions", "1") as url:
        assert "Verdict: PASS" in run([*validate, "--url", url])
        said = json.loads(run([python, SCRIPTS / "openenv_client.py", url]).splitlines()[-1])
    assert said["task"]
    assert said["rewards"] == [1.0, 1.0]
    assert said["state"] == ["mine", True, True]
    assert "VALIDATION_ERROR" in said["wrong"]
    assert "'idx'" in said["unknown"]
    assert "CAPACITY_REACHED" in said["full"]
    assert said["seed"]
