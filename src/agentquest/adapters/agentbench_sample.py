"""One sample of AgentBench's: chat messages in, chat messages out, until it is finished.

Only the first tool call of an answer is played; an answer without one costs a
round, and three equal answers in a row, from the fourth round on, end the sample.
With `as_published` an action that is not admissible is replaced by the most
similar one that is, as AgentBench does silently; here it is counted.
"""

import json
from typing import Any

from agentquest.adapters.agentbench_styles import Style
from agentquest.adapters.bleu import nearest
from agentquest.errors import ParseError
from agentquest.lib import Session
from agentquest.lib.commands import command_of
from agentquest.records.messages import ToolCall

Json = dict[str, Any]
NO_CALL = "No executable tool calls found! You should call a tool instead."
_SAME_IN_A_ROW = 3


class Sample:
    """A game that is talked through."""

    def __init__(self, session: Session, style: Style, index: int, as_published: bool) -> None:
        self.index = index
        self.replaced = 0
        self._session = session
        self._style = style
        self._as_published = as_published
        self._said: list[str] = []
        self._status = "running"

    @property
    def status(self) -> str:
        return self._status

    def begin(self) -> Json:
        turn = self._session.reset(self.index)
        system = {"role": "system", "content": self._style.instructions}
        return self._out([system, _user(self._style.first(self._session, turn))])

    def answer(self, messages: list[Json]) -> Json:
        """Play an answer of the model's."""
        self._said.append(json.dumps(messages, sort_keys=True))
        call = _first_call(messages)
        if call is None:
            turn, action = self._session.miss(NO_CALL), None
        else:
            action, wrong = self._read(call)
            turn = self._session.miss(wrong) if action is None else self._session.step(action)
        self._status = self._judged()
        text = self._style.told(self._session, turn, action)
        if call is None:
            return self._out([_user(text)])
        return self._out([{"role": "tool", "tool_call_id": call.id, "content": text}])

    def _read(self, call: ToolCall) -> tuple[str | None, str]:
        try:
            action = command_of(call, self._style.tools)
        except ParseError as error:
            return None, str(error)
        if self._as_published:
            admissible = self._session.last.admissible
            taken = nearest(action.strip().lower(), admissible)
            self.replaced += taken != action and taken in admissible
            action = taken
        return action, ""

    def _judged(self) -> str:
        turn, rows = self._session.last, self._said[-_SAME_IN_A_ROW:]
        if turn.terminated:
            return "completed"
        if len(self._said) > _SAME_IN_A_ROW and len(set(rows)) == 1:
            return "agent invalid action"
        return "task limit reached" if turn.truncated else "running"

    def _out(self, messages: list[Json]) -> Json:
        turn, finished = self._session.last, self._status != "running"
        reward = turn.reward if self._status == "completed" else 0
        metric: Json = {"score": reward}
        if self._as_published:
            metric["replaced_actions"] = self.replaced
        return {
            "messages": messages,
            "tools": [_listed(tool) for tool in self._style.tools],
            "status": self._status,
            "finish": finished,
            "reward": reward,
            # Workers and controllers of AgentRL spell it differently.
            "metric": metric,
            "metrics": metric,
        }


def _user(text: str) -> Json:
    return {"role": "user", "content": text}


def _listed(tool: Any) -> Json:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _first_call(messages: list[Json]) -> ToolCall | None:
    for message in messages:
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else []:
            function = call.get("function") if isinstance(call, dict) else None
            if isinstance(function, dict):
                name, arguments = function.get("name"), function.get("arguments")
                if isinstance(name, str) and isinstance(arguments, str):
                    return ToolCall(id=str(call.get("id", "")), name=name, arguments=arguments)
    return None
