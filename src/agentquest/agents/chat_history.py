"""What agents that ask a model share: the conversation, and what records and models are told.

A turn is an assistant's message with everything until the next one. The system message, the
first user message and the newest turns always stay; older turns are left out whole, so that
no result is without its call.
"""

from collections.abc import Sequence

from agentquest.errors import ContextExceeded
from agentquest.lib import Answer
from agentquest.lib.parsing import PARSE_FAILURE, Parsed
from agentquest.llms.types import ChatModel, Reply, ReplyKind
from agentquest.records.episode import Call
from agentquest.records.messages import Message, ToolCall, ToolSpec

NOT_CARRIED_OUT = "Not carried out: only the first call of a reply is."
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

    def __init__(self, system: str, opening: Sequence[Message] = ()) -> None:
        self._head = [Message(role="system", content=system)] if system else []
        self._head += opening
        self._fixed = len(self._head)
        self.begun = False
        self.called: ToolCall | None = None  # the call that the next observation answers
        self._turns: list[list[Message]] = []
        self._left_out = 0
        self.asked: tuple[Message, ...] = ()  # what the newest reply answered

    @property
    def messages(self) -> tuple[Message, ...]:
        """Everything that is sent next, with a note if turns were left out."""
        note = (
            [Message(role="user", content=LEFT_OUT.format(count=self._left_out))]
            if self._left_out
            else []
        )
        return (*self._head, *note, *(message for turn in self._turns for message in turn))

    async def ask(
        self, model: ChatModel, tools: Sequence[ToolSpec], seed: int | None, trims: bool
    ) -> Reply:
        """The model's reply, which begins a turn; `trims` leaves old turns out where necessary."""
        while True:
            self.asked = self.messages
            try:
                reply = await model.complete(self.asked, tools=tools, seed=seed)
            except ContextExceeded:
                if not trims or not self.trim():
                    raise
            else:
                self.add_reply(reply)
                return reply

    def add_observation(self, text: str) -> None:
        """Add the first message, or the answer to the newest turn or its call."""
        if self.called is not None:
            self.add_result(self.called, text)
        elif self.begun:
            self._turns[-1].append(Message(role="user", content=text))
        else:
            self._head.append(Message(role="user", content=text))
            self.begun = True

    def restart(self, text: str) -> None:
        """Keep only this message, and nothing that was said before."""
        self._head[self._fixed :] = [Message(role="user", content=text)]
        self._turns.clear()
        self.called = None
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


def make_answer(
    model: ChatModel,
    reply: Reply,
    parsed: Parsed,
    prompt: tuple[Message, ...],
    told: str = "",
    tools: tuple[ToolSpec, ...] = (),
) -> Answer:
    """What was read from a reply, with the reply for the record.

    `told` is what the model hears if there is no action; else that depends on the reply's kind.
    """
    return Answer(
        action=parsed.action,
        how=parsed.how,
        reply=reply_text(reply),
        reasoning=reply.reasoning,
        prompt=prompt,
        tool_calls=reply.tool_calls,
        calls=(record_call(model, reply),),
        told=told or _explain_no_action(reply),
        tools=tools,
    )


def _explain_no_action(reply: Reply) -> str:
    if reply.kind is ReplyKind.EMPTY and reply.reasoning:
        return _ONLY_THOUGHTS
    return _NO_ANSWER.get(reply.kind, PARSE_FAILURE)


def reply_text(reply: Reply) -> str:
    """The text of a reply for the record; of a refusal, its own text."""
    return reply.text or reply.refusal
