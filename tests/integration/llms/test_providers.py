"""Every provider says what was said, in its own words, and loses nothing of what comes back."""

import json
from pathlib import Path
from typing import Any

import pytest
from wires import ACT, KEY, WIRES, Wire, all_wires, talking

from agentquest.errors import ContextExceeded
from agentquest.llms.failures import (
    AuthenticationFailed,
    BadRequest,
    ModelFailure,
    ModelUnavailable,
    QuotaExhausted,
)
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.messages import Message, ToolCall, Usage
from chat_faults import Fault
from said import Said

HELLO = [
    Message(role="system", content="You repeat."),
    Message(role="user", content="ACTION: look around"),
]


def same(reply: Reply) -> dict[str, Any]:
    """What two replies to the same request have in common."""
    return reply.model_dump(exclude={"latency_s", "attempts", "opaque", "tool_calls"})


@all_wires
async def test_a_reply_with_everything_in_it(wire: Wire) -> None:
    async with talking(wire, right_key=KEY, api_key=KEY) as (client, server):
        reply = await client.complete(HELLO)
    assert reply.text == "ACTION: look around"
    assert reply.kind is ReplyKind.COMPLETE
    assert reply.usage is not None
    assert reply.usage.completion_tokens == 3
    assert (reply.attempts, reply.model, reply.tool_calls, reply.opaque) == (1, "m", (), None)
    assert server.count == 1


def act_then_tell(messages: list[dict[str, Any]]) -> Said:
    """Two calls at first; then, in words, what they gave."""
    given = [message["content"] for message in messages if message["role"] == "tool"]
    if given:
        return Said(f"I saw: {' | '.join(given)}")
    calls = (("act", '{"command": "look"}'), ("act", '{"command": "go to desk 1"}'))
    return Said("Now.", thoughts="First I look.", calls=calls)


@all_wires
@pytest.mark.parametrize("stream", [False, True])
async def test_tools_are_called_and_their_results_told(wire: Wire, stream: bool) -> None:
    async with talking(wire, act_then_tell, stream=stream) as (client, server):
        reply = await client.complete(HELLO, tools=(ACT,))
        assert (reply.text, reply.reasoning) == ("Now.", "First I look.")
        assert [call.name for call in reply.tool_calls] == ["act", "act"]
        commands = [json.loads(call.arguments)["command"] for call in reply.tool_calls]
        assert commands == ["look", "go to desk 1"]
        assert len({call.id for call in reply.tool_calls}) == 2
        results = [
            Message(role="tool", tool_call_id=call.id, content=f"result {number}")
            for number, call in enumerate(reply.tool_calls)
        ]
        more = await client.complete([*HELLO, reply.message, *results], tools=(ACT,))
    assert more.text == "I saw: result 0 | result 1"
    assert more.kind is ReplyKind.COMPLETE
    assert server.count == 2


@all_wires
async def test_a_stream_brings_the_same_reply(wire: Wire) -> None:
    replies = []
    for stream in (False, True):
        async with talking(wire, act_then_tell, stream=stream) as (client, _):
            replies.append(await client.complete(HELLO, tools=(ACT,)))
    whole, pieces = replies
    assert same(whole) == same(pieces)
    assert [(call.name, json.loads(call.arguments)) for call in whole.tool_calls] == [
        (call.name, json.loads(call.arguments)) for call in pieces.tool_calls
    ]


@all_wires
async def test_a_stream_that_breaks_off_is_asked_for_again(wire: Wire) -> None:
    async with talking(wire, script=[Fault.CUT_BODY], stream=True) as (client, server):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.attempts, server.count) == ("ACTION: look around", 2, 2)


@all_wires
@pytest.mark.parametrize("fault", [Fault.RATE_LIMIT, Fault.SERVER_ERROR, Fault.OVERLOADED])
async def test_what_can_pass_is_tried_again(wire: Wire, fault: Fault) -> None:
    async with talking(wire, script=[fault]) as (client, server):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.attempts, server.count) == ("ACTION: look around", 2, 2)


@all_wires
async def test_a_reply_without_any_token_is_asked_for_again(wire: Wire) -> None:
    async with talking(wire, script=[Fault.EMPTY]) as (client, _):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.attempts) == ("ACTION: look around", 2)


