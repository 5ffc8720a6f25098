"""Our servers: what is refused before an agent sees it, and what they remember of whom."""

import asyncio
import gzip
import json
import re
import socket
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
import pytest
from a2a.server.context import ServerCallContext
from a2a.types import ListTasksRequest, Message, Role, Task, TaskState, TaskStatus
from agent_processes import agentquest, eventually

from agentquest.a2a import limits
from agentquest.a2a.messages import next_message
from agentquest.a2a.serving import OwnedTaskStore, ServerSettings, TaskOwner
from agentquest.http.access import Access
from agentquest.lib import Agent


@pytest.fixture(scope="module")
def white():
    with agentquest("white", "--type", "repetitive", "--port", "0") as process:
        yield process.url


@pytest.fixture(scope="module")
def player():
    """One that reads what it is told, where the other repeats itself."""
    with agentquest("white", "--type", "scripted", "--port", "0") as process:
        yield process.url


@pytest.fixture(scope="module", params=["white", "green", "player"])
def agent(request):
    """Each server: what one withstands the others must too."""
    found = request.getfixturevalue(request.param)
    return found.url if request.param == "green" else found


JSON = {"Content-Type": "application/json", "A2A-Version": "1.0"}


def call(method="SendMessage", **params):
    return {"jsonrpc": "2.0", "id": "1", "method": method, "params": params}


def turn(text="hello"):
    return call(message={"messageId": str(uuid4()), "role": "ROLE_USER", "parts": [{"text": text}]})


def post(url, content=None, headers=None, **options):
    usual = {"A2A-Version": "1.0", "Content-Type": "application/json"}
    body = json.dumps(turn() if content is None else content)
    sent = {"content": body, "headers": {**usual, **(headers or {})}, **options}
    return httpx.post(url, trust_env=False, **sent)


def test_a_proper_request_is_answered(white):
    response = post(white)
    assert response.status_code == 200
    assert response.json()["result"]["message"]["parts"] == [{"text": "go to kitchen"}]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost:8000"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example:80"}, 403),
        ({"Host": "evil.example", "Origin": "http://evil.example"}, 403),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content-Type": ""}, 415),
    ],
)
def test_a_web_page_cannot_use_it(agent, headers, status):
    assert post(agent, headers=headers).status_code == status


def test_bodies_are_bounded_and_never_unpacked(agent):
    big = json.dumps(turn("x" * limits.MAX_BODY_BYTES)).encode()
    assert post(agent, content=None).status_code == 200
    assert httpx.post(agent, content=big, headers=JSON).status_code == 413
    packed = gzip.compress(big)
    assert len(packed) < 10_000
    headers = {**JSON, "Content-Encoding": "gzip"}
    assert httpx.post(agent, content=packed, headers=headers).status_code == 415


# The last two are what agents parse: numbers without end, and controls where commands stand.
TEXTS = [
    "[" * 100_000,
    '{"a":' * 100_000,
    "\ud800",
    "\n" * 200_000,
    "\0\x1b]0;title\x07\u202e\x9b2J",
    next_message("look", f"You see a drawer {'9' * 10_000}.", (f"go to drawer {'9' * 10_000}",)),
    next_message("look\0", "\0\x1b[2J\u2028\ufeff", ("\0", "go to\x1b[2J desk 1", "\u202e")),
]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_no_text_ends_or_stalls_it(agent, text):
    raw = httpx.post(agent, content=text.encode("utf-8", "surrogatepass"), headers=JSON)
    for answer in (post(agent, turn(text)), raw, post(agent)):
        check_answer(answer)


def check_answer(answer):
    """What is wrong with a request is the client's fault, never the server's own."""
    assert answer.status_code < 500
    assert "Traceback" not in answer.text
    assert "-32603" not in answer.text


def test_the_card_is_where_any_version_looks(agent):
    cards = [httpx.get(f"{agent}.well-known/{name}.json") for name in ("agent-card", "agent")]
    assert cards[0].json() == cards[1].json()


def rpc(**content):
    return {"jsonrpc": "2.0", "id": "1", **content}


MESSAGE = {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]}
HOSTILE = [
    [turn()] * 3,
    [],
    5,
    None,
    rpc(method="Nonsense", params={}),
    rpc(method="__init__", params={"self": 1}),
    rpc(method=["SendMessage"], params={}),
    rpc(method="SendMessage", params=[]),
    rpc(method="SendMessage", params={"message": "hello"}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "parts": [{"text": 5}]}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "parts": []}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "parts": [{"text": ""}]}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "role": "ROLE_AGENT"}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "contextId": "\0" * 1000}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "contextId": "c" * 100_000}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "taskId": "nobody's"}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "parts": [{"data": {"n": 1e300}}]}}),
    rpc(method="SendMessage", params={"message": {**MESSAGE, "metadata": {"n": float("inf")}}}),
    rpc(method="SendMessage", params={"message": MESSAGE, "configuration": {"historyLength": -1}}),
    {**rpc(method="SendMessage", params={"message": MESSAGE}), "id": 10**4000},
    {**rpc(method="SendMessage", params={"message": MESSAGE}), "id": {"a": [1]}},
    {**rpc(method="SendMessage", params={"message": MESSAGE}), "id": "\ud800"},
    rpc(method="GetTask", params="\ud800"),
    rpc(method="GetTask", params={"id": "nobody's"}),
    rpc(method="CancelTask", params={"id": "../../etc/passwd"}),
    rpc(method="ListTasks", params={"pageSize": 10**9}),
    rpc(method="SubscribeToTask", params={"id": "nobody's"}),
    rpc(method="GetExtendedAgentCard", params={}),
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_no_request_ends_or_stalls_it(agent, content):
    answer = httpx.post(agent, content=json.dumps(content), headers=JSON, timeout=60)
    check_answer(answer)
    assert post(agent).status_code == 200


