"""What a test server's model says, whatever wire format it is said in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Said:
    """A reply: words, thoughts, and calls as (name, arguments)."""

    text: str = ""
    thoughts: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    refusal: str = ""
    cut_off: bool = False

    @property
    def tokens(self) -> int:
        return words(self.text) + words(self.thoughts) + 3 * len(self.calls) + words(self.refusal)


Messages = list[dict[str, Any]]
Answer = Callable[[Messages], "str | Said"]


def echo(messages: Messages) -> str:
    """The default answer: the last message."""
    return str(messages[-1]["content"])


def said(answer: "str | Said") -> Said:
    return Said(answer) if isinstance(answer, str) else answer


def words(text: object) -> int:
    """Tokens, as the test servers count them."""
    return len(str(text).split())
