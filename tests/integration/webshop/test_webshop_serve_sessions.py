"""Sessions belong to clients, and no client can take another's away."""

import asyncio
import json
import time
from http.client import HTTPConnection
from urllib.parse import urlsplit

import aiohttp
import pytest
from serving_process import ServerProcess, post, send

from agentquest.benchmarks.webshop import WebshopAction, WebshopDriver
from agentquest.errors import UserError


class Kept:
    """A client that keeps its connection open and knows nothing of cookies or headers."""

    def __init__(self, url):
        self.connection = HTTPConnection(urlsplit(url).netloc, timeout=60)

    def post(self, route, fields):
        headers = {"Content-Type": "application/json"}
        self.connection.request("POST", f"/{route}", json.dumps(fields), headers)
        return json.loads(self.connection.getresponse().read())


def test_two_clients_with_one_number_have_a_session_each(server, shop):
    first, second = Kept(server.url), Kept(server.url)
    for client in (first, second):
        assert shop.goals[31].instruction_text in client.post("reset", {"session": 31})["obs"]
    step = {"session": 31, "action": "search[lamp]"}
    assert "Page 1" in first.post("step", step)["obs"]
    where = {"session": 31, "action": "where am I"}
    assert second.post("step", where)["available_actions"]["has_search_bar"]
    assert "Page 2" in first.post("step", {"session": 31, "action": "click[next >]"})["obs"]
    assert "Page 1" in second.post("step", step)["obs"]
    assert "Page 2" in first.post("step", where)["obs"]


async def test_cookies_tell_clients_apart(server):
    """Also when each request comes over a connection of its own."""

    async def play(pages):
        jar = aiohttp.CookieJar(unsafe=True)
        connector = aiohttp.TCPConnector(force_close=True)
        async with aiohttp.ClientSession(cookie_jar=jar, connector=connector) as http:

            async def ask(route, **fields):
                body = {"session": 32} | fields
                async with http.post(f"{server.url}/{route}", json=body) as answer:
                    assert answer.status == 200, await answer.text()
                    return await answer.json()

            await ask("reset")
            await ask("step", action="search[red]")
            for _ in range(pages):
                await asyncio.sleep(0)
                shown = await ask("step", action="click[next >]")
            return shown["obs"]

    shown = await asyncio.gather(*(play(pages) for pages in range(1, 6)))
    for pages, obs in enumerate(shown, 1):
        assert f"Page {pages + 1} " in obs


def test_who_cannot_be_told_apart_is_asked_to_say_who_they_are(server):
    """Numbers only, and a new connection each time: one is served, two are never mixed up."""
    number = {"session": 33}
    post(f"{server.url}/reset", number)
    assert "Page 1" in post(f"{server.url}/step", number | {"action": "search[tea]"}).json["obs"]
    post(f"{server.url}/reset", number)
    refused = post(f"{server.url}/step", number | {"action": "click[next >]"})
    assert refused.status == 409
    assert "X-Session" in refused.json["error"]
    named = {"X-Session": "me"}
    post(f"{server.url}/reset", number, named)
    assert post(f"{server.url}/step", {"action": "search[tea]"}, named).status == 200


def test_a_number_that_was_played_to_the_end_can_be_played_again(server, shop):
    number = {"session": 34}
    for _ in range(3):
        post(f"{server.url}/reset", number)
        for action in ("search[lamp]", "", "click[buy now]"):
            if not action:
                where = post(f"{server.url}/step", number | {"action": "?"}).json
                action = f"click[{where['available_actions']['clickables'][2]}]"
            answer = post(f"{server.url}/step", number | {"action": action})
            assert answer.status == 200, answer.body
        assert answer.json["done"]


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_no_session(server, shop, name):
    for route, fields in (("reset", {}), ("step", {"action": "search[x]"})):
        answer = post(f"{server.url}/{route}", fields | {"session": name})
        assert answer.status == 400
        assert "session" in answer.json["error"]
    for driver in (WebshopDriver(shop=shop), WebshopDriver(base_url=server.url)):
        with pytest.raises(UserError, match="session"):
            driver.reset(session=name)
        driver.reset(session=1)
        driver.step(WebshopAction(f"search[{name}]"))
        assert driver.step(WebshopAction(f"search[lamp {name}]")).text


def test_a_flood_of_resets_takes_nobodys_session(shop, cache, tmp_path):
    """Over one connection, over many, with numbers, names and headers."""
    with ServerProcess(tmp_path, cache, "--max-sessions", "1500") as process:
        guests = [{"X-Session": f"guest {n}"} for n in range(3)]
        for number, guest in enumerate(guests):
            post(f"{process.url}/reset", {"session": number}, guest)
        post(f"{process.url}/step", {"action": "search[tea]"}, guests[0])
        flood = Kept(process.url)
        for number in range(1700):
            flood.post("reset", {"session": f"flood {number}"})
            flood.post("reset", {"session": number})
        statuses = [
            post(f"{process.url}/reset", {"session": f"other {number}"}).status
            for number in range(300)
        ]
        assert set(statuses) == {200}
        for guest in guests:
            assert post(f"{process.url}/step", {"action": "search[lamp]"}, guest).status == 200
        assert send(f"{process.url}/healthz").json["sessions"] <= 1500


def test_a_session_past_its_time_is_dropped_without_anybody_asking(shop, cache, tmp_path):
    with ServerProcess(tmp_path, cache, "--session-ttl", "1") as process:
        for number in range(5):
            post(f"{process.url}/reset", {"session": f"s{number}"})
        for _ in range(300):
            if not send(f"{process.url}/healthz").json["sessions"]:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("the sessions are still there")


def test_many_resets_of_one_client_are_one_session(server):
    before = send(f"{server.url}/healthz").json["sessions"]
    client = Kept(server.url)
    for number in range(200):
        client.post("reset", {"session": number})
    assert send(f"{server.url}/healthz").json["sessions"] == before + 1
