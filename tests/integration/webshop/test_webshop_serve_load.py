"""Many shoppers at once, and servers that are killed."""

import asyncio
import random
import threading

import aiohttp
import pytest
from serving_process import ServerProcess, post, send

from agentquest.benchmarks.webshop import WebshopAction, WebshopDriver, WebshopUtils
from agentquest.benchmarks.webshop.serving.api import for_agents
from agentquest.benchmarks.webshop.serving.requests import SessionLimits, run_step
from agentquest.benchmarks.webshop.shop.shop import ShoppingSession
from agentquest.errors import NetworkError
from agentquest.http.access import Access
from agentquest.http.serving import Serving

CLIENTS = 200
STEPS = 12
WORDS = ("case", "soap", "red", "tea", "lamp", "shirt", "cotton", "<r>", "pan", "gift set")


def choose(rng, answer):
    """Any possible action, or now and then one that is not."""
    clickables = answer["available_actions"]["clickables"]
    kind = rng.random()
    if kind < 0.1:
        return rng.choice(["click[nothing]", "buy it", "search[]", "click[search]"])
    if kind < 0.3 or not clickables or clickables == ["search"]:
        return f"search[{rng.choice(WORDS)} {rng.choice(WORDS)}]"
    return f"click[{rng.choice(clickables)}]"


async def play(http, url, number, by_header):
    """One shopper's visit: all that was sent and answered."""
    rng = random.Random(number)
    headers = {"X-Session": f"client {number}"} if by_header else {}
    named = {} if by_header else {"session": number}

    async def ask(route, fields):
        async with http.post(f"{url}/{route}", json=fields, headers=headers) as response:
            assert response.status == 200, await response.text()
            return await response.json()

    answers = [("", await ask("reset", {"session": number}))]
    for _ in range(STEPS):
        action = choose(rng, answers[-1][1])
        answers.append((action, await ask("step", named | {"action": action})))
    return answers


async def play_all(url):
    connector = aiohttp.TCPConnector(limit=CLIENTS)
    async with aiohttp.ClientSession(connector=connector) as http:
        visits = (play(http, url, number, number % 2 == 0) for number in range(CLIENTS))
        return await asyncio.gather(*visits)


def check_one_by_one(shop, played):
    """Each visit again, alone and in process."""
    for number, visit in enumerate(played):
        session = ShoppingSession(
            shop, str(number), shop.goals[number], random.Random(f"{shop.seed}/{number}")
        )
        assert visit[0][1] == WebshopUtils.reset_answer(session)
        for action, answer in visit[1:]:
            step = session.step(action)
            assert answer == WebshopUtils.step_answer(session, step.reward, step.done), action


async def test_hundreds_of_sessions_at_once_each_as_if_alone(server, shop):
    played = await play_all(server.url)
    assert len(played) == CLIENTS
    assert any(answer["done"] for visit in played for _, answer in visit[1:])
    check_one_by_one(shop, played)


async def test_sessions_stay_apart_in_threads_too(shop, monkeypatch):
    """A large catalogue is searched in threads; here the small one is."""
    monkeypatch.setattr("agentquest.benchmarks.webshop.serving.requests.INLINE_PRODUCTS", 0)
    served = for_agents(
        shop, SessionLimits(CLIENTS, session_ttl_s=3600), Access(), Access().listen()
    )
    url = served.url
    running = asyncio.create_task(Serving([served]).run())
    try:
        check_one_by_one(shop, await play_all(url))
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_work_in_threads_leaves_the_loop_free():
    started, released = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert released.wait(60)
        return "done"

    running = asyncio.create_task(run_step(10**6, slow))
    assert await asyncio.to_thread(started.wait, 60)
    released.set()  # reached although `slow` is under way
    assert await running == "done"


async def test_steps_of_one_session_do_not_overtake_each_other(server):
    """Fifty clicks on Next at once lead to page 51, not to one of the pages before."""
    header = {"X-Session": "impatient"}
    post(f"{server.url}/reset", {"session": 5}, header)
    post(f"{server.url}/step", {"action": "search[red]"}, header)
    async with aiohttp.ClientSession(headers=header) as http:

        async def click():
            async with http.post(f"{server.url}/step", json={"action": "click[next >]"}) as answer:
                return (await answer.json())["obs"]

        pages = await asyncio.gather(*(click() for _ in range(50)))
    shown = sorted(int(obs.split("Page ")[1].split()[0]) for obs in pages)
    assert shown == list(range(2, 52))


def test_a_killed_server_gives_errors_and_its_successor_no_wrong_page(shop, cache, tmp_path):
    first = ServerProcess(tmp_path, cache)
    drivers = [WebshopDriver(base_url=first.url) for _ in range(5)]
    for number, driver in enumerate(drivers):
        driver.reset(session=number)
        driver.step(WebshopAction("search[shirt]"))
    post(f"{first.url}/reset")
    post(f"{first.url}/reset", {"session": 9})
    first.kill()
    for driver in drivers:
        with pytest.raises(NetworkError, match="cannot be reached"):
            driver.step(WebshopAction("click[next >]"))
    with ServerProcess(tmp_path, cache, port=first.port) as second:
        assert send(second.url).json == {"test": "okay"}
        for driver in drivers:
            with pytest.raises(NetworkError, match=r"404.*POST /reset"):
                driver.step(WebshopAction("click[next >]"))
        refused = post(f"{second.url}/step", {"action": "click[next >]"})
        assert (refused.status, "POST /reset" in refused.json["error"]) == (409, True)
        refused = post(f"{second.url}/step", {"action": "click[next >]", "session": 9})
        assert (refused.status, "POST /reset" in refused.json["error"]) == (404, True)
        for number, driver in enumerate(drivers):
            driver.reset(session=number)
            after = driver.step(WebshopAction("search[shirt]"))
            assert shop.goals[number].instruction_text in after.text


def test_a_server_that_is_asked_to_stop_stops(shop, cache, tmp_path):
    with ServerProcess(tmp_path, cache) as process:
        post(f"{process.url}/reset")
        assert process.stop() == 143
