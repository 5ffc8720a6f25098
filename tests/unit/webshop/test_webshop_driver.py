"""The documented driver, in process and against a server on loopback."""

import copy
import json
import pickle
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from agentquest.benchmarks.webshop import (
    WebshopAction,
    WebshopDriver,
    WebshopObservation,
    WebshopState,
    WebshopUtils,
)
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.errors import ConfigError, NetworkError, UserError
from agentquest.lib.parsing import PARSE_FAILURE


@pytest.fixture
def driver(shop):
    return WebshopDriver(shop=shop)


def buy(driver, goal):
    driver.step(WebshopAction(value=f"search[{goal.name}]"))
    driver.step(WebshopAction(value=f"click[{goal.asin.lower()}]"))
    for value in goal.goal_options.values():
        driver.step(WebshopAction(value=f"click[{value}]"))
    return driver.step(WebshopAction(value="click[buy now]"))


def test_success_is_the_full_reward_and_buying_is_not(driver, shop):
    driver.reset(session=7)
    observation = buy(driver, shop.goals[7])
    assert (observation.success, observation.can_proceed) == (True, False)
    assert driver.outcome.success
    assert driver.metrics.export()["success"] is True
    driver.reset(session=7)
    assert not driver.outcome.done
    observation = buy(driver, shop.goals[8])
    assert observation.success
    assert not driver.outcome.success
    assert driver.metrics.export()["success"] is False
    assert driver.outcome.reward < 1


def test_shapes_of_what_is_returned(driver):
    first = driver.reset()
    assert isinstance(first, WebshopObservation)
    assert isinstance(driver.current_state, WebshopState)
    assert list(driver.current_state.value) == ["available_actions", "info", "obs"]
    assert driver.goal == first.text
    driver.step_raw("Action: search[tea]")
    value = driver.current_state.value
    assert list(value) == ["available_actions", "done", "info", "obs", "reward"]
    assert driver.metrics.export()["states"] == [{"value": value}]


def test_text_without_an_action_costs_no_step(driver):
    driver.reset()
    observation = driver.step_raw("what now?")
    assert observation.output == PARSE_FAILURE
    assert driver.metrics.interactions == []
    assert driver.unparsed == ["what now?"]


def test_invalid_actions_repeat_the_observation(driver):
    driver.reset()
    before = driver.step_raw("Action: search[tea]")
    after = driver.step_raw("Action: click[no such thing]")
    assert after.output == before.output
    assert driver.metrics.progress() == [0.0, 0.0]
    assert not driver.accepts("click[no such thing]")
    assert driver.accepts("click[next >]")


def test_admissible_actions_are_accepted(driver):
    assert driver.reset(3).admissible == ("search[<query>]",)
    observation = driver.step_raw("Action: search[tea]")
    assert "click[next >]" in observation.admissible
    assert not any(action.startswith("search") for action in observation.admissible)
    assert all(driver.accepts(action) for action in observation.admissible)
    assert driver.accepts("search[green tea]"), "as in the original, on every page"


def test_details_say_what_was_scored_and_how(driver, shop):
    driver.reset(5)
    assert driver.details()["reward"] == {}
    buy(driver, shop.goals[5])
    details = json.loads(json.dumps(driver.details()))
    assert details["goal"]["asin"] == details["bought"] == shop.goals[5].asin
    assert details["reward"]["r_type"] == 1.0
    assert details["nouns"] == shop.nouns.name
    assert driver.data_hash == shop.catalogue.digest
    assert len(driver.data_hash) == 64


def test_a_driver_can_be_copied_in_the_middle_of_an_episode(driver):
    driver.reset(2)
    driver.step_raw("Action: search[tea]")
    twins = [copy.deepcopy(driver), pickle.loads(pickle.dumps(driver))]
    move = "Action: click[next >]"
    expected = driver.step_raw(move).output
    assert [twin.step_raw(move).output for twin in twins] == [expected, expected]


