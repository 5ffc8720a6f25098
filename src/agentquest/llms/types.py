"""What a chat model is to the rest of AgentQuest, and what it answers.

Conversations are made of `Message`, tools of `ToolSpec` (agentquest.records.messages);
a model answers with a `Reply`. A reply is one of four things, and only the first
is an answer: `complete`; `truncated` by a token limit; `empty`; `refused`, by the model or
by a filter in front of it.
"""

from collections.abc import Sequence
from typing import Protocol

from agentquest.llms.config import ModelSettings
from agentquest.llms.prices import Price
from agentquest.llms.status import Status
from agentquest.records.base import Opaque, Record, Text
from agentquest.records.messages import Message, ToolCall, ToolSpec
from agentquest.records.messages import ReplyKind as ReplyKind
from agentquest.records.usage import Amount, KnownUsage

# Finish reasons of all providers, in lower case.
CUT_OFF = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "incomplete"}
)
REFUSED = frozenset(
    {"content_filter", "refusal", "safety", "prohibited_content", "blocklist", "recitation", "spii"}
)


class Reply(Record):
    """One answer of a model.

    `usage` is None if the server did not count, `cost` if it names none. `latency_s` is the
    time of the successful request; `attempts` counts failed ones too. `opaque` is data that
    the provider wants back unchanged. `content` is the text before its thoughts were split off,
    if there were any in it.
    """

    text: Text = ""
    reasoning: Text = ""
    content: Text = ""
    tool_calls: tuple[ToolCall, ...] = ()
    finish_reason: Text | None = "stop"
    refusal: Text = ""
    usage: KnownUsage = None
    latency_s: Amount = None
    attempts: int = 1
    model: Text = ""
    cached: bool = False
    cost: Amount = None
    opaque: Opaque | None = None

    @property
    def kind(self) -> ReplyKind:
        """A call of a tool is an answer without words; one that was cut off is not."""
        finish = (self.finish_reason or "").lower()
        if self.refusal or finish in REFUSED:
            return ReplyKind.REFUSED
        if finish in CUT_OFF:
            return ReplyKind.TRUNCATED
        answered = self.tool_calls or self.text.strip()
        return ReplyKind.COMPLETE if answered else ReplyKind.EMPTY

    def cost_at(self, price: Price | None) -> float | None:
        """What the call cost: as the server stated, else at our price, else unknown (None)."""
        if self.cached:
            return None if price is None and self.cost is None else 0.0
        if self.cost is not None or price is None or self.usage is None:
            return self.cost
        return price.of(self.usage)

    @property
    def raw(self) -> str:
        """The text as the server sent it; a server may have made all of it reasoning."""
        return self.content or self.text or self.reasoning

    @property
    def message(self) -> Message:
        """The reply as the next message of its conversation."""
        return Message(
            role="assistant",
            content=self.text or self.refusal,
            tool_calls=self.tool_calls,
            reasoning=self.reasoning,
            opaque=self.opaque,
        )


class ChatModel(Protocol):
    """Answers a conversation. It is made from an instance of its `Settings`.

    A model of your own derives from this and says its `Settings`, `name` and
    `complete`; the rest has a default that suits a model without a server.
    """

    @property
    def Settings(self) -> type[ModelSettings]:
        """The class of its settings: an attribute of the class, not of its instances."""
        ...

    @property
    def name(self) -> str:
        """The model's name, as records show it."""
        ...

    @property
    def price(self) -> Price | None:
        """What tokens cost, where that is known."""
        return None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        seed: int | None = None,
    ) -> Reply:
        """The model's next turn; `seed` overrides the configured one.

        Raises `ContextExceeded` when the conversation no longer fits the model,
        and another subclass of `ModelError` when there is no answer to be had. Whatever
        else it raises leaves the episode without a score, too.
        """
        ...

    async def preflight(
        self, *, tools: Sequence[ToolSpec] = (), timeout_s: float = 60.0
    ) -> tuple[str, ...]:
        """Whether the model can be asked at all, by one small request.

        Raises a `ModelError` whose one line says what is wrong; returns lines
        that are worth knowing otherwise. `tools` are tools that will be wanted.
        """
        return ()

    def status(self) -> Status:
        """What the model is doing now, for live views."""
        return Status()

    async def close(self) -> None:
        """Let go of connections. Closing twice is harmless."""
        return None
