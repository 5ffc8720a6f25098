"""AgentGym's servers, asked as its clients ask."""

import json
import time

import httpx
import pytest
from asked_server import NO_JSON, Asked, plan_of
from server_process import served

from agentquest.adapters.agentgym import AlfworldGym, WebshopGym, agentgym_app
from agentquest.adapters.arenas import agentgym_games, shared_arena
from agentquest.errors import DataError, UnknownName, UserError

OLD = {"data_path": "builtin", "dialect": "0.3"}
BUILTIN = {"data_path": "builtin"}


@pytest.mark.parametrize("benchmark", ["alfworld", "webshop"])
def test_environments_that_nobody_uses_make_room(benchmark):
    server = Asked(agentgym_app(benchmark, BUILTIN, 1, 0.001, 50))
    for _ in range(3):
        created = server.post("/create")
        assert isinstance(created["id"] if benchmark == "alfworld" else created, int)
        time.sleep(0.01)


@pytest.fixture
def alfworld():
    return Asked(AlfworldGym(shared_arena("alfworld", OLD), 2, 3600, 50).app())


def test_agentgym_alfworld(alfworld):
    arena = shared_arena("alfworld", OLD)
    assert alfworld.get("/") == "This is environment AlfWorld."
    number = alfworld.post("/create")["id"]
    assert "has not been reset" in alfworld.post("/step", id=number, action="look")["error"]
    first = alfworld.post("/reset", id=number, game=3, world_type="Text")
    assert set(first) == {"id", "observation", "available_actions", "task_type"}
    assert first["observation"].startswith("You are in the middle of a room.")
    assert first["task_type"] == "/".join(arena.task(3).id.split("/")[1:])
    assert alfworld.get(f"/observation?id={number}") == first["observation"]
    assert alfworld.get(f"/available_actions?id={number}") == first["available_actions"]
    for command in plan_of(arena, 3):
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
    server = Asked(AlfworldGym(arena, 2, 3600, 50, agentgym_games(arena, files)).app())
    number = server.post("/create")["id"]
    for game, task in enumerate(tasks):
        told = server.post("/reset", id=number, game=game, world_type="Text")["task_type"]
        assert told == "/".join(task.id.split("/")[1:])
    files[0].write_text("[{}]")
    with pytest.raises(DataError, match="not an AgentGym mapping file"):
        agentgym_games(arena, files)
    files[0].write_text("[")
    with pytest.raises(DataError, match="cannot be read"):
        agentgym_games(arena, files)
    with pytest.raises(DataError, match="two mapping files"):
        agentgym_games(arena, files * 2)


def test_agentgym_webshop():
    shop = shared_arena("webshop", BUILTIN).benchmark.shop
    server = Asked(WebshopGym(shop, 2, 3600).app())
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


def test_sessions_of_the_shop_are_freed_with_their_environments():
    shop = shared_arena("webshop", BUILTIN).benchmark.shop
    gym = WebshopGym(shop, 3, 3600)
    server = Asked(gym.app())
    for _ in range(20):
        numbers = [server.post("/create") for _ in range(3)]
        for number in numbers:
            server.post("/reset", env_idx=number, session_id=5)
            server.post("/step", env_idx=number, action="search[shirt]")
            server.post("/reset", env_idx=number, session_id=6)
        assert len(gym._server.user_sessions) == 3
        for number in numbers:
            server.post("/close", env_idx=number)
    assert server.get("/list_envs") == []
    assert len(gym._server.user_sessions) == 0


HOSTILE = ["", " ", "\x00", "\ud800", "search[\ud800]", "search[<a> x]", "search[<c>]", "click[]"]
HOSTILE += ["search[" + "a " * 10_000 + "]", "click[buy now]" * 100, "[" * 500]


@pytest.mark.parametrize("benchmark", ["alfworld", "webshop"])
def test_hostile_frames_are_answered_and_change_nothing(benchmark):
    server = Asked(agentgym_app(benchmark, BUILTIN, 2, 3600, 1000))
    made = server.post("/create")
    alfworld = benchmark == "alfworld"
    who = {"id": made["id"]} if alfworld else {"env_idx": made}
    task = {"game": 0, "world_type": "Text"} if alfworld else {"session_id": 0}
    server.post("/reset", **who, **task)
    query = f"?{next(iter(who))}={next(iter(who.values()))}"
    before = server.get(f"/available_actions{query}")
    for path in ("/reset", "/step", "/close"):
        for body in NO_JSON:
            assert server.raw(path, body, 422)["detail"]
    for wrong in (None, True, 1.5, [], {}, "1"):
        server.post("/step", 422, **dict.fromkeys(who, wrong), action="look")
        if wrong != "1":
            server.post("/step", 422, **who, action=wrong)
    assert server.get(f"/available_actions{query}") == before
    for action in HOSTILE:
        server.post("/step", **who, action=action)
        if not alfworld:
            server.get(f"/state{query}")
    server.get(f"/observation{query}")
    assert server.post("/close", **who) == {"closed": True}


def test_only_what_agentgym_has_is_served():
    with pytest.raises(UnknownName, match="there are: alfworld, webshop"):
        agentgym_app("sudoku", {}, 1, 60, 50)
    with pytest.raises(UserError, match="mapping files"):
        agentgym_app("webshop", BUILTIN, 1, 60, 50, ["mappings_train.json"])


def test_agentgym_from_the_command_line():
    """Play a game as its client does: no body to create, the id in every other request."""
    arena = shared_arena("alfworld", OLD)
    with served("serve", "agentgym", "alfworld", "data_path=builtin", "--port", "0") as url:
        who = httpx.post(f"{url}/create").json()
        body = {"game": 60, "world_type": "Text", **who}
        first = httpx.post(f"{url}/reset", json=body).json()
        assert "put " in " ".join(plan_of(arena, 60)), "the dialect of its clients"
        assert first["available_actions"]
        for command in plan_of(arena, 60):
            last = httpx.post(f"{url}/step", json={"action": command, **who}).json()
        assert (last["reward"], last["done"]) == (1.0, True)
        assert httpx.post(f"{url}/close", json=who).json() == {"closed": True}
        refused = httpx.post(f"{url}/create", headers={"Host": "evil.example"})
        assert refused.status_code == 403
        long = httpx.post(f"{url}/step", json={"action": "a" * 10**6, **who})
        assert long.status_code == 413
