"""AgentBench's task worker, asked as its controller and its clients ask."""

import asyncio
import json
import logging

import httpx
import pytest
from adapter_scripts import SCRIPTS, run
from asked_server import NO_JSON, Asked, plan_of
from foreign import foreign_python
from server_process import served
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from agentquest.adapters import agentbench
from agentquest.adapters.agentbench import AgentBenchWorker, Controller, WorkerTerms
from agentquest.adapters.arenas import agentbench_games, shared_arena
from agentquest.adapters.bleu import Repair, bleu, nearest
from agentquest.errors import DataError, UserError
from agentquest.http.serving import Served, Serving
from agentquest.http.sockets import listen
from agentquest.lib import Session

OLD = {"data_path": "builtin", "dialect": "0.3"}
BUILTIN = {"data_path": "builtin"}


def _call(name="take_action", id="c1", **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": id, "type": "function", "function": function}]
    return [{"role": "assistant", "content": "", "tool_calls": calls}]


def _worker(benchmark="alfworld", settings=OLD, **terms):
    arena = shared_arena(benchmark, settings)
    return Asked(AgentBenchWorker(arena, WorkerTerms(f"{benchmark}-std", **terms)).app()), arena


def test_an_agentbench_worker():
    server, arena = _worker(concurrency=1)
    assert server.get("/api/get_indices") == list(range(134))
    out = server.post("/api/start_sample", index=4, session_id=77)
    assert [message["role"] for message in out["messages"]] == ["system", "user"]
    assert out["messages"][1]["content"].startswith("Here is your task. You are in")
    assert " AVAILABLE ACTIONS: " in out["messages"][1]["content"]
    assert (out["status"], out["finish"], out["reward"]) == ("running", False, 0)
    assert server.get("/api/get_sessions") == {"77": 4}
    assert server.get("/api/worker_status") == {"concurrency": 1, "current": 1}
    assert server.post("/api/sample_status", session_id=77)["status"] == "running"
    server.post("/api/start_sample", 400, index=4, session_id=77)
    server.post("/api/start_sample", 406, index=4, session_id=78)
    for command in plan_of(arena, 4):
        answer = server.post("/api/interact", session_id=77, messages=_call(action=command))
    assert answer["session_id"] == 77
    out = answer["env_out"]
    assert (out["status"], out["finish"], out["reward"]) == ("completed", True, 1.0)
    assert out["messages"][0]["tool_call_id"] == "c1"
    server.post("/api/interact", 400, session_id=77, messages=_call(action="look"))
    assert server.get("/api/get_sessions") == {}, "a finished sample is freed"
    results = [{"result": {"result": 1}}, {"result": {"result": 0}}, {"result": None}, 7]
    overall = server.post("/api/calculate_overall", name="x", results=results)["overall"]
    assert overall == {"total": 4, "pass": 1, "wrong": 3, "success_rate": 0.25}


def test_rounds_without_calls_and_repetition_end_a_sample():
    server, _ = _worker(rounds=4)
    server.post("/api/start_sample", index=0, session_id=1)
    for number in range(4):
        messages = [{"role": "assistant", "content": f"thought {number}"}]
        out = server.post("/api/interact", session_id=1, messages=messages)["env_out"]
        assert out["messages"][0]["role"] == "user"
    assert (out["status"], out["reward"]) == ("task limit reached", 0)
    server, _ = _worker()
    server.post("/api/start_sample", index=0, session_id=1)
    for number in range(4):
        messages = _call(action="look", id=f"call_{number}")
        out = server.post("/api/interact", session_id=1, messages=messages)["env_out"]
        assert out["messages"][0]["tool_call_id"] == f"call_{number}"
    assert (out["status"], out["finish"]) == ("agent invalid action", True)
    server.post("/api/start_sample", index=0, session_id=2)
    wrong = _call(order="look")
    out = server.post("/api/interact", session_id=2, messages=wrong)["env_out"]
    assert "takes exactly: action" in out["messages"][0]["content"]


def test_actions_are_repaired_only_when_asked_for_and_that_is_told(caplog):
    caplog.set_level(logging.INFO)
    command = "go to the desk 1 please"
    plain, _ = _worker()
    plain.post("/api/start_sample", index=0, session_id=1)
    out = plain.post("/api/interact", session_id=1, messages=_call(action=command))["env_out"]
    assert out["messages"][0]["content"].startswith("Nothing happens.")
    assert "replaced_actions" not in out["metric"]
    published, arena = _worker(repair=Repair.BLEU)
    published.post("/api/start_sample", index=0, session_id=1)
    session = Session(arena)
    taken = nearest(command, session.reset(0).admissible)
    out = published.post("/api/interact", session_id=1, messages=_call(action=command))["env_out"]
    assert taken.startswith("go to ")
    assert out["metric"]["replaced_actions"] == 1
    assert not out["messages"][0]["content"].startswith("Nothing happens.")
    assert f"{command!r} was replaced by {taken!r}" in caplog.text
    out = published.post("/api/interact", session_id=1, messages=_call(action="LOOK"))["env_out"]
    assert out["metric"]["replaced_actions"] == 2, "other letters are another action"
    out = published.post("/api/interact", session_id=1, messages=_call(action=" look "))["env_out"]
    assert out["metric"]["replaced_actions"] == 2
    with pytest.raises(UserError, match="ALFWorld only"):
        _worker("webshop", BUILTIN, repair=Repair.BLEU)


def test_agentbench_webshop_and_other_benchmarks():
    server, arena = _worker("webshop", BUILTIN)
    out = server.post("/api/start_sample", index=0, session_id=1)
    names = [tool["function"]["name"] for tool in out["tools"]]
    assert names == ["search_action", "click_action"]
    assert out["messages"][1]["content"].startswith("The initial observation:\nWebShop [SEP]")
    for command in plan_of(arena, 0):
        name, _, rest = command.partition("[")
        argument = {"search": "keywords", "click": "value"}[name]
        messages = _call(f"{name}_action", **{argument: rest.removesuffix("]")})
        out = server.post("/api/interact", session_id=1, messages=messages)["env_out"]
    assert (out["status"], out["reward"]) == ("completed", 1.0)
    assert out["messages"][0]["content"].startswith("Action: click[buy now]\n\nObservation:\n")
    overall = server.post("/api/calculate_overall", results=[{"result": {"reward": 0.5}}])
    assert overall == {"reward": 0.5}
    server, _ = _worker("mastermind", {})
    tools = server.post("/api/start_sample", index=0, session_id=1)["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["guess"]


def test_agentbench_says_what_is_wrong():
    server, _ = _worker()
    server.post("/api/start_sample", 400, index=999)
    server.post("/api/start_sample", 422, index="0")
    server.post("/api/interact", 400, messages=_call(action="look"))
    server.post("/api/start_sample", index=0, session_id=1)
    for wrong in (None, [], "look", [1]):
        server.post("/api/interact", 422, session_id=1, messages=wrong)
    for calls in ([7], [{}], [{"function": 3}], [{"function": {"name": 1, "arguments": 2}}], 5):
        messages = [{"role": "assistant", "tool_calls": calls}]
        out = server.post("/api/interact", session_id=1, messages=messages)["env_out"]
        assert out["messages"][0]["role"] == "user"
    assert server.post("/api/cancel", session_id=1) == {"session_id": 1}
    server.post("/api/cancel", 400, session_id=1)
    assert server.post("/api/cancel_all") is None


@pytest.mark.parametrize("benchmark", ["alfworld", "webshop"])
def test_hostile_frames_are_answered_and_a_sample_goes_on(benchmark):
    server, _ = _worker(benchmark, BUILTIN, rounds=1000)
    server.post("/api/start_sample", index=0, session_id=1)
    for path in ("start_sample", "interact", "cancel", "sample_status", "calculate_overall"):
        for body in NO_JSON:
            if body or path not in ("interact", "cancel"):
                assert server.raw(f"/api/{path}", body, 422)["detail"]
    tool = {"alfworld": "take_action", "webshop": "search_action"}[benchmark]
    name = {"alfworld": "action", "webshop": "keywords"}[benchmark]
    for text in ("", "\x00", "\ud800", "<a> x", "<c>", "a " * 20_000, "[]"):
        out = server.post("/api/interact", session_id=1, messages=_call(tool, **{name: text}))
        assert out["env_out"]["status"] == "running"
    for arguments in ("", "{", "[]", "3", '{"action": 3}', "[" * 30_000, '{"a": "\\ud800"}'):
        calls = [{"id": "c", "function": {"name": "\ud800", "arguments": arguments}}]
        messages = [{"role": "assistant", "tool_calls": calls}]
        out = server.post("/api/interact", session_id=1, messages=messages)
        assert out["env_out"]["messages"][0]["role"] == "tool"
    for number in (True, 1.5, "1", [1], {}):
        server.post("/api/sample_status", 422, session_id=number)
    server.post("/api/sample_status", 422, session_id=10**400)
    for reward in ("NaN", "-Infinity", "1e400", "1" + "0" * 400):
        body = b'{"results": [{"result": {"reward": %b}}]}' % reward.encode()
        assert server.raw("/api/calculate_overall", body, 422)["detail"]
    too_much = [{"result": {"reward": reward}} for reward in (1e308, 1e308, -1e308)]
    assert server.post("/api/calculate_overall", results=too_much)
    assert server.get("/api/get_sessions") == {"1": 0}


def test_idle_samples_make_room():
    server, _ = _worker(concurrency=1, idle_s=1e-9)
    server.post("/api/start_sample", index=0, session_id=1)
    server.post("/api/start_sample", index=1, session_id=2)
    assert server.get("/api/worker_status") == {"concurrency": 1, "current": 1}
    assert server.get("/api/get_sessions") == {}, "the second is idle by now, too"


def test_agentbenchs_own_lists_choose_the_games(tmp_path):
    arena = shared_arena("alfworld", OLD)
    chosen = [arena.tasks("valid_unseen")[50], arena.tasks("valid_seen")[3]]
    paths = [f"json_2.1.1/{task.id}/game.tw-pddl" for task in chosen]
    file = tmp_path / "new_std.json"
    file.write_text(json.dumps({"pick_and_place": paths[:1], "look_at_obj": paths[1:]}))
    games = agentbench_games(arena, file)
    assert games == chosen
    server = Asked(AgentBenchWorker(arena, WorkerTerms("alfworld-std"), games).app())
    assert server.get("/api/get_indices") == [0, 1]
    session = Session(arena)
    session.reset(chosen[1])
    told = server.post("/api/start_sample", index=1)["messages"][1]["content"]
    assert session.goal in told
    for wrong in ("[]", '{"a": [3]}', "{", "[" * 50_000):
        file.write_text(wrong)
        with pytest.raises(DataError, match=r"new_std\.json"):
            agentbench_games(arena, file)


async def test_a_controller_hears_of_us_again_and_again(monkeypatch):
    heard, enough = [], asyncio.Event()

    async def receive(request):
        heard.append(await request.json())
        if len(heard) > 2:
            enough.set()
        return JSONResponse({}, 500 if len(heard) == 1 else 200)

    monkeypatch.setattr(agentbench, "HEARTBEAT_S", 0.05)
    app = Starlette(routes=[Route("/api/receive_heartbeat", receive, methods=["POST"])])
    place = Served(app, listen())
    arena = shared_arena("alfworld", BUILTIN)
    told = Controller(f"{place.url}/api/", "http://us:5021/api")
    worker = AgentBenchWorker(arena, WorkerTerms("alfworld-std", concurrency=3), controller=told)
    running = asyncio.create_task(Serving([place, Served(worker.app(), listen())]).run())
    await asyncio.wait_for(enough.wait(), 60)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    indices = list(range(134))
    expected = {"name": "alfworld-std", "address": "http://us:5021/api", "concurrency": 3}
    assert heard[-1] == {**expected, "indices": indices}


def test_the_real_agentbench_client():
    python = foreign_python("agentbench")
    plan = plan_of(shared_arena("alfworld", BUILTIN), 0)
    with served("serve", "agentbench", "alfworld", "data_path=builtin", "--port", "0") as url:
        out = run([python, SCRIPTS / "agentbench_client.py", url, json.dumps(plan)])
        refused = httpx.get(f"{url}/api/get_indices", headers={"Host": "evil.example"})
        assert httpx.get(f"{url}/api/worker_status").json()["current"] == 0, "all were freed"
    assert refused.status_code == 403
    said = json.loads(out.splitlines()[-1])
    assert said["indices"] == 134
    assert said["roles"] == ["system", "user"]
    assert said["tools"] == ["take_action"]
    assert said["won"] == [True, 1.0, "completed", "tool"]
    assert said["repeated"] == [True, 0.0, "agent invalid action"]
    assert said["no_call"] == [False, "user"]
    assert said["gone"]


def test_likeness_is_nltks():
    python = foreign_python("agentbench")
    pairs = [
        ("go to desk 1", "go to the desk 1 please"), ("look", "look"), ("look", "look around"),
        ("take apple 1 from table 1", "take apple 1"), ("open fridge 1", "close drawer 2"),
        ("go to bed 1", "bed"), ("examine desk 1", "examine the desk"), ("go to sofa 1", "go"),
    ]  # fmt: skip
    code = (
        "import json, sys\n"
        "from nltk.translate.bleu_score import sentence_bleu, SmoothingFunction\n"
        "smooth = SmoothingFunction().method4\n"
        "print(json.dumps([sentence_bleu([a.split()], b.split(), smoothing_function=smooth)"
        " for a, b in json.loads(sys.argv[1])]))"
    )
    theirs = json.loads(run([python, "-c", code, json.dumps(pairs)]).splitlines()[-1])
    assert [bleu(a, b) for a, b in pairs] == pytest.approx(theirs)
