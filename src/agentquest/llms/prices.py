"""Known prices, and estimates for servers that report no counts."""

import re
from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from agentquest.records.messages import Message, Usage
from agentquest.records.usage import Price as Price


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


def _as_of(date: str, source: str, table: dict[str, Price]) -> dict[str, Price]:
    """The prices with the page that they are from, and the day on which it said so."""
    return {model: replace(price, source=source, date=date) for model, price in table.items()}


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
    "gpt-4o-2024-05-13": Price(5.00, 15.00),
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
    "api.openai.com": _as_of(PRICES_OF, "https://platform.openai.com/docs/pricing", _OPENAI),
    "api.anthropic.com": _as_of(
        PRICES_OF, "https://docs.claude.com/en/docs/about-claude/pricing", _ANTHROPIC
    ),
    "generativelanguage.googleapis.com": _as_of(
        PRICES_OF, "https://ai.google.dev/gemini-api/docs/pricing", _GEMINI
    ),
}
_VERSION = re.compile(r"(-latest|-\d{4}-\d{2}-\d{2}|-20\d{6})$")


def known_price(base_url: str, model: str) -> Price | None:
    """The table's price of a model at its provider; a dated version costs what its model does,
    unless the table has that version."""
    table = _TABLES.get(urlsplit(base_url).hostname or "", {})
    name = model.removeprefix("models/")
    return table.get(name) or table.get(_VERSION.sub("", name))
