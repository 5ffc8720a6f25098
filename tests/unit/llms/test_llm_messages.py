"""Answers, thoughts and cut-off replies are told apart, and no word gets lost."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.lib.thinking import split_thinking
from agentquest.llms.openai_chat import (
    OpenAIChat,
    OpenAISettings,
    read_message,
    read_tool_calls,
    write_message,
)
from agentquest.llms.types import Reply, ReplyKind
from agentquest.records.messages import Message, ToolCall, ToolSpec, Usage
from agentquest.records.usage import read_cost, read_usage

CALL = ToolCall(id="c1", name="act", arguments='{"command": "look"}')


def used(prompt: int, completion: int, reasoning: int = 0, cached: int = 0) -> Usage:
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        reasoning_tokens=reasoning,
        cached_tokens=cached,
    )


@pytest.mark.parametrize(
    ("content", "text", "reasoning"),
    [
        ("ACTION: look", "ACTION: look", ""),
        ("  kept as it is \n", "  kept as it is \n", ""),
        ("<think>hm</think>ACTION: look", "ACTION: look", "hm"),
        ("<think>\nhm\n</think>\n\nACTION: look", "ACTION: look", "hm"),
        ("<THINK>hm</Think>yes", "yes", "hm"),
        ("hm</think>yes", "yes", "hm"),
        ("<think>ACTION: look", "", "ACTION: look"),
        ("<think></think>yes", "yes", ""),
        ("<think>a</think>b<think>c</think>d", "b\nd", "a\nc"),
        ("before<think>a</think>after", "before\nafter", "a"),
        ("<think>I may write <think> here</think>yes", "yes", "I may write\nhere"),
        ("<think>a</think>b</think>c", "c", "a\nb"),
        ("a<think>b", "a", "b"),
        ("[THINK]hm[/THINK]yes", "yes", "hm"),
        ("◁think▷hm◁/think▷yes", "yes", "hm"),
        ("<seed:think>hm</seed:think>yes", "yes", "hm"),
        ("<|START_THINKING|>hm<|END_THINKING|>yes", "yes", "hm"),
        ("<|channel|>analysis<|message|>hm<|end|><|channel|>final<|message|>yes", "yes", "hm"),
        ("analysishm.assistantfinalyes", "yes", "hm."),
        (
            "<thinking>a prompt asked for it</thinking>b",
            "<thinking>a prompt asked for it</thinking>b",
            "",
        ),
        ("", "", ""),
    ],
)
def test_thoughts_are_split_off(content: str, text: str, reasoning: str) -> None:
    assert split_thinking(content) == (text, reasoning)


_PIECES = st.lists(st.sampled_from(["<think>", "</think>", "a", "b c", "\n", "<", "ACTION: x"]))


@given(_PIECES)
def test_no_word_is_lost_and_no_tag_stays(pieces: list[str]) -> None:
    content = "".join(pieces)
    text, reasoning = split_thinking(content)
    words = re.sub(r"</?think>", "", content)
    assert Counter("".join(words.split())) == Counter("".join((text + reasoning).split()))
    assert "think>" not in text


@given(_PIECES)
def test_what_follows_the_last_open_tag_is_never_an_answer(pieces: list[str]) -> None:
    text, reasoning = split_thinking("".join(pieces) + "<think>SECRET")
    assert "SECRET" not in text
    assert reasoning.endswith("SECRET")


@pytest.mark.parametrize(
    ("message", "text", "reasoning"),
    [
        ({"content": "yes", "reasoning_content": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": "hm", "reasoning_content": "hm"}, "yes", "hm"),
        ({"content": "yes", "reasoning": "b", "reasoning_content": "a"}, "yes", "a\nb"),
        ({"content": "<think>b</think>yes", "reasoning": "a"}, "yes", "a\nb"),
        ({"content": None, "reasoning_content": "hm"}, "", "hm"),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab", ""),
        (
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
                    {"type": "text", "text": "yes"},
                ]
            },
            "yes",
            "hm",
        ),
        ({"content": [{"type": "thinking", "thinking": "hm"}]}, "", "hm"),
    ],
)
def test_reasoning_is_found_wherever_servers_put_it(
    message: dict[str, object], text: str, reasoning: str
) -> None:
    assert read_message(message) == (text, reasoning)


@pytest.mark.parametrize("content", [3, {"text": "a"}, ["a"], True])
def test_content_of_another_kind_is_refused(content: object) -> None:
    with pytest.raises(ValueError):
        read_message({"content": content})


@pytest.mark.parametrize(
    ("text", "finish_reason", "kind"),
    [
        ("yes", "stop", ReplyKind.COMPLETE),
        ("yes", None, ReplyKind.COMPLETE),
        ("ACTION: look", "length", ReplyKind.TRUNCATED),
        ("", "length", ReplyKind.TRUNCATED),
        ("ACTION: look", "max_tokens", ReplyKind.TRUNCATED),
        ("", "stop", ReplyKind.EMPTY),
        (" \n", "stop", ReplyKind.EMPTY),
        ("", "content_filter", ReplyKind.REFUSED),
        ("Partly", "SAFETY", ReplyKind.REFUSED),
        ("", "refusal", ReplyKind.REFUSED),
        ("ACTION: look", "MAX_TOKENS", ReplyKind.TRUNCATED),
    ],
)
def test_a_cut_off_reply_is_not_an_answer(
    text: str, finish_reason: str | None, kind: ReplyKind
) -> None:
    assert Reply(text=text, finish_reason=finish_reason).kind is kind


def test_a_call_without_words_is_an_answer_unless_it_was_cut_off() -> None:
    assert Reply(tool_calls=(CALL,), finish_reason="tool_calls").kind is ReplyKind.COMPLETE
    assert Reply(tool_calls=(CALL,), finish_reason="length").kind is ReplyKind.TRUNCATED


def test_a_refusal_is_kept_and_told_on() -> None:
    reply = Reply(refusal="I cannot help with that.")
    assert reply.kind is ReplyKind.REFUSED
    assert reply.message == Message(role="assistant", content="I cannot help with that.")


def test_a_reply_is_the_next_message_with_its_calls_and_thoughts() -> None:
    opaque = {"reasoning_details": [{"signature": "s"}]}
    reply = Reply(text="Now.", reasoning="hm", tool_calls=(CALL,), opaque=opaque)
    assert write_message(reply.message) == {
        "role": "assistant",
        "content": "Now.",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "act", "arguments": '{"command": "look"}'},
            }
        ],
        **opaque,
    }


def test_what_a_tool_gave_names_its_call() -> None:
    told = Message(role="tool", tool_call_id="c1", content="You see a bed 1.")
    assert write_message(told) == {
        "role": "tool",
        "tool_call_id": "c1",
        "content": "You see a bed 1.",
    }


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    client = OpenAIChat(OpenAISettings(model="m", api_key_env=None))
    (tool,) = client._write_tools([ToolSpec(name="look", description="Look around.")])
    assert tool == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Look around.",
            "parameters": {"type": "object", "properties": {}},
        },
    }


@pytest.mark.parametrize("arguments", ['{"command": "look"}', "{not json", "", None])
def test_calls_are_read_as_they_were_written(arguments: str | None) -> None:
    sent = {"id": "c1", "function": {"name": "act", "arguments": arguments}}
    assert read_tool_calls({"tool_calls": [sent]}) == (
        ToolCall(id="c1", name="act", arguments=arguments or ""),
    )


@pytest.mark.parametrize("calls", [None, []])
def test_no_calls_are_none(calls: object) -> None:
    assert read_tool_calls({"tool_calls": calls}) == ()


@pytest.mark.parametrize(
    "calls",
    [
        {},
        False,
        "",
        "act",
        [3],
        [{}],
        [{"function": {}}],
        [{"function": {"name": "a", "arguments": 3}}],
    ],
)
def test_what_is_no_call_is_refused(calls: object) -> None:
    with pytest.raises(ValueError):
        read_tool_calls({"tool_calls": calls})


@pytest.mark.parametrize(
    ("usage", "cost"),
    [
        ({"cost": 0.25}, 0.25),
        ({"cost": 0}, 0.0),
        ({"cost": -1.0}, None),
        ({"cost": float("nan")}, None),
        ({"cost": "0.25"}, None),
        ({"cost": True}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_cost_is_what_the_server_states_or_unknown(usage: object, cost: float | None) -> None:
    assert read_cost(usage) == cost


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2}, used(3, 2, 0)),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
            used(3, 2, 1),
        ),
        ({"prompt_tokens": 3, "completion_tokens": 2, "reasoning_tokens": 1}, used(3, 2, 1)),
        (
            {"prompt_tokens": 3, "completion_tokens": 2, "completion_tokens_details": None},
            used(3, 2, 0),
        ),
        (
            {
                "prompt_tokens": 30,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 16},
            },
            used(30, 2, 0, 16),
        ),
        ({"prompt_tokens": 3}, None),
        ({"prompt_tokens": -1, "completion_tokens": 2}, None),
        ({"prompt_tokens": True, "completion_tokens": 2}, None),
        ({"prompt_tokens": "3", "completion_tokens": 2}, None),
        (None, None),
        ("many", None),
    ],
)
def test_usage_is_counts_or_nothing(usage: object, expected: Usage | None) -> None:
    assert read_usage(usage) == expected
