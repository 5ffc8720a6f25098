"""Plays by native tool calling, with the whole conversation as its memory.

Every call of a tool is one step, also in a reply with several calls. Nothing is repaired: a
reply without a call, arguments that are not JSON and a tool that does not exist each cost a
step, and the model is told.
"""

from collections import deque
from typing import Literal

from agentquest.agents.chat_history import NOT_CARRIED_OUT, ChatHistory, make_answer, record_call
from agentquest.errors import ParseError
from agentquest.lib import Agent, Answer, Episode, Observation, Settings
from agentquest.lib.commands import command_of
from agentquest.lib.parsing import Parsed
from agentquest.llms.types import ChatModel, Reply, ReplyKind
from agentquest.records.how import How
from agentquest.records.messages import ToolCall

SYSTEM = (
    "{instructions}\n\nAct by calling the tools, one call at a time;"
    " the result of a call is what you see next."
)
NO_CALL = "Your reply called no tool, so nothing was done. Call a tool to act."
NOT_CARRIED_OUT_AT_ALL = "Not carried out: the reply was not complete."
_UNREAD = {
    ReplyKind.TRUNCATED: "Your reply was cut off before it was complete, so nothing was done.",
    ReplyKind.EMPTY: "Your reply was empty, so nothing was done. Call a tool to act.",
}


class ToolsSettings(Settings):
    """The model's tools, what it sees, and how several calls and long histories are handled."""

    tools: Literal["one", "typed"] = "one"
    """`one`: a single tool that takes a command; `typed`: one tool per kind of command, if the
    benchmark has them."""

    several_calls: Literal["all", "first"] = "all"
    """Which calls of a reply with several are carried out: all, one step each, or the first."""

    show_admissible: bool = False
    """Whether the model sees the currently possible commands."""

    when_full: Literal["trim", "end"] = "trim"
    """When the conversation no longer fits: drop the older half of its turns, or end."""


class ToolsAgent(Agent):
    """Lets a model play by calling tools."""

    Settings = ToolsSettings
    calls_tools = True

    def __init__(self, settings: ToolsSettings, model: ChatModel) -> None:
        self._settings = settings
        self._model = model
        self._waiting: deque[ToolCall] = deque()

    async def begin(self, episode: Episode) -> None:
        await super().begin(episode)
        briefing = episode.briefing
        self._tools = briefing.choose_tools(self._settings.tools)
        self._chat = ChatHistory(SYSTEM.format(instructions=briefing.instructions))

    async def act(self, observation: Observation) -> Answer:
        self._hear(observation)
        if self._waiting:
            return self._carry_on(Reply(text=""), asked=False)
        trims = self._settings.when_full == "trim"
        seed = self.episode.model_seed
        reply = await self._chat.ask(self._model, self._tools, seed, trims)
        if not reply.tool_calls or reply.kind is not ReplyKind.COMPLETE:
            return self._no_answer(reply)
        self._take_calls(reply)
        return self._carry_on(reply, asked=True)

    def _hear(self, observation: Observation) -> None:
        text = observation.text
        if self._settings.show_admissible and observation.admissible:
            text += "\n\nPossible now: " + ", ".join(observation.admissible)
        if not self._chat.begun:
            text = f"Goal: {self.episode.goal}\n\nObservation: {text}"
        self._chat.add_observation(text)

    def _no_answer(self, reply: Reply) -> Answer:
        """Words without a call, or what was cut off or refused: calls in it are not carried out."""
        calls = reply.tool_calls
        self._chat.called = calls[-1] if calls else None
        for call in calls[:-1]:
            self._chat.add_result(call, NOT_CARRIED_OUT_AT_ALL)
        how = How.NO_TOOL_CALL if reply.kind is ReplyKind.COMPLETE else reply.kind.value
        told = _UNREAD.get(reply.kind, NO_CALL)
        parsed, prompt = Parsed(None, "", how), self._chat.asked
        return make_answer(self._model, reply, parsed, prompt, told, self._tools)

    def _take_calls(self, reply: Reply) -> None:
        first, *others = reply.tool_calls
        self._waiting.append(first)
        for call in others:
            if self._settings.several_calls == "all":
                self._waiting.append(call)
            else:
                self._chat.add_result(call, NOT_CARRIED_OUT)

    def _carry_on(self, reply: Reply, asked: bool) -> Answer:
        """Play the next call of the newest reply."""
        call = self._chat.called = self._waiting.popleft()
        how, told = How.TOOL_CALL if asked else How.FURTHER_CALL, ""
        action: str | None = None
        try:
            action = command_of(call, self._tools)
        except ParseError as error:
            how, told = How.MALFORMED_CALL, f"{error} Nothing was done."
        return Answer(
            action=action,
            how=how,
            reply=reply.text,
            reasoning=reply.reasoning,
            prompt=self._chat.asked if asked else (),
            tools=self._tools,
            tool_calls=reply.tool_calls if asked else (call,),
            calls=(record_call(self._model, reply),) if asked else (),
            told=told,
        )
