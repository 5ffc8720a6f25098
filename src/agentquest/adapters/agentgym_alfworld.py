"""AgentGym's ALFWorld server: its clients work unchanged, and environments are freed.

Failures are answers with `error` in them, as its clients expect. `game` is a
task's place in the split that is served; with AgentGym's own mapping files it is
the place in those.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.routing import Route

from agentquest.adapters.json_requests import Body, Handler, answered, query_number
from agentquest.adapters.slots import Slots
from agentquest.errors import DataError, UserError
from agentquest.lib import Arena, Session, Task, Turn

WORLDS = ("Text", "Embody", "Hybrid")
_ARRIVAL = "You arrive at loc "
_SPLITS = ("train", "valid_train")

Json = dict[str, Any]


class AlfworldGym:
    """All environments of a server."""

    def __init__(
        self,
        arena: Arena,
        max_sessions: int,
        idle_s: float,
        max_steps: int,
        mappings: Sequence[Path] = (),
    ) -> None:
        self._arena = arena
        self._max_steps = max_steps
        self._games = _mapped(arena, mappings) if mappings else arena.tasks()
        self._sessions: Slots[Session] = Slots(max_sessions, idle_s)

    def app(self) -> Starlette:
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
        routes = [Route(path, answered(run), methods=["POST"]) for path, run in posts.items()]
        return Starlette(routes=[*routes, *(Route(p, answered(run)) for p, run in gets.items())])

    async def _hello(self, request: Request) -> str:
        return "This is environment AlfWorld."

    async def _create(self, request: Request) -> Json:
        number = self._sessions.new_number()
        if not self._sessions.add(number, Session(self._arena, self._max_steps)):
            return {"error": f"all {self._sessions.most} environments are in use; /close frees one"}
        return {"id": number}

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
        turn = session.step(action)
        return _answer(turn)

    async def _close(self, request: Request) -> Json:
        number = (await Body.of(request)).number("id")
        session = self._sessions.pop(number)
        if session is not None:
            session.close()
        return {"closed": session is not None}

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
            return None, {"error": f"environment {number} was not reset yet"}
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
    return text.partition(". ")[2] if text.startswith(_ARRIVAL) else text


def _mapped(arena: Arena, files: Sequence[Path]) -> list[Task]:
    """The games that AgentGym's mapping files list: of train first, then of valid_train."""
    games = []
    for file, split in zip(files, _SPLITS, strict=False):
        try:
            rows = json.loads(file.read_text(encoding="utf-8"))
            names = [f"{split}/{row['task_type']}/{row['task_id']}" for row in rows]
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise DataError(f"{file} is no mapping file of AgentGym's: {error!r}") from None
        games += [arena.task(name, split) for name in names]
    return games
