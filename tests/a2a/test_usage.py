"""What agents say that their models took: carried, checked, and added up."""

import asyncio
import re

import pytest
from agent_processes import agentquest

from agentquest.a2a.client.wire import PendingReply, add_result
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


def test_what_adk_says_of_each_event_is_added_up():
    """As Google's ADK reports it: in the metadata of status updates, again in the task."""

    def metadata(event, tokens):
        used = {"promptTokenCount": tokens, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}
        return {"adk_event_id": event, "adk_author": "agent", "adk_usage_metadata": used}

    reply = PendingReply()
    for event, tokens in (("a", 10), ("b", 20)):
        update = {"kind": "status-update", "status": {"state": "working"}, "taskId": "t"}
        add_result(reply, {**update, "metadata": metadata(event, tokens)}, "m1")
    task = {"kind": "task", "id": "t", "status": {"state": "completed"}}
    add_result(reply, {**task, "metadata": metadata("b", 20)}, "m1")
    first, second = read_usage(reply.metadata)
    assert first.usage == Usage(prompt_tokens=10, completion_tokens=5, reasoning_tokens=3)
    assert second.usage == Usage(prompt_tokens=20, completion_tokens=5, reasoning_tokens=3)
    for number in range(100):
        update = {"kind": "status-update", "status": {"state": "working"}}
        add_result(reply, {**update, "metadata": metadata(f"more {number}", number)}, "m1")
    assert len(read_usage(reply.metadata)) == 16
