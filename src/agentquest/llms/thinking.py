"""Telling an answer from the thoughts that a model writes between think tags."""

import re
from typing import NamedTuple

_THINK_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)


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
    return Spoken(joined(words), joined(thoughts))


def joined(pieces: list[str]) -> str:
    """The pieces that are not blank, each on lines of its own."""
    return "\n".join(stripped for piece in pieces if (stripped := piece.strip()))
