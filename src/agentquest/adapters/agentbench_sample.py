"""One sample of AgentBench's: chat messages in, chat messages out, until it is finished.

Only the first tool call of an answer is played; an answer without one costs a
round, and three equal actions in a row, from the fourth action on, end the sample.
With `Repair.BLEU` an action that is not admissible is replaced by the most similar
one that is, as AgentBench does silently; here it is counted and logged.
"""

import logging
from collections import deque
from typing import Any

from agentquest.adapters.agentbench_styles import Style
from agentquest.adapters.bleu import Repair, nearest
from agentquest.errors import ParseError
from agentquest.lib import Session, Task
from agentquest.lib.commands import command_of
from agentquest.records.messages import ToolCall

logger = logging.getLogger(__name__)

Json = dict[str, Any]
NO_CALL = "No executable tool calls found! You should call a tool instead."
_SAME_IN_A_ROW = 3


class Sample:
    """A game that is talked through."""

    def __init__(self, session: Session, style: Style, index: int, repair: Repair) -> None:
        self.index = index
        self.status = "running"
        self._session = session
        self._style = style
        self._repair = repair
        self._replaced = 0
        self._actions = 0
        self._latest: deque[str] = deque(maxlen=_SAME_IN_A_ROW)

    def begin(self, task: Task) -> Json:
        """Start a task; the answer holds the instructions and the first observation."""
        turn = self._session.reset(task)
        system = {"role": "system", "content": self._style.instructions}
        return self._out([system, _user(self._style.first(self._session, turn))])

    def answer(self, messages: list[Json]) -> Json:
        """Play an answer of the model's."""
        call = _first_call(messages)
        if call is None:
            turn, action = self._session.miss(NO_CALL), None
        else:
            action, wrong = self._read(call)
            turn = self._session.miss(wrong) if action is None else self._session.step(action)
        self.status = self._judged()
        text = self._style.told(self._session, turn, action)
        if call is None:
            return self._out([_user(text)])
        return self._out([{"role": "tool", "tool_call_id": call.id, "content": text}])

    def _read(self, call: ToolCall) -> tuple[str | None, str]:
        try:
            action = command_of(call, self._style.tools)
        except ParseError as error:
            return None, str(error)
        self._actions += 1
        self._latest.append(action)
        return self._repaired(action), ""

    def _repaired(self, action: str) -> str:
        if self._repair is Repair.NONE:
            return action
        admissible = self._session.last.admissible
        taken = nearest(action.strip().lower().partition("\n")[0], admissible)
        if taken != action.strip() and taken in admissible:
            self._replaced += 1
            logger.info("sample %s: %r was replaced by %r", self.index, action, taken)
        return taken

    def _judged(self) -> str:
        turn = self._session.last
        if turn.terminated:
            return "completed"
        if self._actions > _SAME_IN_A_ROW and len(set(self._latest)) == 1:
            return "agent invalid action"
        return "task limit reached" if turn.truncated else "running"

    def close(self) -> None:
        """Close the game, whether it is finished or not."""
        self._session.close()

    def _out(self, messages: list[Json]) -> Json:
        reward = self._session.last.reward if self.status == "completed" else 0
        metric: Json = {"score": reward}
        if self._repair is not Repair.NONE:
            metric["replaced_actions"] = self._replaced
        return {
            "messages": messages,
            "tools": [_listed(tool) for tool in self._style.tools],
            "status": self.status,
            "finish": self.status != "running",
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
