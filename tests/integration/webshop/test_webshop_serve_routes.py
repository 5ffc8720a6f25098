"""The documented routes, the sessions behind them, and what is refused."""

import json
import random
import subprocess
import sys

import pytest
from serving_process import START, ServerProcess, post, send

from agentquest.benchmarks.webshop import WebshopDriver, WebshopUtils
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import ShoppingSession

JSON = {"Content-Type": "application/json"}


@pytest.fixture
def fresh(shop, cache, tmp_path):
    """A server that nobody has used yet."""
    with ServerProcess(tmp_path, cache) as process:
        yield process


def written(content):
    """JSON as the original writes it."""
    return json.dumps(content, sort_keys=True, separators=(",", ":")).encode() + b"\n"


def test_a_client_without_sessions_is_answered_as_documented_byte_for_byte(fresh, shop):
    sessions = Sessions(shop)
    assert send(fresh.url).body == b'{"test":"okay"}\n'
    for _ in range(3):
        session = sessions.reset()
        answer = post(f"{fresh.url}/reset")
        assert answer.status == 200
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.body == written(WebshopUtils.reset_answer(session))
        for action in ("search[red case]", "click[next >]", "click[nothing]", "search[]", ""):
            step = session.step(action)
            expected = WebshopUtils.step_answer(session, step.reward, step.done)
            assert post(f"{fresh.url}/step", {"action": action}).body == written(expected)
    assert b'"reward":0}' in post(f"{fresh.url}/step", {"action": "click[nothing]"}).body
    assert b'"reward":0.0}' in post(f"{fresh.url}/step", {"action": "search[pan]"}).body


def test_a_body_that_says_nothing_is_as_good_as_none(server):
    for body in (b"", b"{}", b" \n", b'{"session": null}'):
        assert send(f"{server.url}/reset", body, JSON).status == 200
    assert send(f"{server.url}/reset", method="POST").status == 200


def test_a_body_that_does_not_say_json_is_refused(server):
    """A form of a web page cannot say it, and the original does not read it either."""
    refused = send(f"{server.url}/step", b'{"action": "x"}', {"Content-Type": "text/plain"})
    assert refused.status == 415
    assert "application/json" in refused.json["error"]


def test_routes_have_their_methods(server):
    for route in ("reset", "step"):
        refused = send(f"{server.url}/{route}")
        assert (refused.status, refused.headers["Allow"]) == (405, "POST")
        assert "error" in refused.json
    assert send(f"{server.url}/nowhere").json == {"error": "Not Found"}


def test_a_number_plays_that_goal_whatever_was_before(server, shop):
    post(f"{server.url}/reset", {"session": "7"})
    header = {"X-Session": "any"}
    for wanted in (7, 0, len(shop.goals) - 1, 7):
        answer = post(f"{server.url}/reset", {"session": wanted}, header).json
        assert shop.goals[wanted].instruction_text in answer["obs"]
        fields = {"session": wanted, "action": "search[tea]"}
        step = post(f"{server.url}/step", fields, header).json
        assert shop.goals[wanted].instruction_text in step["obs"]


def test_a_name_keeps_its_goal_and_clients_do_not_meet(server):
    def reset(**kwargs):
        return post(f"{server.url}/reset", **kwargs).json["obs"]

    first = reset(fields={"session": "ada"})
    for _ in range(3):
        reset(fields=None)
        assert reset(fields={"session": "ada"}) == first
        assert reset(fields={"session": "ada"}, headers={"X-Session": "c1"}) == first
    post(f"{server.url}/step", {"session": "ada", "action": "search[lamp]"})
    other = post(f"{server.url}/step", {"action": "click[search]"}, {"X-Session": "c1"}).json
    assert other["obs"] == first


