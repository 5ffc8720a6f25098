"""Odd replies in played ALFWorld games: each costs what is documented, and play goes on."""

import json
from typing import Any
from urllib.parse import urlsplit

import pytest
from rule_players import by_tools, by_words
from wires import ACT, Wire, all_wires

from agentquest.benchmarks.alfworld.explorer import AlfWorldExplorer
from agentquest.config import load_config
from agentquest.records.episode import EpisodeRecord
from agentquest.running.run import Run
from episode_players import play_unrecorded
from llm_servers.chat_stream import chat_chunks
from llm_servers.faulty_proxy import FaultyProxy, http

Calls = tuple[tuple[str, str], ...]
_STOP = {"openai": "stop", "responses": "completed", "anthropic": "end_turn", "gemini": "STOP"}


def write_reply(wire: str, text: str = "", calls: Calls = (), stop: str = "") -> dict[str, Any]:
    """What a model said, in its provider's format."""
    named = [(f"odd-{place}", *call) for place, call in enumerate(calls)]
    stop = stop or _STOP[wire]
    if wire == "openai":
        tools = [
            {"id": one, "type": "function", "function": {"name": name, "arguments": given}}
            for one, name, given in named
        ]
        message = {"role": "assistant", "content": text or None, "tool_calls": tools}
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        return {"choices": [{"message": message, "finish_reason": stop}], "usage": usage}
    if wire == "gemini":
        parts = [{"functionCall": {"name": name, "args": _read(given)}} for _, name, given in named]
        content = {"parts": [*([{"text": text}] if text else []), *parts]}
        usage = {"promptTokenCount": 1, "candidatesTokenCount": 1}
        return {
            "candidates": [{"content": content, "finishReason": stop}],
            "usageMetadata": usage,
        }
    usage = {"input_tokens": 1, "output_tokens": 1}
    if wire == "anthropic":
        used = [
            {"type": "tool_use", "id": one, "name": name, "input": _read(given)}
            for one, name, given in named
        ]
        said = [{"type": "text", "text": text}] if text else []
        return {"content": [*said, *used], "stop_reason": stop, "usage": usage}
    items = [
        {"type": "function_call", "call_id": one, "name": name, "arguments": given}
        for one, name, given in named
    ]
    words = [{"type": "output_text", "text": text}]
    reply = {"status": stop, "output": [{"type": "message", "content": words}, *items]}
    return {**reply, "usage": usage}


def _read(given: str) -> Any:
    """Arguments where the API has an object; text that is none comes as it is."""
    try:
        return json.loads(given)
    except ValueError:
        return given


def write_refusals(wire: str) -> dict[str, dict[str, Any]]:
    """All the ways in which a provider says that it or its model will not answer."""
    if wire == "openai":
        refused = write_reply(wire, stop="stop")
        refused["choices"][0]["message"]["refusal"] = "I will not."
        return {"refusal": refused, "filter": write_reply(wire, "go", stop="content_filter")}
    if wire == "responses":
        part = {"type": "refusal", "refusal": "I will not."}
        refused = write_reply(wire)
        refused["output"][0]["content"] = [part]
        cut = write_reply(wire, "go", stop="incomplete")
        return {"refusal": refused, "filter": {**cut, "incomplete_details": _FILTERED}}
    if wire == "anthropic":
        return {
            "refusal": write_reply(wire, stop="refusal"),
            "refusal half-way": write_reply(wire, "Well", stop="refusal"),
        }
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": None}
    stops = ("SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION")
    return {"prompt": blocked, **{stop: write_reply(wire, stop=stop) for stop in stops}}


_FILTERED = {"reason": "content_filter"}
LOOK = ("act", '{"command": "look"}')
# Calls of a reply, and how the steps that they cost are recorded.
CALLS: dict[str, tuple[Calls, list[str]]] = {
    "not JSON": ((("act", "look"),), ["malformed_call"]),
    "cut JSON": ((("act", '{"command": "lo'),), ["malformed_call"]),
    "list": ((("act", '["look"]'),), ["malformed_call"]),
    "number": ((("act", "5"),), ["malformed_call"]),
    "null": ((("act", "null"),), ["malformed_call"]),
    "nothing": ((("act", "{}"),), ["malformed_call"]),
    "wrong type": ((("act", '{"command": ["look"]}'),), ["malformed_call"]),
    "true": ((("act", '{"command": true}'),), ["malformed_call"]),
    "further key": ((("act", '{"command": "look", "why": "x"}'),), ["malformed_call"]),
    "unknown tool": ((("walk", '{"command": "look"}'),), ["malformed_call"]),
    "huge": ((("act", json.dumps({"command": "look " * 20_000})),), ["tool_call"]),
    "odd letters": ((("act", json.dumps({"command": "\ud800\x00"})),), ["tool_call"]),
    "several": ((LOOK, LOOK), ["tool_call", "further_call"]),
    "several, one wrong": (
        (LOOK, ("act", "{}"), LOOK),
        ["tool_call", "malformed_call", "further_call"],
    ),
}


