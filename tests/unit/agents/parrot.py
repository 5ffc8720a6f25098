"""A model that answers from a list."""

from collections.abc import Sequence

from agentquest.errors import ContextExceeded
from agentquest.llms.config import ModelSettings
from agentquest.llms.prices import Price
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Message, ToolSpec


class Parrot(ChatModel):
    """Keeps what it was asked; a conversation of more than `longest` messages does not fit."""

    Settings = ModelSettings
    name = "parrot"
    price: Price | None = None

    def __init__(
        self, *replies: Reply | str, longest: int = 10**6, price: Price | None = None
    ) -> None:
        self._replies = [Reply(text=one) if isinstance(one, str) else one for one in replies]
        self._longest = longest
        self.price = price
        self.asked: list[tuple[Message, ...]] = []
        self.tools: Sequence[ToolSpec] = ()
        self.seeds: list[int | None] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        seed: int | None = None,
    ) -> Reply:
        if len(messages) > self._longest:
            raise ContextExceeded(f"{len(messages)} messages")
        self.asked.append(tuple(messages))
        self.tools = tools
        self.seeds.append(seed)
        return self._replies[(len(self.asked) - 1) % len(self._replies)]

    async def close(self) -> None:
        return None
