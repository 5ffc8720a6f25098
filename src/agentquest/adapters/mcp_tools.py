"""The tools that a caller plays with: `start`, `observe`, `give_up`, and the benchmark's own."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

from agentquest.adapters.mcp_desk import CallerSettings, Seat
from agentquest.adapters.mcp_protocol import NoSuchTool, ToolAnswer
from agentquest.errors import UserError
from agentquest.lib import Briefing
from agentquest.records.messages import ToolCall, ToolSpec
from agentquest.records.outcome import MEANINGS

HOW_TO_PLAY = (
    "Call `start` to be given a task, then act with {tools} until you are told that the episode is"
    " over. `observe` shows the newest observation again and costs nothing."
)
_TASK = {"type": "string", "description": "The task's id; without it you get the next one."}
_OWN = (
    ToolSpec(
        name="start",
        description="Begin a task: says the goal and what you see first.",
        parameters={"type": "object", "properties": {"task_id": _TASK}},
    ),
    ToolSpec(name="observe", description="Show the newest observation again. Costs no step."),
    ToolSpec(name="give_up", description="End the episode as not solved."),
)


class GameTools:
    """One caller's tools; calls are answered one after the other."""

    def __init__(self, name: str, briefing: Briefing, seat: Seat, settings: CallerSettings) -> None:
        typed = settings.tools == "typed" and briefing.typed_tools
        self._game_tools: tuple[ToolSpec, ...] = briefing.typed_tools if typed else briefing.tools
        self._seat = seat
        self._show_admissible = settings.show_admissible
        self._turn = asyncio.Lock()
        self._numbers = count(1)
        self.name = name
        named = ", ".join(f"`{tool.name}`" for tool in self._game_tools)
        self.instructions = f"{briefing.instructions}\n\n{HOW_TO_PLAY.format(tools=named)}"

    def tools(self) -> Sequence[ToolSpec]:
        """Our own tools, then those of the game."""
        return (*_OWN, *self._game_tools)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Use a tool; a mistake is answered, only an unknown name raises NoSuchTool."""
        if name not in {tool.name for tool in self.tools()}:
            raise NoSuchTool(name)
        async with self._turn:
            try:
                return await self._used(name, arguments)
            except UserError as error:
                return ToolAnswer(str(error), {"error": str(error)}, is_error=True)

    async def _used(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        seat = self._seat
        if name == "start":
            return await self._started(arguments.get("task_id"))
        if name == "give_up":
            await seat.give_up()
        elif name != "observe":
            written = json.dumps(dict(arguments))
            call = ToolCall(id=f"call_{next(self._numbers)}", name=name, arguments=written)
            await seat.call(call, self._game_tools)
        elif seat.spec is None:
            raise UserError("no episode is going on: call `start`")
        return self._told()

    async def _started(self, task_id: Any) -> ToolAnswer:
        if not (task_id is None or isinstance(task_id, str)):
            raise UserError("task_id must be text")
        if await self._seat.start(task_id) is None:
            return ToolAnswer("There is no task left: all are played.", {"tasks_left": 0})
        told = self._told()
        episode = self._seat.episode
        goal = episode.goal if episode else ""
        return ToolAnswer(f"Goal: {goal}\n\n{told.text}", {"goal": goal, **told.data})

    def _told(self) -> ToolAnswer:
        """The newest observation, and how the episode ended if it did."""
        seat, record = self._seat, self._seat.record
        assert seat.spec is not None
        data: dict[str, Any] = {"task_id": seat.spec.task.id, "done": record is not None}
        if record is not None:
            observed = record.steps[-1].observation if record.steps else record.first_observation
            verdict = f"The episode is over: {MEANINGS[record.end]}."
            data |= {"observation": observed, "reward": record.reward, "won": record.success}
            data |= {"end": record.end.value, "steps": len(record.steps)}
            return ToolAnswer(f"{observed}\n\n{verdict}", data)
        assert seat.observation is not None
        text = seat.observation.text or seat.observation.output
        data |= {"observation": text, "reward": 0.0, "won": False}
        if self._show_admissible and seat.observation.admissible:
            data["admissible"] = list(seat.observation.admissible)
            text += "\n\nPossible now: " + ", ".join(seat.observation.admissible)
        return ToolAnswer(text, data)