def test_a_header_names_the_client_and_the_body_what_it_plays(server, shop):
    header = {"X-Session": "client"}
    post(f"{server.url}/reset", {"session": 3}, header)
    for fields in ({}, {"session": 3}, {"session": "client"}):
        answer = post(f"{server.url}/step", fields | {"action": "search[oil]"}, header)
        assert shop.goals[3].instruction_text in answer.json["obs"]
    refused = post(f"{server.url}/step", {"action": "search[oil]", "session": 4}, header)
    assert refused.status == 409
    assert "POST /reset" in refused.json["error"]
    named = post(f"{server.url}/step", {"action": "click[next >]", "session": "client"})
    assert "Page 2" in named.json["obs"]  # a name in the body is the same client


def test_each_reset_of_a_header_client_is_a_new_problem(server):
    header = {"X-Session": "several"}
    assert len({post(f"{server.url}/reset", {}, header).body for _ in range(5)}) > 1


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[" * 60_000, 400, "nested too deeply"),
        (b"9" * 5000, 400, "not JSON"),
        (b"[]", 400, "object"),
        (b'"search[x]"', 400, "object"),
        (b"{}", 422, "action is missing"),
        (b"", 422, "action is missing"),
        (b'{"action": null}', 422, "action must be a text, not null"),
        (b'{"action": 7}', 422, "action must be a text, not a number"),
        (b'{"action": ["search[x]"]}', 422, "action must be a text, not a list"),
        (b'{"action": "' + b"x" * 10_001 + b'"}', 413, "longer than"),
        (b'{"action": "' + b"x" * 70_000 + b'"}', 413, "larger than"),
        (b'{"action": "x", "sesion": 1}', 422, "unknown field 'sesion'"),
        (b'{"action": "x", "session": true}', 422, "session must be"),
        (b'{"action": "x", "session": 1.5}', 422, "session must be"),
        (b'{"action": "x", "session": ""}', 422, "1 to 200"),
        (b'{"action": "x", "session": 1e400}', 422, "session must be"),
        (b'{"action": "x", "session": ' + b"9" * 30 + b"}", 422, "too large"),
        (b'{"action": "x", "session": "nobody"}', 404, "POST /reset"),
        (b'{"action": "x", "session": 999999}', 404, "POST /reset"),
    ],
)
def test_bad_input_is_refused_with_a_reason(server, body, status, says):
    post(f"{server.url}/reset")
    before = post(f"{server.url}/step", {"action": "search[soap]"}).body
    answer = send(f"{server.url}/step", body, JSON)
    assert answer.status == status
    assert list(answer.json) == ["error"]
    assert says in answer.json["error"]
    after = post(f"{server.url}/step", {"action": "look around"}).body
    assert after.replace(b'"reward":0}', b'"reward":0.0}') == before


def test_goals_that_do_not_exist_are_refused(server, shop):
    for number in (-1, len(shop.goals)):
        answer = post(f"{server.url}/reset", {"session": number})
        assert answer.status == 422
        assert f"0 to {len(shop.goals) - 1}" in answer.json["error"]


def test_pages_of_other_sites_cannot_send_actions(server):
    for header in ("Origin", "Referer"):
        for value in ("https://elsewhere.example", "null", "http://[", ""):
            answer = post(f"{server.url}/reset", {}, {header: value})
            assert answer.status == 403, (header, value)
    assert post(f"{server.url}/reset", {}, {"Origin": server.url}).status == 200


def test_a_name_that_was_made_to_point_here_is_refused(server, shop, cache, tmp_path):
    """DNS rebinding: Host and Origin agree, but the name is not ours."""
    rebound = {"Host": "evil.example", "Origin": "http://evil.example"}
    assert post(f"{server.url}/reset", {}, rebound).status == 403
    with ServerProcess(tmp_path, cache, "--allow-host", "shop.example") as named:
        known = {"Host": "shop.example", "Origin": "http://shop.example"}
        assert post(f"{named.url}/reset", {}, known).status == 200
        assert post(f"{named.url}/reset", {}, rebound).status == 403


