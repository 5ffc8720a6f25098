"""What agents that ask a model share: the conversation, and what records and models are told.

A turn is an assistant's message with everything until the next one. The system message, the
first user message and the newest turns always stay; older turns are left out whole, so that
no result is without its call.
"""

from collections.abc import Sequence

from agentquest.errors import ContextExceeded
from agentquest.llms.types import ChatModel, Reply, ReplyKind
from agentquest.records.episode import Call
from agentquest.records.messages import Message, ToolCall, ToolSpec

LEFT_OUT = "(The oldest {count} of your turns are left out here.)"
_NO_ANSWER = {
    ReplyKind.TRUNCATED: "Your reply was cut off at the limit of its length before it was complete,"
    " so nothing was done. Answer more briefly.",
    ReplyKind.EMPTY: "Your reply was empty, so nothing was done.",
    ReplyKind.REFUSED: "Your reply was a refusal or was blocked, so nothing was done.",
}
_ONLY_THOUGHTS = "Your reply held only thoughts and no answer, so nothing was done."


class ChatHistory:
    """One episode's messages, in order, as they are sent to the model."""

    def __init__(self, system: str) -> None:
        self._head = [Message(role="system", content=system)] if system else []
        self._fixed = len(self._head)
        self.begun = False
        self.called: ToolCall | None = None  # the call that the next result belongs to
        self._turns: list[list[Message]] = []
        self._left_out = 0
        self.asked: tuple[Message, ...] = ()  # what the newest reply answered

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything that is sent next, with a note if turns were left out; kept as `asked`."""
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
        """The model's reply; if the history is too long, `trims` leaves old turns out."""
        while True:
            try:
                return await model.complete(self.messages, tools=tools, seed=seed)
            except ContextExceeded:
                if not trims or not self.trim():
                    raise

    def add_observation(self, text: str) -> None:
        """Add the first message, or an answer to a turn without a call."""
        message = Message(role="user", content=text)
        if self.begun:
            self._turns[-1].append(message)
        else:
            self._head.append(message)
            self.begun = True

    def restart(self, text: str) -> None:
        """Keep only this message, and nothing that was said before."""
        self._head[self._fixed :] = [Message(role="user", content=text)]
        self._turns.clear()
        self.begun = True

    def add_reply(self, reply: Reply) -> None:
        """Begin a turn with the model's reply."""
        self._turns.append([reply.message])

    def add_result(self, call: ToolCall, text: str) -> None:
        """Add the result of a call of this turn."""
        self._turns[-1].append(Message(role="tool", content=text, tool_call_id=call.id))

    def trim(self) -> bool:
        """Leave out the older half of the turns; False if there are too few."""
        count = len(self._turns) // 2
        self._left_out += count
        del self._turns[:count]
        return count > 0


def record_call(model: ChatModel, reply: Reply) -> Call:
    """The reply's tokens, time and attempts, with its cost at the model's price."""
    return Call(
        model=reply.model,
        kind=reply.kind.value,
        usage=reply.usage,
        cost=reply.cost_at(model.price),
        latency_s=reply.latency_s,
        attempts=reply.attempts,
        cached=reply.cached,
    )


def explain_no_action(reply: Reply, otherwise: str) -> str:
    """Why nothing was done; `otherwise` is for a complete reply that holds no action."""
    if reply.kind is ReplyKind.EMPTY and reply.reasoning:
        return _ONLY_THOUGHTS
    return _NO_ANSWER.get(reply.kind, otherwise)


def reply_text(reply: Reply) -> str:
    """The text of a reply for the record; of a refusal, its own text."""
    return reply.text or reply.refusal
