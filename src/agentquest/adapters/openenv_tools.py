"""A session as tools, for OpenEnv's clients that speak MCP through it."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentquest.adapters.mcp_protocol import NoSuchTool, ToolAnswer
from agentquest.errors import UserError
from agentquest.lib import Session
from agentquest.records.messages import ToolSpec

_ACT = ToolSpec(
    name="act",
    description="Carry out one command, written as the game understands it.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
        "additionalProperties": False,
    },
)
_OBSERVE = ToolSpec(name="observe", description="Show the newest observation again.")


class SessionTools:
    """`act` and `observe`; the task is chosen with a reset."""

    instructions = "Reset first; then `act` until `done`."

    def __init__(self, session: Session) -> None:
        self._session = session
        self.name = f"agentquest-{session.arena.benchmark.name}"

    def tools(self) -> Sequence[ToolSpec]:
        """The two tools, whatever is being played."""
        return (_ACT, _OBSERVE)

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Use a tool; a mistake is answered, and only an unknown name raises NoSuchTool."""
        if name not in (_ACT.name, _OBSERVE.name):
            raise NoSuchTool(name)
        try:
            acts = name == _ACT.name
            turn = self._session.step(arguments.get("command", 0)) if acts else self._session.last
        except UserError as error:
            return ToolAnswer(str(error), {"error": str(error)}, is_error=True)
        data = {"observation": turn.text, "admissible": list(turn.admissible)}
        return ToolAnswer(turn.text, {**data, "reward": turn.reward, "done": turn.over})