def test_a_token_is_asked_of_agents_where_one_is_set(shop, cache, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTQUEST_TOKEN", "s3cret")
    with ServerProcess(tmp_path, cache) as closed:
        assert post(f"{closed.url}/reset").status == 401
        assert send(closed.url).status == 200
        assert post(f"{closed.url}/reset", {}, {"Authorization": "Bearer s3cret"}).status == 200


def test_searches_that_crash_the_original_are_refused_when_strict(cache, shop, tmp_path, server):
    with ServerProcess(tmp_path, cache, "--strict") as strict:
        post(f"{strict.url}/reset")
        for action in ("search[<a> soft]", "search[<c>]", "search[<A>]"):
            answer = post(f"{strict.url}/step", {"action": action})
            assert (answer.status, "original" in answer.json["error"]) == (422, True)
        assert post(f"{strict.url}/step", {"action": "search[<c> beauty]"}).status == 200
    post(f"{server.url}/reset")
    for action in ("search[<a> soft]", "search[<c>]"):
        answer = post(f"{server.url}/step", {"action": action})
        assert answer.json["available_actions"]["clickables"] == ["search"]


def test_health_and_openapi_speak_of_this_server(server, shop):
    health = send(f"{server.url}/healthz").json
    assert health["status"] == "ok"
    assert (health["products"], health["goals"]) == (len(shop.catalogue), len(shop.goals))
    assert health["data_hash"] == shop.catalogue.digest
    document = send(f"{server.url}/openapi.json").json
    assert set(document["paths"]) == {"/", "/reset", "/step", "/healthz"}
    schema = document["paths"]["/step"]["post"]["responses"]["200"]["content"]
    properties = schema["application/json"]["schema"]["properties"]
    post(f"{server.url}/reset")
    assert set(properties) == set(post(f"{server.url}/step", {"action": "x"}).json)


def test_the_driver_plays_on_the_server_as_in_process(server, shop):
    served, local = WebshopDriver(base_url=server.url), WebshopDriver(shop=shop)
    for number in (1, 44):
        assert served.reset(session=number).export() == local.reset(session=number).export()
        for action in ("search[case]", "click[next >]", "search[<r>]", "click[back to search]"):
            ours = local.step(local.action_class(value=action))
            assert served.step(served.action_class(value=action)).export() == ours.export()
        assert served.metrics.export() == local.metrics.export()


def test_the_number_of_sessions_is_bounded_and_the_longest_unused_goes(shop, cache, tmp_path):
    with ServerProcess(tmp_path, cache, "--max-sessions", "5") as small:
        for number in range(5):
            post(f"{small.url}/reset", {"session": number})
        post(f"{small.url}/step", {"session": 0, "action": "search[x]"})
        post(f"{small.url}/reset", {"session": "one more"})
        assert send(f"{small.url}/healthz").json["sessions"] == 5
        statuses = [
            post(f"{small.url}/step", {"session": n, "action": "search[x]"}).status
            for n in (0, 1, 2)
        ]
        assert statuses == [200, 404, 200]


def run(*args):
    return subprocess.run(
        [sys.executable, "-c", START, "serve", *args], capture_output=True, text=True, timeout=60
    )


def test_what_cannot_be_served_is_said_in_a_line(server, tmp_path):
    taken = run("webshop", "--port", str(server.port))
    assert taken.returncode == 2
    assert (
        f"port {server.port} on 127.0.0.1 is in use by another program; stop it, or" in taken.stderr
    )
    assert "there are: webshop" in run("alfworld").stderr
    assert "--site" in run("webshop", "--records", str(tmp_path)).stderr
    assert "Traceback" not in taken.stderr


def test_a_missing_extra_is_named():
    code = f"import sys; sys.modules['uvicorn'] = None; {START}"
    done = subprocess.run(
        [sys.executable, "-c", code, "serve", "webshop"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "serving needs uvicorn: pip install " in done.stderr
    assert "[serve]" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_session_in_the_server_is_a_session_of_the_shop(server, shop):
    """The same goal, the same random numbers: `<r>` shows the same products."""
    post(f"{server.url}/reset", {"session": 12})
    session = ShoppingSession(shop, "12", shop.goals[12], random.Random(f"{shop.seed}/12"))
    for _ in range(3):
        session.step("search[<r>]")
        answer = post(f"{server.url}/step", {"session": 12, "action": "search[<r>]"}).json
        assert answer["obs"] == session.observe()
