"""AgentGym's and AgentBench's servers, asked as their clients ask."""

import json

import httpx
import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_python
from server_process import served
from starlette.testclient import TestClient

from agentquest.adapters.agentbench_server import AgentBenchWorker, Terms
from agentquest.adapters.agentgym_alfworld import AlfworldGym
from agentquest.adapters.agentgym_webshop import WebshopGym
from agentquest.adapters.arenas import shared_arena
from agentquest.adapters.bleu import bleu, nearest
from agentquest.adapters.slots import Slots
from agentquest.errors import DataError
from agentquest.lib import Session

OLD = {"data_path": "builtin", "dialect": "0.3"}
BUILTIN = {"data_path": "builtin"}


def _plan(arena, index):
    session = Session(arena)
    session.reset(index)
    return session.plan()


class _Asked:
    """A server that is asked within the process."""

    def __init__(self, app):
        self._client = TestClient(app)

    def post(self, path, status=200, **body):
        answer = self._client.post(path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def get(self, path, status=200):
        answer = self._client.get(path)
        assert answer.status_code == status, answer.text
        return answer.json()


def test_slots_are_freed_and_idle_ones_make_room():
    now = [0.0]
    slots = Slots(2, 10.0, clock=lambda: now[0])
    first, second = slots.new_number(), slots.new_number()
    assert slots.add(first, "a")
    assert slots.add(second, "b")
    assert not slots.add(slots.new_number(), "c")
    now[0] = 8.0
    assert slots.get(second) == "b"
    now[0] = 12.0
    assert slots.add(slots.new_number(), "c"), "the first was idle for too long"
    assert slots.get(first) is None
    assert slots.pop(second) == "b"
    assert slots.pop(second) is None
    assert len(slots) == 1


@pytest.fixture
def alfworld():
    return _Asked(AlfworldGym(shared_arena("alfworld", OLD), 2, 3600, 50).app())


def test_agentgym_alfworld(alfworld):
    arena = shared_arena("alfworld", OLD)
    assert alfworld.get("/") == "This is environment AlfWorld."
    number = alfworld.post("/create")["id"]
    assert "not reset" in alfworld.post("/step", id=number, action="look")["error"]
    first = alfworld.post("/reset", id=number, game=3, world_type="Text")
    assert set(first) == {"id", "observation", "available_actions", "task_type"}
    assert first["observation"].startswith("You are in the middle of a room.")
    assert first["task_type"] == "/".join(arena.task(3).id.split("/")[1:])
    assert alfworld.get(f"/observation?id={number}") == first["observation"]
    assert alfworld.get(f"/available_actions?id={number}") == first["available_actions"]
    for command in _plan(arena, 3):
        assert not command.startswith("move "), "the dialect of its clients"
        last = alfworld.post("/step", id=number, action=command)
        assert not last["observation"].startswith("You arrive at loc")
    assert (last["reward"], last["done"]) == (1.0, True)
    assert "finished" in alfworld.post("/step", id=number, action="look")["error"]
    assert "finished" in alfworld.get(f"/detail?id={number}")["error"]
    assert alfworld.post("/close", id=number) == {"closed": True}
    assert alfworld.post("/close", id=number) == {"closed": False}
    assert "not valid" in alfworld.post("/reset", id=number, game=0, world_type="Text")["error"]


def test_agentgym_alfworld_is_freed_and_says_what_is_wrong(alfworld):
    first, second = alfworld.post("/create")["id"], alfworld.post("/create")["id"]
    assert "in use" in alfworld.post("/create")["error"]
    alfworld.post("/close", id=first)
    assert "id" in alfworld.post("/create")
    assert "no game" in alfworld.post("/reset", id=second, game=9999, world_type="Text")["error"]
    assert "world_type" in alfworld.post("/reset", id=second, game=0, world_type="VR")["error"]
    alfworld.post("/reset", 422, id="x", game=0, world_type="Text")
    alfworld.post("/step", 422, id=second, action=7)
    alfworld.get("/observation?id=x", 422)
    alfworld.get(f"/observation?id={'9' * 40}", 422)


def test_agentgyms_own_mappings_choose_the_games(tmp_path):
    arena = shared_arena("alfworld", OLD)
    tasks = [arena.tasks("train")[7], arena.tasks("valid_train")[3]]
    files = []
    for task in tasks:
        _, kind, trial = task.id.split("/")
        files.append(tmp_path / f"{task.split}.json")
        files[-1].write_text(json.dumps([{"item_id": 0, "task_type": kind, "task_id": trial}]))
    server = _Asked(AlfworldGym(arena, 2, 3600, 50, files).app())
    number = server.post("/create")["id"]
    for game, task in enumerate(tasks):
        told = server.post("/reset", id=number, game=game, world_type="Text")["task_type"]
        assert told == "/".join(task.id.split("/")[1:])
    files[0].write_text("[{}]")
    with pytest.raises(DataError, match="no mapping file"):
        AlfworldGym(arena, 2, 3600, 50, files)


def test_agentgym_webshop():
    shop = shared_arena("webshop", BUILTIN).benchmark.shop
    server = _Asked(WebshopGym(shop, 2, 3600).app())
    assert server.get("/") == "ok"
    number = server.post("/create")
    assert isinstance(number, int)
    assert server.get("/list_envs") == [number]
    first, info = server.post("/reset", env_idx=number, session_id=5)
    assert info is None
    assert shop.goals[5].instruction_text in first
    assert server.get(f"/observation?env_idx={number}") == first
    assert server.get(f"/instruction_text?env_idx={number}").startswith("Instruction: ")
    assert server.get(f"/available_actions?env_idx={number}")["has_search_bar"]
    step = server.post("/step", env_idx=number, action="search[shirt]")
    assert set(step) == {"state", "reward", "done", "info"}
    assert server.get(f"/state?env_idx={number}")["url"].endswith("/shirt/1")
    server.post("/create")
    server.post("/create", 503)
    assert server.post("/close", env_idx=number) == {"closed": True}
    assert isinstance(server.post("/create"), int)
    server.post("/step", 404, env_idx=number, action="search[a]")
    server.post("/reset", 400, env_idx=server.get("/list_envs")[0], session_id=10**8)


@pytest.mark.parametrize("benchmark", ["alfworld", "webshop"])
def test_agentgym_from_the_command_line(benchmark):
    with served("serve", "agentgym", benchmark, "data_path=builtin", "--port", "0") as url:
        made = httpx.post(f"{url}/create")
        assert made.status_code == 200
    with pytest.raises(AssertionError, match="there are: alfworld, webshop"):
        served("serve", "agentgym", "sudoku").__enter__()


def _call(name="take_action", **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    calls = [{"id": "c1", "type": "function", "function": function}]
    return [{"role": "assistant", "content": "", "tool_calls": calls}]


def _worker(benchmark="alfworld", settings=OLD, **terms):
    arena = shared_arena(benchmark, settings)
    return _Asked(AgentBenchWorker(arena, Terms(f"{benchmark}-std", **terms)).app()), arena


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
    for command in _plan(arena, 4):
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
    for _ in range(4):
        out = server.post("/api/interact", session_id=1, messages=_call(action="look"))["env_out"]
    assert out["status"] == "agent invalid action"
    server.post("/api/start_sample", index=0, session_id=2)
    wrong = _call(order="look")
    out = server.post("/api/interact", session_id=2, messages=wrong)["env_out"]
    assert "takes exactly: action" in out["messages"][0]["content"]


def test_actions_are_repaired_only_when_asked_for_and_that_is_told():
    command = "go to the desk 1 please"
    plain, _ = _worker()
    plain.post("/api/start_sample", index=0, session_id=1)
    out = plain.post("/api/interact", session_id=1, messages=_call(action=command))["env_out"]
    assert out["messages"][0]["content"].startswith("Nothing happens.")
    assert "replaced_actions" not in out["metric"]
    published, arena = _worker(as_published=True)
    published.post("/api/start_sample", index=0, session_id=1)
    session = Session(arena)
    taken = nearest(command, session.reset(0).admissible)
    out = published.post("/api/interact", session_id=1, messages=_call(action=command))["env_out"]
    assert taken.startswith("go to ")
    assert out["metric"]["replaced_actions"] == 1
    assert not out["messages"][0]["content"].startswith("Nothing happens.")


def test_agentbench_webshop_and_other_benchmarks():
    server, arena = _worker("webshop", BUILTIN)
    out = server.post("/api/start_sample", index=0, session_id=1)
    names = [tool["function"]["name"] for tool in out["tools"]]
    assert names == ["search_action", "click_action"]
    assert out["messages"][1]["content"].startswith("The initial observation:\nWebShop [SEP]")
    for command in _plan(arena, 0):
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


def test_the_real_agentbench_client():
    python = foreign_python("agentbench")
    plan = _plan(shared_arena("alfworld", BUILTIN), 0)
    with served("serve", "agentbench", "alfworld", "data_path=builtin", "--port", "0") as url:
        out = run([python, SCRIPTS / "agentbench_client.py", url, json.dumps(plan)])
        refused = httpx.get(f"{url}/api/get_indices", headers={"Host": "evil.example"})
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