def test_misuse_is_told(driver):
    with pytest.raises(UserError, match="reset"):
        driver.step(WebshopAction(value="search[tea]"))
    for wrong in (1.5, True, ["a"]):
        with pytest.raises(UserError, match="session"):
            driver.reset(session=wrong)
    with pytest.raises(ConfigError, match="base_url"):
        WebshopDriver(base_url="ftp://x")
    with pytest.raises(ConfigError, match="data"):
        WebshopDriver(base_url="http://localhost:1", data="x")


def test_a_shop_goes_with_no_other(shop):
    for given in ({"data": "x"}, {"base_url": "http://localhost:1"}):
        with pytest.raises(ConfigError, match="an existing shop was given"):
            WebshopDriver(shop=shop, **given)


def test_settings_reach_the_shop(cache, monkeypatch):
    monkeypatch.setenv("AGENTQUEST_CACHE", str(cache))
    human = WebshopDriver(goals="human", seed=20240, strict=True)
    assert (
        human.reset(session=7).output
        == WebshopDriver(goals="human", seed=20240, strict=True).reset(session=7).output
    )


class _Handler(BaseHTTPRequestHandler):
    """A server in a few lines: one session for each name in the header."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        sessions, known = self.server.sessions, self.server.known
        client = self.headers["X-Session"]
        if self.path == "/reset":
            session = sessions.reset(body.get("session"))
            known[client] = session
            answer = WebshopUtils.reset_answer(session)
        else:
            session = known[client]
            step = session.step(body["action"])
            answer = WebshopUtils.step_answer(session, step.reward, step.done)
        self._send(200, json.dumps(self.server.spoil(answer)).encode())

    def _send(self, code, content):
        self.send_response(code)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(shop):
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.sessions, server.known = Sessions(shop), {}
    server.spoil = lambda answer: answer
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join(30)
    server.server_close()


def url_of(server):
    return f"http://127.0.0.1:{server.server_address[1]}/"


def test_over_http_the_same_run_comes_out(server, driver, shop):
    remote = WebshopDriver(base_url=url_of(server))
    other = WebshopDriver(base_url=url_of(server))
    for each in (driver, remote):
        each.reset(session=11)
        other.reset(session=12)
        buy(each, shop.goals[11])
    assert remote.metrics.export() == driver.metrics.export()
    assert remote.outcome == driver.outcome
    assert remote.details() == {}


def test_a_server_that_is_not_there_is_named(server, shop):
    url = url_of(server)
    remote = WebshopDriver(base_url=url)
    remote.reset()
    server.shutdown()
    server.server_close()
    with pytest.raises(NetworkError, match=r"127\.0\.0\.1.*cannot be reached"):
        remote.reset()
    with pytest.raises(NetworkError, match="cannot be reached"):
        WebshopDriver(base_url=url).reset()


PAGE = {"obs": "x", "available_actions": {"clickables": [], "has_search_bar": True}}


@pytest.mark.parametrize(
    "answer",
    [
        *([], {}, {"obs": 3}, {"obs": "x"}, {"obs": "x", "available_actions": {}}),
        *({**PAGE, "reward": reward} for reward in (10**400, 1e308, float("nan"), -1, True, "1")),
        {**PAGE, "done": 1},
    ],
)
def test_an_answer_of_another_kind_is_refused(server, answer):
    server.spoil = lambda _: answer
    with pytest.raises(NetworkError, match=r"answer|'reward' must be a number"):
        WebshopDriver(base_url=url_of(server)).reset()


def test_an_error_of_the_server_is_passed_on(server):
    remote = WebshopDriver(base_url=url_of(server) + "deeper")
    server.RequestHandlerClass = _Refusing
    with pytest.raises(NetworkError, match="answered 404: not here"):
        remote.reset()


class _Refusing(_Handler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self._send(404, b"not here")


def test_a_shop_for_each_driver_is_not_needed(shop):
    assert isinstance(shop, Shop)
    drivers = [WebshopDriver(shop=shop) for _ in range(50)]
    texts = {driver.reset(session=number).text for number, driver in enumerate(drivers)}
    assert len(texts) == 50
