"""What tokens cost, and estimates where the server reports no counts."""

from collections.abc import Iterable
from dataclasses import dataclass

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


def estimated_tokens(text: str) -> int:
    """About how many tokens a text has: four letters each, other scripts one a character."""
    if text.isascii():
        return -(-len(text) // 4)
    plain = sum(character < "\u0250" for character in text)
    return -(-plain // 4) + len(text) - plain


def estimated_usage(prompt: Iterable[Message], reply: Message) -> Usage:
    """About what a call used, for servers that do not say; on the high side for plain English."""
    return Usage(
        prompt_tokens=sum(map(_tokens, prompt)),
        completion_tokens=_tokens(reply),
        reasoning_tokens=estimated_tokens(reply.reasoning),
    )


def _tokens(message: Message) -> int:
    """A message with its role and marks, for which chat templates take a few tokens."""
    calls = [call.name + call.arguments for call in message.tool_calls]
    texts = [message.content, message.reasoning, *calls]
    return 4 + sum(map(estimated_tokens, texts))
