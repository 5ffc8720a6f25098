"""What agents say that their models took: carried, checked, and added up."""

import asyncio
import re

import pytest
from agent_processes import agentquest

from agentquest.a2a.messages import USAGE, read_usage, write_usage
from agentquest.records.episode import REPORTED, Call
from agentquest.records.messages import Usage
from chat_server import ChatServer

CALL = Call(model="m", kind="complete", usage=Usage(prompt_tokens=7, completion_tokens=2), cost=0.5)


def test_what_was_written_is_read_again():
    (read,) = read_usage(write_usage([CALL]))
    assert (read.model, read.usage, read.cost, read.kind) == ("m", CALL.usage, 0.5, REPORTED)
    assert write_usage([]) == {}


def test_unknown_is_not_zero():
    (read,) = read_usage(write_usage([Call(model="m", kind="complete")]))
    assert (read.usage, read.cost) == (None, None)


@pytest.mark.parametrize(
    "said",
    [
        None,
        "a lot",
        {"prompt_tokens": 1},
        [5, None, "x"],
    ],
)
def test_nonsense_is_left_out(said):
    assert read_usage({USAGE: said}) == ()


@pytest.mark.parametrize(
    "entry",
    [
        {"prompt_tokens": -1, "completion_tokens": 1},
        {"prompt_tokens": 1e300, "completion_tokens": 1, "cost": float("inf")},
        {"prompt_tokens": True, "completion_tokens": "many", "cost": -3},
        {"cost": float("nan"), "model": "x" * 10_000},
    ],
)
def test_numbers_without_sense_are_unknown(entry):
    for call in read_usage({USAGE: [entry] * 100}):
        assert call.usage is None
        assert call.cost is None
        assert len(call.model) <= 200
    assert len(read_usage({USAGE: [{"model": "m"}] * 100})) == 16


async def test_the_llm_agents_tokens_are_in_the_result(green):
    async with ChatServer(lambda messages: "look", api_key="k") as server:
        variables = {
            "OPENAI_API_KEY": "k",
            "OPENAI_BASE_URL": server.url,
            "WHITE_AGENT_REASONING": "false",
            "WHITE_AGENT_PROMPT_PRICE": "1000000",
            "WHITE_AGENT_COMPLETION_PRICE": "0",
        }
        with agentquest("white", "--type", "llm", "--port", "0", **variables) as process:
            result = await asyncio.to_thread(green.assess, process.url, max_steps=3)
    data = result.data
    assert data["model_calls"] == 3
    assert data["prompt_tokens"] > 0
    assert data["completion_tokens"] > 0
    assert data["cost"] == data["prompt_tokens"]
    assert re.search(r"model calls +3\n", result.text)
    assert "Tokens and cost are as the agent reports them." in result.text
