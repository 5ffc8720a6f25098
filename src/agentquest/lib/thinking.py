"""Separating a model's answer from the thoughts that it wrote down before it.

Nothing inside a thought is an answer. `split_thinking` knows the markup that chat templates
write, which servers may let through: think tags in several spellings, and the channels of
gpt-oss. `split_thoughts` also knows tags that prompts ask for; they are left in the
conversation, but what is between them is not read as an action.
"""

import re
from typing import NamedTuple

_TEMPLATES = r"think|seed:think"
_PROMPTS = rf"{_TEMPLATES}|thinking|thoughts?|reasoning|reflection|analysis|scratchpad"


def _compile_tags(names: str) -> re.Pattern[str]:
    """Opening and closing tags; the groups of an opening one have no slash."""
    return re.compile(
        rf"<(/?)({names})>|◁(/?)(think)▷|\[(/?)(THINK)\]|<\|(START|END)_(THINKING)\|>",
        re.IGNORECASE,
    )


_TEMPLATE_TAG = _compile_tags(_TEMPLATES)
_ANY_TAG = _compile_tags(_PROMPTS)
# `<|channel|>analysis<|message|>` opens a message of gpt-oss; `to=` names the tool that it calls.
_CHANNEL = re.compile(r"<\|channel\|>([^<|]{0,100})(?:<\|constrain\|>[^<|]{0,40})?<\|message\|>")
_MESSAGE_END = re.compile(r"<\|(?:end|return|call|start)\|>")


class Spoken(NamedTuple):
    """A message's words: the answer, and the reasoning before it."""

    text: str
    reasoning: str


def split_thinking(content: str, tag: re.Pattern[str] = _TEMPLATE_TAG) -> Spoken:
    """Separate the answer from the thoughts that a chat template marks.

    A block that never closes is all thought: the model was cut off inside it. A closing tag
    without an opening one ends a thought that began with the reply, because some chat
    templates write the opening tag into the prompt. Content without marks is returned as it is.
    """
    spoken, thoughts = _split_channels(content)
    start, opened = 0, ""
    words: list[str] = []
    for mark in tag.finditer(spoken):
        closes, name = _read_tag(mark)
        if opened and closes and name != opened:
            continue  # written within a thought of another kind
        piece, start = spoken[start : mark.start()], mark.end()
        if opened:
            thoughts.append(piece)
            opened = "" if closes else opened
        elif closes:
            thoughts += [*words, piece]
            words = []
        else:
            words.append(piece)
            opened = name
    if start == 0:
        return Spoken(spoken, join_texts(thoughts))
    (thoughts if opened else words).append(spoken[start:])
    return Spoken(join_texts(words), join_texts(thoughts))


def split_thoughts(content: str) -> Spoken:
    """Separate the answer from all thoughts, also from those in tags that prompts ask for."""
    return split_thinking(content, _ANY_TAG)


def _read_tag(mark: re.Match[str]) -> tuple[bool, str]:
    """Whether a tag closes a thought, and the name of its kind."""
    slash, name = (group for group in mark.groups() if group is not None)
    return slash.upper() in ("/", "END"), name.lower()


def _split_channels(content: str) -> tuple[str, list[str]]:
    """The final channel and calls of tools are spoken; every other channel is thought."""
    parts = _CHANNEL.split(content)
    if len(parts) == 1:
        thought, final, answer = content.rpartition("assistantfinal")
        is_stripped = final and thought.startswith("analysis")  # the same without its marks
        return (answer, [thought[len("analysis") :]]) if is_stripped else (content, [])
    spoken = [_until_end(parts[0])]
    thoughts: list[str] = []
    for header, message in zip(parts[1::2], parts[2::2], strict=True):
        is_spoken = header.strip().startswith("final") or "to=" in header
        (spoken if is_spoken else thoughts).append(_until_end(message))
    return join_texts(spoken), thoughts


def _until_end(message: str) -> str:
    end = _MESSAGE_END.search(message)
    return message[: end.start()] if end else message


def join_texts(pieces: list[str]) -> str:
    """The pieces that are not blank, each on its own lines."""
    return "\n".join(stripped for piece in pieces if (stripped := piece.strip()))
