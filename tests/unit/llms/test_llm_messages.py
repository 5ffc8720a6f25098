"""Answers, thoughts and cut-off replies are told apart, and no word gets lost."""

import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.llms.messages import (
    Reply,
    ReplyKind,
    Usage,
    read_message,
    read_usage,
    split_thinking,
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
        ("", "content_filter", ReplyKind.EMPTY),
    ],
)
def test_a_cut_off_reply_is_not_an_answer(
    text: str, finish_reason: str | None, kind: ReplyKind
) -> None:
    assert Reply(text=text, finish_reason=finish_reason).kind is kind


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 2}, Usage(3, 2, 0)),
        (
            {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
            Usage(3, 2, 1),
        ),
        ({"prompt_tokens": 3, "completion_tokens": 2, "reasoning_tokens": 1}, Usage(3, 2, 1)),
        (
            {"prompt_tokens": 3, "completion_tokens": 2, "completion_tokens_details": None},
            Usage(3, 2, 0),
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
