"""One sample of AgentBench's: chat messages in, chat messages out, until it is finished.

A `Style` is how AgentBench words a benchmark: the tools' names, and how observations are told.

Only the first tool call of an answer is played; an answer without one costs a
round, and three equal actions in a row, from the fourth action on, end the sample.
With `Repair.BLEU` an action that is not admissible is replaced by the most similar
one that is, as AgentBench does silently; here it is counted and logged.
"""

import logging
from collections import deque
from dataclasses import dataclass
from typing import Any

from agentquest.adapters.arenas import briefing_of
from agentquest.adapters.bleu import Repair, nearest
from agentquest.benchmarks.alfworld.reading import strip_location
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.errors import ParseError
from agentquest.lib import Arena, Session, Task, Turn
from agentquest.lib.commands import command_of, make_tool
from agentquest.records.messages import ToolCall, ToolSpec

logger = logging.getLogger(__name__)

Json = dict[str, Any]
NO_CALL = "No executable tool calls found! You should call a tool instead."
_SAME_IN_A_ROW = 3


@dataclass(frozen=True)
class Style:
    """Any benchmark, with the tools it declares itself."""

    instructions: str
    tools: tuple[ToolSpec, ...]

    def first(self, session: Session, turn: Turn) -> str:
        """The message that opens a sample: the goal and the first observation."""
        return f"Goal: {session.goal}\n\n{turn.text}"

    def describe(self, session: Session, turn: Turn, action: str | None) -> str:
        """What an action led to; `action` is None where the answer held none."""
        return turn.text

    def overall(self, rewards: list[float]) -> dict[str, Any]:
        """The result over all samples, made of their rewards."""
        return {"reward": _mean(rewards)}


class AlfworldStyle(Style):
    """ALFWorld: one tool that takes any action, and the available actions after every text."""

    def first(self, session: Session, turn: Turn) -> str:
        """The scene and the task, without the paragraph that opens every game."""
        scene = "\n".join(turn.text.split("\n\n")[1:])
        return f"Here is your task. {scene}{_available(turn)}"

    def describe(self, session: Session, turn: Turn, action: str | None) -> str:
        """The observation; on arrival, only what is seen there."""
        return f"{strip_location(turn.text)}{_available(turn)}"

    def overall(self, rewards: list[float]) -> dict[str, Any]:
        """Samples counted as passed or wrong; only a reward of 1 is a pass."""
        passed = sum(reward == 1 for reward in rewards)
        total = len(rewards)
        counts = {"total": total, "pass": passed, "wrong": total - passed}
        return {"overall": {**counts, "success_rate": passed / total if total else 0}}


class WebshopStyle(Style):
    """WebShop: tools to search and to click, and what can be clicked after every page."""

    def first(self, session: Session, turn: Turn) -> str:
        """The first page, and what can be done on it."""
        return f"The initial observation:\n{turn.text}\n\n{_clickables(session)}"

    def describe(self, session: Session, turn: Turn, action: str | None) -> str:
        """The page that came, after the action that led to it."""
        said = f"Observation:\n{turn.text}\n\n{_clickables(session)}"
        return said if action is None else f"Action: {action}\n\n{said}"


def style_of(arena: Arena) -> Style:
    """AgentBench's own style for ALFWorld and WebShop; the plain one for any other benchmark."""
    briefing = briefing_of(arena)
    if arena.benchmark.name == "alfworld":
        take = "Take one of the available actions."
        act = make_tool("take_action", take, "<action>", action="The action.")
        return AlfworldStyle(briefing.instructions, (act,))
    if arena.benchmark.name == "webshop":
        find, press = "Search for products.", "Click what the page offers."
        search = make_tool("search_action", find, "search[<keywords>]", keywords="Words.")
        click = make_tool("click_action", press, "click[<value>]", value="Its text.")
        return WebshopStyle(briefing.instructions, (search, click))
    return Style(briefing.instructions, briefing.tools)


def _available(turn: Turn) -> str:
    commands = "\n".join(turn.admissible)
    return f" AVAILABLE ACTIONS: {commands}\n"


def _clickables(session: Session) -> str:
    game = session.game
    assert isinstance(game, WebshopGame)
    page = game.session.page
    available = {"has_search_bar": page.search_bar, "clickables": list(page.clickables)}
    return f"Available Actions:\n{available}"


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0


class Sample:
    """A game that is played by chat."""

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
        self.status = self._judge()
        text = self._style.describe(self._session, turn, action)
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
        return self._repair_action(action), ""

    def _repair_action(self, action: str) -> str:
        if self._repair is Repair.NONE:
            return action
        admissible = self._session.last.admissible
        taken = nearest(action.strip().lower().partition("\n")[0], admissible)
        if taken != action.strip() and taken in admissible:
            self._replaced += 1
            logger.info("sample %s: %r was replaced by %r", self.index, action, taken)
        return taken

    def _judge(self) -> str:
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
            "tools": [_describe_tool(tool) for tool in self._style.tools],
            "status": self.status,
            "finish": self.status != "running",
            "reward": reward,
            # Workers and controllers of AgentRL spell it differently.
            "metric": metric,
            "metrics": metric,
        }


def _user(text: str) -> Json:
    return {"role": "user", "content": text}


def _describe_tool(tool: Any) -> Json:
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