def write_stream(wire: str, server: Any, odd: dict[str, Any]) -> bytes:
    """The same reply in pieces, as its provider streams them."""
    if wire == "openai":
        events = chat_chunks({"id": "c", "created": 1, "model": "m", **odd})
    elif wire == "responses":
        events = [{"type": "response.completed", "response": odd}]
    else:
        events = [odd] if "promptFeedback" in odd else server.events(odd)
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


async def play_with(wire: Wire, agent: str, stream: bool, odd: dict[str, Any]) -> EpisodeRecord:
    """One game in which the second answer is this one."""
    explorer = AlfWorldExplorer
    answer = by_words(explorer) if agent == "react" else by_tools(explorer, ACT)
    async with wire.server(answer) as server:
        body = write_stream(wire.name, server, odd) if stream else json.dumps(odd).encode()
        where = urlsplit(server.url)
        origin = f"{where.scheme}://{where.netloc}"
        async with FaultyProxy(origin, {"odd": lambda sound: http(200, body)}, 2, 1) as proxy:
            url = proxy.origin + where.path
            settings: dict[str, Any] = {
                "benchmark": "alfworld",
                "benchmark_settings": {"data_path": "builtin"},
                "num_games": 1,
                "max_steps": 60,
                "agent_faults": "lose",
                "agent": {"name": agent, **({"history_length": 99} if agent == "react" else {})},
                "llm": {
                    "provider": wire.name,
                    "model": "m",
                    "base_url": url,
                    "api_key_env": None,
                    "wait_interval": 0.001,
                    "stream": stream,
                },
            }
            (record,) = await play_unrecorded(Run(load_config(settings=settings)[0]))
    assert proxy.served.total() == 1
    return record


def check(record: EpisodeRecord, hows: list[str], usual: str, kind: str) -> None:
    """The odd steps are what they should be, the others usual; nothing was asked again."""
    rest = len(record.steps) - len(hows) - 1
    assert [step.how for step in record.steps] == [usual, *hows, *[usual] * rest]
    assert (record.end.value, record.success) == ("solved", True)
    first = record.steps[1]
    assert (first.calls[0].kind, first.calls[0].attempts) == (kind, 1)
    assert [len(step.calls) for step in record.steps[2 : len(hows) + 1]] == [0] * (len(hows) - 1)
    for step, how in zip(record.steps[1:], hows, strict=False):
        has_action = how in ("tool_call", "further_call")
        assert (step.action is not None) == has_action
        assert has_action or (not step.valid and "othing was done" in step.observation)
    assert EpisodeRecord.model_validate_json(record.model_dump_json()) == record


whole_and_streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


@all_wires
@whole_and_streamed
async def test_calls_cost_a_step_each_as_they_are(wire: Wire, stream: bool) -> None:
    for calls, hows in CALLS.values():
        record = await play_with(wire, "tools", stream, write_reply(wire.name, calls=calls))
        check(record, hows, "tool_call", "complete")


@all_wires
@whole_and_streamed
@pytest.mark.parametrize("agent", ["react", "tools"])
async def test_refusals_and_silence_are_the_model_s_own(
    wire: Wire, stream: bool, agent: str
) -> None:
    usual = "exact" if agent == "react" else "tool_call"
    for odd in write_refusals(wire.name).values():
        check(await play_with(wire, agent, stream, odd), ["refused"], usual, "refused")
    silent = [write_reply(wire.name), write_reply(wire.name, " \n")]
    if wire.name == "gemini":  # a call that was no JSON: Google keeps it
        silent.append(write_reply(wire.name, stop="MALFORMED_FUNCTION_CALL"))
    for odd in silent:
        check(await play_with(wire, agent, stream, odd), ["empty"], usual, "empty")