@pytest.mark.parametrize("body", [b'{"id":"\xff"}', b'{"id":%s}' % (b"9" * 5000), b'{"id":NaN}'])
def test_what_is_no_json_is_said_so(agent, body):
    answer = httpx.post(agent, content=body, headers=JSON)
    assert (answer.status_code, "cannot be read" in answer.text) == (400, True)


def test_it_calls_nobody_back(agent):
    """A request may name an address to be told at: that would be a way into our network."""
    with socket.create_server(("127.0.0.1", 0)) as inside:
        inside.setblocking(False)
        url = f"http://127.0.0.1:{inside.getsockname()[1]}/"
        told = {"taskPushNotificationConfig": {"url": url}, "returnImmediately": False}
        post(agent, call(message={**MESSAGE, "messageId": str(uuid4())}, configuration=told))
        configured = call("CreateTaskPushNotificationConfig", taskId="x", url=url)
        assert "error" in post(agent, configured).json()
        with pytest.raises(BlockingIOError):
            inside.accept()


def test_slow_and_vanished_clients_keep_nobody_out(agent):
    port = int(agent.rstrip("/").rpartition(":")[2])
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    try:
        for number, client in enumerate(slow):
            client.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Le"[: 1 + number % 40])
        for client in slow[::2]:
            client.close()
        assert post(agent, timeout=60).status_code == 200
    finally:
        for client in slow:
            client.close()


@pytest.mark.parametrize("machine", ["127.0.0.1", "127.0.0.2"])
def test_a_flood_of_conversations_takes_nobodys_game(machine):
    """Each client that begins many pushes out its own, and each machine too."""

    def say(client, context, text):
        message = {**MESSAGE, "messageId": str(uuid4()), "contextId": context}
        content = call(message={**message, "parts": [{"text": text}]})
        headers = JSON if machine == "127.0.0.1" else {**JSON, "Connection": "close"}
        answer = client.post(f"http://127.0.0.1:{served.port}/", json=content, headers=headers)
        return answer.json()["result"]["message"]["parts"][0]["text"]

    options = next_message("look", "a room", ("go to desk 1", "go to shelf 1"))
    transport = httpx.HTTPTransport(local_address=machine)
    with (
        agentquest("white", "--type", "alternating", "--port", "0") as served,
        httpx.Client(trust_env=False, timeout=60) as player,
        httpx.Client(trust_env=False, timeout=60, transport=transport) as flood,
    ):
        assert say(player, "game", options) == "go to desk 1"
        for number in range(limits.MAX_CONTEXTS + 20):
            say(flood, f"flood {number}", options)
        assert say(player, "game", options) == "go to shelf 1", "the game goes on where it was"


def test_with_a_token_only_the_card_is_public():
    with agentquest("white", "--type", "repetitive", "--port", "0", AGENTQUEST_TOKEN="t") as served:
        assert httpx.get(f"{served.url}.well-known/agent-card.json").status_code == 200
        assert post(served.url).status_code == 401
        assert post(served.url, headers={"Authorization": "Bearer t"}).status_code == 200


def test_a_gateway_can_use_its_own_names():
    options = ["--type", "repetitive", "--port", "0", "--allow-host", "agent.internal"]
    with agentquest("white", *options) as served:
        assert post(served.url, headers={"Host": "agent.internal:9009"}).status_code == 200
        assert post(served.url, headers={"Host": "other.internal"}).status_code == 403
    with agentquest("white", *options[:4], "--allow-host", "*") as served:
        assert post(served.url, headers={"Host": "other.internal"}).status_code == 200


class Crashing(Agent):
    async def act(self, observation):
        raise KeyError("choices")


def test_the_log_tells_of_the_agents_crashes_and_of_no_clients_mistakes():
    kind = f"{Path(__file__).stem}:{Crashing.__name__}"
    with agentquest("white", "--type", kind, "--port", "0") as served:
        for content in HOSTILE:
            httpx.post(served.url, content=json.dumps(content), headers=JSON)
        reason = post(served.url, turn()).json()["error"]["message"]
        assert re.fullmatch(r"KeyError: 'choices' at test_serving.py:\d+", reason)
        assert eventually(lambda: "KeyError: 'choices'" in served.lines)
    assert not any("Invalid" in line or "site-packages" in line for line in served.lines)


