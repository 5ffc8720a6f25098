"""A chat that grows too long loses its older half: whole turns, and the model is told."""

import asyncio
from collections.abc import Sequence

import pytest

from agentquest.agents.chat_history import LEFT_OUT, ChatHistory
from agentquest.errors import ContextExceeded
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.messages import Message, ToolCall, ToolSpec


def history_of(turns: int) -> ChatHistory:
    history = ChatHistory("rules")
    history.add_observation("goal")
    for number in range(turns):
        call = ToolCall(id=f"call-{number}", name="act", arguments="{}")
        history.add_reply(Reply(text=f"turn {number}", tool_calls=(call,)))
        history.add_result(call, f"result {number}")
    return history


def contents(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]


@pytest.mark.parametrize(("turns", "left_out"), [(2, 1), (5, 2), (8, 4)])
def test_the_older_half_of_the_turns_is_left_out(turns: int, left_out: int) -> None:
    history = history_of(turns)
    assert history.trim()
    kept = [f"{what} {n}" for n in range(left_out, turns) for what in ("turn", "result")]
    note = LEFT_OUT.format(count=left_out)
    assert contents(history.messages) == ["rules", "goal", note, *kept]


def test_the_newest_turn_is_never_left_out() -> None:
    history = history_of(1)
    assert not history.trim()
    assert contents(history.messages) == ["rules", "goal", "turn 0", "result 0"]


class Small(ChatModel):
    """Takes so many messages at once."""

    name = "small"

    def __init__(self, most: int) -> None:
        self._most = most
        self.asked: list[int] = []

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[ToolSpec] = (),
        seed: int | None = None,
    ) -> Reply:
        self.asked.append(len(messages))
        if len(messages) > self._most:
            raise ContextExceeded("too long")
        return Reply(text="done")


def test_a_chat_is_trimmed_until_it_fits_and_the_note_counts_all() -> None:
    history, model = history_of(8), Small(7)
    asyncio.run(history.ask(model, (), None, True))
    assert model.asked == [18, 11, 7]
    assert contents(history.asked)[2] == LEFT_OUT.format(count=6)


def test_without_trimming_a_full_chat_ends() -> None:
    with pytest.raises(ContextExceeded):
        asyncio.run(history_of(8).ask(Small(7), (), None, False))
