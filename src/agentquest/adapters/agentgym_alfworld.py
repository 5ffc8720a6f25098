"""AgentGym's ALFWorld server: its clients work unchanged, and environments are freed.

Failures are answers with `error` in them, as its clients expect. `game` is a
place in `games`: the split that is served, or what AgentGym's mapping files list.
"""

from collections.abc import Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request

from agentquest.adapters.json_requests import Body, Handler, query_number, routes
from agentquest.adapters.slots import Slots
from agentquest.benchmarks.alfworld.reading import strip_location
from agentquest.errors import UserError
from agentquest.lib import Arena, Session, Task, Turn

WORLDS = ("Text", "Embody", "Hybrid")

Json = dict[str, Any]


class AlfworldGym:
    """All environments of a server."""

    def __init__(
        self,
        arena: Arena,
        max_sessions: int,
        idle_s: float,
        max_steps: int,
        games: Sequence[Task] | None = None,
    ) -> None:
        self._arena = arena
        self._max_steps = max_steps
        self._games = arena.tasks() if games is None else games
        self._sessions: Slots[Session] = Slots(max_sessions, idle_s, Session.close)

    def app(self) -> Starlette:
        """The addresses that AgentGym's ALFWorld client calls."""
        posts: dict[str, Handler] = {
            "/create": self._create,
            "/reset": self._reset,
            "/step": self._step,
            "/close": self._close,
        }
        gets: dict[str, Handler] = {
            "/": self._hello,
            "/observation": self._observation,
            "/available_actions": self._available,
            "/detail": self._detail,
        }
        return Starlette(routes=routes(gets, posts))

    async def _hello(self, request: Request) -> str:
        return "This is environment AlfWorld."

    async def _create(self, request: Request) -> Json:
        if not self._sessions.has_room():
            return {"error": f"all {self._sessions.most} environments are in use; /close frees one"}
        return {"id": self._sessions.add(Session(self._arena, self._max_steps))}

    async def _reset(self, request: Request) -> Json:
        body = await Body.of(request)
        number, game = body.number("id"), body.number("game")
        if body.text("world_type") not in WORLDS:
            return {"error": f"world_type must be one of {', '.join(WORLDS)}"}
        session = self._sessions.get(number)
        if session is None:
            return _unknown(number)
        if not 0 <= game < len(self._games):
            return {
                "error": f"there is no game {game}: they are numbered 0 to {len(self._games) - 1}"
            }
        task = self._games[game]
        turn = session.reset(task)
        return {
            "id": number,
            "observation": _seen(turn),
            "available_actions": list(turn.admissible),
            "task_type": "/".join(task.id.split("/")[-2:]),
        }

    async def _step(self, request: Request) -> Json:
        body = await Body.of(request)
        session, wrong = self._playing(body.number("id"))
        action = body.text("action")
        if session is None:
            return wrong
        return _answer(session.step(action))

    async def _close(self, request: Request) -> Json:
        return {"closed": self._sessions.free((await Body.of(request)).number("id"))}

    async def _observation(self, request: Request) -> Any:
        session, wrong = self._playing(query_number(request, "id"))
        return wrong if session is None else _seen(session.last)

    async def _available(self, request: Request) -> Any:
        session, wrong = self._playing(query_number(request, "id"))
        return wrong if session is None else list(session.last.admissible)

    async def _detail(self, request: Request) -> Json:
        session, wrong = self._playing(query_number(request, "id"))
        if session is None:
            return wrong
        return {"world_type": "Text", "deleted": False, **_answer(session.last)}

    def _playing(self, number: int) -> tuple[Session | None, Json]:
        """The session, or what is said where there is none that goes on."""
        session = self._sessions.get(number)
        if session is None:
            return None, _unknown(number)
        try:
            over = session.last.over
        except UserError:
            return None, {"error": f"environment {number} has not been reset yet"}
        if over:
            return None, {"error": f"The task with environment {number} has finished."}
        return session, {}


def _unknown(number: int) -> Json:
    return {"error": f"The id {number} is not valid."}


def _answer(turn: Turn) -> Json:
    return {
        "observation": _seen(turn),
        "reward": turn.reward,
        "available_actions": list(turn.admissible),
        "done": turn.over,
    }


def _seen(turn: Turn) -> str:
    """Without the welcome, and without the number of a place one arrives at."""
    text = turn.text if turn.steps else "\n".join(turn.text.split("\n\n")[1:])
    return strip_location(text)
