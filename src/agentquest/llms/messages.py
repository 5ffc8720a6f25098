"""What is said to a chat model and what comes back, free of any transport.

A reply is one of three things, and only the first is an answer: `complete`;
`truncated`, cut off by the token limit, whatever it says so far; `empty`.
Reasoning is kept apart from the answer but never dropped, whether the server
sends it in a field of its own or the model writes it between think tags.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

_THINK_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)
_CUT_OFF = frozenset({"length", "max_tokens"})


@dataclass(frozen=True)
class ChatMessage:
    """One turn of the conversation."""

    role: str
    content: str


@dataclass(frozen=True)
class Usage:
    """Tokens as the server counted them; reasoning tokens are part of the completion."""

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0


class ReplyKind(str, Enum):
    """What a reply is worth. The value is what records store."""

    COMPLETE = "complete"
    TRUNCATED = "truncated"
    EMPTY = "empty"


@dataclass(frozen=True)
class Reply:
    """One answer of a model.

    `usage` is None where the server did not count. `latency_s` is the time of
    the request that brought the reply; `attempts` counts the failed ones too.
    """

    text: str
    reasoning: str = ""
    finish_reason: str | None = "stop"
    usage: Usage | None = None
    latency_s: float = 0.0
    attempts: int = 1
    model: str = ""
    cached: bool = False

    @property
    def kind(self) -> ReplyKind:
        if self.finish_reason in _CUT_OFF:
            return ReplyKind.TRUNCATED
        return ReplyKind.COMPLETE if self.text.strip() else ReplyKind.EMPTY


class Spoken(NamedTuple):
    """A message's words: the answer, and the reasoning before it."""

    text: str
    reasoning: str


def split_thinking(content: str) -> Spoken:
    """Tell the answer from what stands between think tags.

    A block that never closes is thought to its end: the model was cut off in
    the middle of it. A closing tag without an opening one ends a thought that
    began with the reply, because some chat templates write the opening tag
    into the prompt. Content without tags is returned as it is.
    """
    parts = _THINK_TAG.split(content)
    if len(parts) == 1:
        return Spoken(content, "")
    thoughts: list[str] = []
    words = [parts[0]]
    thinking = False
    for slash, piece in zip(parts[1::2], parts[2::2], strict=True):
        if slash and not thinking:
            thoughts += words
            words = [piece]
        elif slash:
            thinking = False
            words.append(piece)
        else:
            thinking = True
            thoughts.append(piece)
    return Spoken(_joined(words), _joined(thoughts))


def _joined(pieces: list[str]) -> str:
    return "\n".join(stripped for piece in pieces if (stripped := piece.strip()))


def read_message(message: Mapping[str, Any]) -> Spoken:
    """The words of an assistant message, wherever the server put the reasoning."""
    content, thought_parts = _content(message.get("content"))
    text, tagged = split_thinking(content)
    fields = [message.get("reasoning_content"), message.get("reasoning")]
    pieces = [field for field in fields if isinstance(field, str)] + thought_parts + [tagged]
    return Spoken(text, _joined(list(dict.fromkeys(pieces))))


def _content(content: object) -> tuple[str, list[str]]:
    """Content as text, given as a string, as nothing, or as a list of typed parts."""
    if content is None:
        return "", []
    if isinstance(content, str):
        return content, []
    if not isinstance(content, list):
        raise ValueError(f"content is {type(content).__name__}, not text")
    text: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if not isinstance(part, dict):
            raise ValueError("a content part is not an object")
        if isinstance(part.get("text"), str):
            text.append(part["text"])
        elif "thinking" in part:
            thoughts.append(_thinking_part(part["thinking"]))
    return "".join(text), thoughts


def _thinking_part(thinking: object) -> str:
    if isinstance(thinking, str):
        return thinking
    return _content(thinking)[0]


def read_usage(usage: object) -> Usage | None:
    """Token counts of a response, or None where they are absent or not counts."""
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not (_is_count(prompt) and _is_count(completion)):
        return None
    details = usage.get("completion_tokens_details")
    reasoning = details.get("reasoning_tokens") if isinstance(details, dict) else None
    if reasoning is None:
        reasoning = usage.get("reasoning_tokens")
    return Usage(prompt, completion, reasoning if _is_count(reasoning) else 0)  # type: ignore[arg-type]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
