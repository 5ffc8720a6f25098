"""A conversation with tools, and what is left out of it when it grows too long.

A turn is an assistant's message with everything until the next one. The system
message, the first user message and the newest turns always stay; turns are left
out whole, so that no result stands without its call.
"""

from collections.abc import Sequence

from agentquest.errors import ContextExceeded
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Message, ToolCall, ToolSpec

LEFT_OUT = "(The oldest {count} of your turns are left out here.)"


class Conversation:
    """One episode's messages, in order, as the model is sent them."""

    def __init__(self, system: str) -> None:
        self._head = [Message(role="system", content=system)] if system else []
        self._fixed = len(self._head)
        self.begun = False
        self.called: ToolCall | None = None  # what the next result belongs to
        self._turns: list[list[Message]] = []
        self._left_out = 0
        self.asked: tuple[Message, ...] = ()  # what the newest reply answered

    @property
    def messages(self) -> tuple[Message, ...]:
        """All that is sent next, with a note where turns were left out; kept as `asked`."""
        note = (
            [Message(role="user", content=LEFT_OUT.format(count=self._left_out))]
            if self._left_out
            else []
        )
        self.asked = (*self._head, *note, *(message for turn in self._turns for message in turn))
        return self.asked

    async def ask(
        self, model: ChatModel, tools: Sequence[ToolSpec], seed: int | None, trims: bool
    ) -> Reply:
        """The model's reply to all of it; where that is too long, `trims` leaves old turns out."""
        while True:
            try:
                return await model.complete(self.messages, tools=tools, seed=seed)
            except ContextExceeded:
                if not trims or not self.trim():
                    raise

    def user(self, text: str) -> None:
        """Add the environment's words: the first message, or an answer to a turn without a call."""
        message = Message(role="user", content=text)
        if self.begun:
            self._turns[-1].append(message)
        else:
            self._head.append(message)
            self.begun = True

    def begin_again(self, text: str) -> None:
        """Only this message, and nothing of what was said before."""
        self._head[self._fixed :] = [Message(role="user", content=text)]
        self._turns.clear()
        self.begun = True

    def said(self, reply: Reply) -> None:
        """Begin a turn with what the model said."""
        self._turns.append([reply.message])

    def result(self, call: ToolCall, text: str) -> None:
        """Add what a call of this turn came to."""
        self._turns[-1].append(Message(role="tool", content=text, tool_call_id=call.id))

    def trim(self) -> bool:
        """Leave out the oldest half of the turns; False where none can be."""
        count = len(self._turns) // 2
        self._left_out += count
        del self._turns[:count]
        return count > 0
