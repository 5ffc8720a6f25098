"""Talking to agents: every proper way of answering is understood, over real connections."""

import httpx
import pytest

from agentquest.a2a import limits
from agentquest.a2a.addresses import AllowList
from agentquest.a2a.client.connection import find_agent
from agentquest.a2a.client.transport import AccessDenied, AgentBroken
from agentquest.a2a.messages import first_message
from agentquest.lib import Briefing

MESSAGE = first_message(Briefing(""), "A room.", ["go to cabinet 12", "look"])


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(limits, "BUSY_WAITS_S", (0.0, 0.0))


async def said(url, headers=None, turns=1, **options):
    """What the agent answers in the last of so many turns."""
    party = await find_agent(url, 10, headers, **options)
    conversation = party.connect()
    try:
        for _ in range(turns):
            reply = await conversation.send(MESSAGE)
        return reply
    finally:
        await conversation.close()


@pytest.mark.parametrize(
    "manner",
    [
        "plain",
        "data",
        "history",
        "pieces",
        "no-zone",
        "old-card",
        "anywhere",
        "stream-only",
        "redirect",
    ],
)
async def test_correct_agents_are_understood(strange, manner):
    assert (await said(f"{strange}{manner}/", turns=2)).text == "go to cabinet 12"


async def test_parts_that_are_lines_can_be_read_as_lines(strange):
    reply = await said(f"{strange}lines/")
    assert (reply.text, reply.by_lines) == ("Sogo to cabinet 12", "So\ngo to cabinet 12")


async def test_the_address_of_the_card_will_do(strange):
    for path in ("plain/.well-known/agent-card.json", "old-card/.well-known/agent.json"):
        assert (await said(f"{strange}{path}")).text == "go to cabinet 12"


async def test_a_reply_without_text_says_what_it_had(strange):
    reply = await said(f"{strange}file/")
    assert (reply.text, reply.parts) == ("", "1 url")


async def test_a_busy_agent_is_asked_again(strange):
    assert (await said(f"{strange}busy/", turns=3)).text == "go to cabinet 12"


async def test_an_agent_that_stays_busy_is_an_error_with_its_words(strange):
    with pytest.raises(AgentBroken, match="HTTP 503: busy"):
        await said(f"{strange}status/")


async def test_silence_has_an_end(strange):
    with pytest.raises(AgentBroken, match="ReadTimeout"):
        await said(f"{strange}hang/", silence_s=0.3)


async def test_headers_are_sent_with_card_and_turns(strange):
    key = {"Authorization": "Bearer sesame"}
    assert (await said(f"{strange}key/", key)).text == "go to cabinet 12"
    with pytest.raises(AccessDenied, match="no key, no card"):
        await said(f"{strange}key/")


async def test_after_a_refusal_no_game_is_begun(strange):
    party = await find_agent(f"{strange}refuses/", 10)
    conversation = party.connect()
    with pytest.raises(AccessDenied, match=r"HTTP 403: this key is not for you\\x1b\[31m"):
        await conversation.send(MESSAGE)
    await conversation.close()
    with pytest.raises(AccessDenied, match="not called again"):
        party.connect()


async def test_other_servers_are_not_asked(strange):
    with pytest.raises(AgentBroken, match="redirects to another server"):
        await said(f"{strange}redirect-away/")
    with pytest.raises(AgentBroken, match=r"redirects to another server \(//\[\)"):
        await said(f"{strange}redirect-nowhere/")


@pytest.mark.parametrize("path", ["", ".well-known/agent-card.json"])
async def test_a_card_that_sends_us_away_is_not_followed(strange, path):
    """The address that was given is asked instead, as gateways and containers need it."""
    url = f"{strange}sends-us-away/{path}"
    assert (await said(url)).text == "go to cabinet 12"
    party = await find_agent(url, 10, allowed=AllowList(["agent.invalid"]))
    assert party.interface.url == "http://agent.invalid/"


@pytest.mark.parametrize("manner", ["bomb", "endless"])
async def test_an_answer_beyond_all_bounds_is_ended(strange, manner):
    with pytest.raises(AgentBroken, match="larger than 8,388,608 bytes"):
        await said(f"{strange}{manner}/")


async def test_the_bomb_is_one(strange):
    """What is counted is what comes out, not what was sent."""
    async with httpx.AsyncClient() as http, http.stream("POST", f"{strange}bomb/", json={}) as sent:
        assert sum([len(chunk) async for chunk in sent.aiter_raw()]) < 100_000
