"""Whatever is sent: never a crash, and nothing changes for what is not an action."""

import json
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from serving_process import ServerProcess, post, send

SETTINGS = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
NAMES = ("action", "session", "goal", "")
PIECES = ("search", "click", "[", "]", "<", ">", "next >", "< prev", "buy now", "<r>", "<a>", "<c>")

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30)
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3), max_leaves=5)
objects = st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), values, max_size=4)
actions = st.text(max_size=60) | st.lists(
    st.sampled_from(PIECES) | st.text(string.printable, max_size=6), max_size=8
).map("".join)


@pytest.fixture(scope="module", params=[(), ("--strict",)], ids=["default", "strict"])
def any_server(request, shop, cache, tmp_path_factory):
    with ServerProcess(tmp_path_factory.mktemp("fuzzed"), cache, *request.param) as process:
        yield process


def stand(url):
    """Where the default client stands, asked without moving."""
    return post(f"{url}/step", {"action": "where am I"}).json


def valid(action, before):
    """Whether an action can lead anywhere, by the documented rules alone."""
    name, bracket, rest = action.partition("[")
    argument = rest.rpartition("]")[0].lower()
    if not bracket or "[" in argument or not argument:
        return None  # undecided here: brackets inside brackets
    if name == "search":
        return True
    return name == "click" and argument in before["available_actions"]["clickables"]


@SETTINGS
@given(body=st.binary(max_size=200) | objects.map(lambda o: json.dumps(o).encode()))
def test_any_body_gets_an_answer(any_server, body):
    for route in ("step", "reset"):
        answer = send(f"{any_server.url}/{route}", body, {"Content-Type": "application/json"})
        assert answer.status < 500
        assert isinstance(answer.json, dict)
        assert ("error" in answer.json) == (answer.status >= 400)


@SETTINGS
@given(action=actions, page=st.sampled_from(["", "search[case]", "search[red shirt]"]))
def test_an_action_that_is_none_changes_nothing(any_server, action, page):
    post(f"{any_server.url}/reset", {})
    if page:
        post(f"{any_server.url}/step", {"action": page})
    before = stand(any_server.url)
    answer = post(f"{any_server.url}/step", {"action": action})
    after = stand(any_server.url)
    assert answer.status in (200, 422)
    if answer.status == 422 or valid(action, before) is False:
        assert after == before
    if answer.status == 200:
        assert answer.json["obs"] == after["obs"]


@SETTINGS
@given(st.lists(actions | st.integers(0, 30), max_size=12), st.integers(0, 400))
def test_any_walk_through_the_shop_is_answered(any_server, choices, number):
    """Numbers choose what can be clicked, so that walks get to every kind of page."""
    walker = {"X-Session": "walker"}
    post(f"{any_server.url}/reset", {"session": number}, walker)
    answer = post(f"{any_server.url}/step", {"action": "search[gift]"}, walker).json
    for choice in choices:
        clickables = answer["available_actions"]["clickables"]
        if isinstance(choice, int) and clickables:
            choice = f"click[{clickables[choice % len(clickables)]}]"
        received = post(f"{any_server.url}/step", {"action": str(choice)}, walker)
        assert received.status in (200, 422)
        if received.status == 200:
            answer = received.json
            assert 0 <= answer["reward"] <= 1


@SETTINGS
@given(name=st.text(st.characters(min_codepoint=32, max_codepoint=255), max_size=250))
def test_any_header_is_a_client_or_is_refused(any_server, name):
    """As far as HTTP carries it: blanks at its ends are not part of a header."""
    headers = {"X-Session": name}
    for route, fields in (("reset", {}), ("step", {"action": "search[x]"})):
        answer = post(f"{any_server.url}/{route}", fields, headers)
        assert answer.status in (200, 400, 422)
