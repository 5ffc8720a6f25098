"""What tokens cost, known prices, and estimates for servers that report no counts."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from agentquest.records.messages import Message, Usage


@dataclass(frozen=True)
class Price:
    """Price per million tokens, in whatever currency the user thinks in.

    `cached` is for prompt tokens read from the server's cache, `cache_write` for
    those written to it; without one they cost what others do. A prompt above
    `longest_prompt` has another price, which is not known.
    """

    prompt: float
    completion: float
    cached: float | None = None
    cache_write: float | None = None
    longest_prompt: int | None = None

    def of(self, usage: Usage) -> float | None:
        """What these tokens cost; reasoning is part of the completion."""
        if self.longest_prompt is not None and usage.prompt_tokens > self.longest_prompt:
            return None
        cached = self.prompt if self.cached is None else self.cached
        written = self.prompt if self.cache_write is None else self.cache_write
        plain = usage.prompt_tokens - usage.cached_tokens - usage.cache_write_tokens
        total = max(0, plain) * self.prompt + usage.completion_tokens * self.completion
        return (total + usage.cached_tokens * cached + usage.cache_write_tokens * written) / 1e6


def estimate_tokens(text: str) -> int:
    """Roughly the tokens of a text: one per four letters, one per character in other scripts."""
    if text.isascii():
        return -(-len(text) // 4)
    plain = sum(character < "\u0250" for character in text)
    return -(-plain // 4) + len(text) - plain


def estimate_usage(prompt: Iterable[Message], reply: Message) -> Usage:
    """Roughly what a call used, for servers that do not say; rather too high for English."""
    return Usage(
        prompt_tokens=sum(map(_tokens, prompt)),
        completion_tokens=_tokens(reply),
        reasoning_tokens=estimate_tokens(reply.reasoning),
    )


def _tokens(message: Message) -> int:
    """Tokens of a message; chat templates add a few for its role."""
    calls = [call.name + call.arguments for call in message.tool_calls]
    texts = [message.content, message.reasoning, *calls]
    return 4 + sum(map(estimate_tokens, texts))


PRICES_OF = "2026-10-09"

_LONG = 200_000
_OPENAI = {
    "gpt-5.5": Price(5.00, 30.00, 0.50, longest_prompt=_LONG),
    "gpt-5.4": Price(2.50, 15.00, 0.25, longest_prompt=_LONG),
    "gpt-5.4-mini": Price(0.75, 4.50, 0.075, longest_prompt=_LONG),
    "gpt-5.4-nano": Price(0.20, 1.25, 0.02, longest_prompt=_LONG),
    "gpt-5": Price(1.25, 10.00, 0.125),
    "gpt-5-mini": Price(0.25, 2.00, 0.025),
    "gpt-5-nano": Price(0.05, 0.40, 0.005),
    "gpt-4.1": Price(2.00, 8.00, 0.50),
    "gpt-4.1-mini": Price(0.40, 1.60, 0.10),
    "gpt-4.1-nano": Price(0.10, 0.40, 0.025),
    "gpt-4o": Price(2.50, 10.00, 1.25),
    "gpt-4o-mini": Price(0.15, 0.60, 0.075),
    "o3": Price(2.00, 8.00, 0.50),
    "o4-mini": Price(1.10, 4.40, 0.275),
}
_OPUS = Price(5.00, 25.00, 0.50, 6.25, longest_prompt=_LONG)
_SONNET = Price(3.00, 15.00, 0.30, 3.75, longest_prompt=_LONG)
_ANTHROPIC = {
    "claude-opus-5-5": Price(4.00, 20.00, 0.20, 5.00, longest_prompt=_LONG),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-opus-4-1": Price(15.00, 75.00, 1.50, 18.75, longest_prompt=_LONG),
    "claude-sonnet-5-5": Price(2.00, 10.00, 0.10, 2.50, longest_prompt=_LONG),
    "claude-sonnet-5": Price(2.00, 10.00, 0.20, 2.50, longest_prompt=_LONG),
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET,
    "claude-sonnet-4": _SONNET,
    "claude-haiku-5-5": Price(0.10, 0.50, 0.01, 0.125, longest_prompt=100_000),
    "claude-haiku-4-5": Price(1.00, 5.00, 0.10, 1.25, longest_prompt=_LONG),
    "claude-3-5-haiku": Price(0.80, 4.00, 0.08, 1.00, longest_prompt=_LONG),
}
_GEMINI = {
    "gemini-3.5-flash": Price(1.50, 9.00, 0.15, longest_prompt=_LONG),
    "gemini-3.5-flash-lite": Price(0.30, 2.50, 0.03, longest_prompt=_LONG),
    "gemini-3.1-pro-preview": Price(2.00, 12.00, 0.20, longest_prompt=_LONG),
    "gemini-2.5-pro": Price(1.25, 10.00, 0.125, longest_prompt=_LONG),
    "gemini-2.5-flash": Price(0.30, 2.50, 0.03, longest_prompt=_LONG),
    "gemini-2.5-flash-lite": Price(0.10, 0.40, 0.01, longest_prompt=_LONG),
}
# By host: the same name behind the user's own server has another price, or none.
_TABLES = {
    "api.openai.com": _OPENAI,
    "api.anthropic.com": _ANTHROPIC,
    "generativelanguage.googleapis.com": _GEMINI,
}
_VERSION = re.compile(r"(-latest|-\d{4}-\d{2}-\d{2}|-20\d{6})$")


def known_price(base_url: str, model: str) -> Price | None:
    """The table's price of a model at its provider; a dated version costs what its model does."""
    table = _TABLES.get(urlsplit(base_url).hostname or "", {})
    name = model.removeprefix("models/")
    return table.get(name) or table.get(_VERSION.sub("", name))