class TestTheAddressOnTheCard:
    @pytest.mark.parametrize("host", ["::1", "[::1]", "::"])
    def test_it_is_valid_whatever_kind_of_address_it_is(self, monkeypatch, host):
        monkeypatch.delenv("AGENT_URL", raising=False)
        server = ServerSettings(Access(host, insecure=True))
        with server.access.listen() as sock:
            url = urlsplit(server.url(sock))
            with socket.create_connection((url.hostname, url.port), timeout=5):
                pass
            assert server.rules(sock).names.hosts >= {url.hostname}

    def test_on_all_addresses_it_is_one_that_others_can_reach(self):
        server = ServerSettings(Access("0.0.0.0", insecure=True))
        with server.access.listen() as sock:
            url = server.url(sock)
            host = url.removeprefix("http://").partition(":")[0]
            assert host not in ("0.0.0.0", "")
            with socket.create_connection((host, sock.getsockname()[1]), timeout=5):
                pass

    def test_otherwise_it_is_the_host_that_was_asked_for(self, monkeypatch):
        monkeypatch.delenv("AGENT_URL", raising=False)
        server = ServerSettings(Access("localhost"))
        with server.access.listen() as sock:
            assert server.url(sock) == f"http://localhost:{sock.getsockname()[1]}/"
        named = ServerSettings(Access("localhost"), card_url="http://a.example/")
        with named.access.listen() as sock:
            assert named.url(sock) == "http://a.example/"


def client(name):
    return ServerCallContext(user=TaskOwner(name))


def task(number, state=TaskState.TASK_STATE_COMPLETED, history=0):
    said = [Message(role=Role.ROLE_AGENT, message_id=str(n)) for n in range(history)]
    return Task(id=f"task {number}", context_id="c", status=TaskStatus(state=state), history=said)


class TestTasks:
    async def test_they_belong_to_who_asked(self):
        store = OwnedTaskStore()
        await store.save(task(1), client("one"))
        await store.save(task(2), client("two"))
        assert await store.get("task 1", client("one")) is not None
        assert await store.get("task 1", client("two")) is None
        assert await store.get("task 1", client("connection a 1")) is None
        listed = await store.list(ListTasksRequest(), client("two"))
        assert [one.id for one in listed.tasks] == ["task 2"]
        await store.delete("task 1", client("two"))
        assert len(store) == 2

    async def test_without_a_token_strangers_see_no_list(self):
        store = OwnedTaskStore()
        await store.save(task(1), client("connection a 1"))
        assert not (await store.list(ListTasksRequest(), client("connection a 2"))).tasks
        assert (await store.list(ListTasksRequest(), client("connection a 1"))).tasks
        # The id is the key; a client may come back over another connection.
        assert await store.get("task 1", client("connection a 2")) is not None

    async def test_they_are_bounded_in_number_time_and_size(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_TASKS", 3)
        store = OwnedTaskStore()
        await store.save(task(0, TaskState.TASK_STATE_WORKING), client("one"))
        for number in range(1, 10):
            await store.save(task(number), client("one"))
        assert len(store) == 3
        assert await store.get("task 0", client("one")) is not None
        monkeypatch.setattr(limits, "FINISHED_TASK_S", 0.001)
        short = OwnedTaskStore()
        await short.save(task(1), client("one"))
        await asyncio.sleep(0.01)
        await short.save(task(2, TaskState.TASK_STATE_WORKING), client("one"))
        assert len(short) == 1
        await store.save(task(10, history=1000), client("one"))
        assert len((await store.get("task 10", client("one"))).history) == limits.MAX_TASK_HISTORY

    async def test_a_machine_that_asks_much_pushes_out_its_own(self, monkeypatch):
        monkeypatch.setattr(limits, "MAX_TASKS", 10)
        store = OwnedTaskStore()
        await store.save(task(0), client("connection a 1"))
        for number in range(1, 30):
            await store.save(task(number), client(f"connection b {number}"))
        assert await store.get("task 0", client("connection a 1")) is not None


def test_strangers_can_neither_list_nor_cancel(green, strange):
    """Over real connections: a running assessment is its asker's own."""
    asked = {"participants": {"agent": f"{strange}hang/"}, "config": {"turn_timeout": 3}}
    with httpx.Client(trust_env=False) as mine, httpx.Client(trust_env=False) as other:
        headers = {**JSON, "Accept": "text/event-stream"}
        body = turn(json.dumps(asked))["params"]
        content = call("SendStreamingMessage", **body)
        with mine.stream("POST", green.url, json=content, headers=headers) as events:
            line = next(line for line in events.iter_lines() if line.startswith("data:"))
            task_id = json.loads(line[5:])["result"]["task"]["id"]
            listed = other.post(green.url, json=call("ListTasks"), headers=JSON).json()
            assert task_id not in json.dumps(listed)
            known = other.post(green.url, json=call("GetTask", id=task_id), headers=JSON).json()
            assert known["result"]["id"] == task_id