@all_wires
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault.CONTEXT, ContextExceeded),
        (Fault.UNAUTHORIZED, AuthenticationFailed),
        (Fault.BAD_REQUEST, BadRequest),
        (Fault.NOT_FOUND, BadRequest),
    ],
)
async def test_what_cannot_pass_is_asked_once(
    wire: Wire, fault: Fault, kind: type[ModelFailure]
) -> None:
    async with talking(wire, script=[fault]) as (client, server):
        with pytest.raises(kind):
            await client.complete(HELLO)
    assert server.count == 1


@all_wires
@pytest.mark.parametrize(
    ("fault", "kind"), [(Fault.LENGTH, ReplyKind.TRUNCATED), (Fault.REFUSED, ReplyKind.REFUSED)]
)
async def test_what_a_reply_is_worth(wire: Wire, fault: Fault, kind: ReplyKind) -> None:
    async with talking(wire, script=[fault]) as (client, server):
        reply = await client.complete(HELLO)
    assert reply.kind is kind
    assert server.count == 1
    if fault is Fault.REFUSED and wire.name in ("openai", "responses"):
        assert reply.refusal == "I cannot help with that."


@all_wires
async def test_tokens_that_were_not_counted_stay_unknown(wire: Wire) -> None:
    async with talking(wire, script=[Fault.NO_USAGE]) as (client, _):
        reply = await client.complete(HELLO)
    assert (reply.text, reply.usage) == ("ACTION: look around", None)


@all_wires
async def test_a_kept_reply_comes_back_whole(wire: Wire, tmp_path: Path) -> None:
    async with talking(wire, act_then_tell, cache_dir=tmp_path) as (client, server):
        first = await client.complete(HELLO, tools=(ACT,), seed=1)
        again = await client.complete(HELLO, tools=(ACT,), seed=1)
        await client.complete(HELLO, tools=(ACT,), seed=2)
        await client.complete(HELLO, seed=1)
    assert again == first.model_copy(update={"cached": True})
    # Another seed is another trial, also where the API takes none; so are other tools.
    assert server.count == 3


@all_wires
async def test_a_model_is_tried_before_it_is_used(wire: Wire) -> None:
    async with talking(wire, act_then_tell) as (client, _):
        assert await client.preflight(tools=(ACT,)) == ()
    async with talking(wire, script=[Fault.NOT_FOUND]) as (client, _):
        with pytest.raises(BadRequest, match="does not have the model 'm'"):
            await client.preflight()
    async with talking(wire, right_key="another", api_key=KEY) as (client, _):
        with pytest.raises(AuthenticationFailed, match="denies access"):
            await client.preflight()
    with pytest.raises(ModelUnavailable, match="no server at"):
        await client.preflight()
    await client.close()


@all_wires
async def test_a_conversation_with_gaps_is_one_that_the_api_takes(wire: Wire) -> None:
    """Empty replies, words after results, a call that was not JSON: all of it happens."""
    call = ToolCall(id="c1", name="act", arguments="{not json")
    told = [
        *HELLO,
        Message(role="assistant", content=""),
        Message(role="user", content="Your reply was empty."),
        Message(role="assistant", content="", tool_calls=(call,)),
        Message(role="tool", tool_call_id="c1", content=""),
        Message(role="user", content="Go on."),
    ]
    async with talking(wire) as (client, server):
        reply = await client.complete(told, tools=(ACT,))
    assert reply.text == "Go on."
    sent = json.dumps(server.requests[0])
    assert "{not json" in sent
    if wire.name == "anthropic":
        roles = [message["role"] for message in server.requests[0]["messages"]]
        assert roles == ["user", "assistant", "user"]
        assert '"text": ""' not in sent


async def test_an_account_without_credit_is_not_waited_for() -> None:
    async with talking(WIRES[1], script=[Fault.NO_CREDIT]) as (client, server):
        with pytest.raises(QuotaExhausted):
            await client.complete(HELLO)
    assert server.count == 1


async def test_tokens_of_the_cache_are_told_apart() -> None:
    used = {}
    for wire in WIRES[1:]:
        async with talking(wire) as (client, _):
            used[wire.name] = (await client.complete(HELLO)).usage
    # Two words for the system, where it is an item of the input, and three for the user.
    assert used == {
        "responses": Usage(prompt_tokens=5, completion_tokens=3, cached_tokens=2),
        "anthropic": Usage(
            prompt_tokens=243, completion_tokens=3, cached_tokens=200, cache_write_tokens=40
        ),
        "gemini": Usage(prompt_tokens=3, completion_tokens=3, cached_tokens=1),
    }
