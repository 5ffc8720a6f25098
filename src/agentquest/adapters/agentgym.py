"""AgentGym's servers of the two benchmarks that it shares with us.

Its clients work unchanged, and environments that nobody uses are freed. For ALFWorld,
failures are answers with `error` in them, as its clients expect, and `game` is an index into
the split that is served, or into what AgentGym's mapping files list. WebShop has text pages
and synthetic goals; the session is a goal's number.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request

from agentquest.adapters.arenas import agentgym_games, shared_arena
from agentquest.adapters.json_requests import Body, Handler, always, make_routes, query_number
from agentquest.adapters.webshop_dropin import WebAgentTextEnv
from agentquest.adapters.webshop_server import SimServer
from agentquest.benchmarks.alfworld.reading import strip_location
from agentquest.benchmarks.webshop.benchmark import WebshopBenchmark
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.errors import UnknownName, UserError
from agentquest.http.guard import Refused
from agentquest.http.sessions import SessionStore, StoreFull
from agentquest.lib import Arena, Session, Task, Turn

WORLDS = ("Text", "Embody", "Hybrid")

Json = dict[str, Any]


def agentgym_app(
    benchmark: str,
    settings: Mapping[str, Any],
    max_sessions: int,
    idle_s: float,
    max_steps: int,
    mappings: Sequence[Path] = (),
) -> Starlette:
    """ALFWorld in the dialect its clients are written for, unless another is asked for; WebShop."""
    if benchmark == "alfworld":
        arena = shared_arena(benchmark, {"dialect": "0.3", **settings})
        games = agentgym_games(arena, mappings) if mappings else None
        return AlfworldGym(arena, max_sessions, idle_s, max_steps, games).app()
    if benchmark != "webshop":
        raise UnknownName(f"AgentGym has no {benchmark!r}; there are: alfworld, webshop")
    if mappings:
        raise UserError("mapping files list games of ALFWorld; WebShop's goals have numbers")
    shop = shared_arena(benchmark, settings).benchmark
    assert isinstance(shop, WebshopBenchmark)
    return WebshopGym(shop.shop, max_sessions, idle_s).app()


class AlfworldGym:
    """All ALFWorld environments of a server."""

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
        self._sessions = SessionStore[int, Session](max_sessions, idle_s, evicts=False)
        self._numbers = itertools.count()

    def app(self) -> Starlette:
        """The addresses that AgentGym's ALFWorld client calls."""
        posts: dict[str, Handler] = {
            "/create": self._create,
            "/reset": self._reset,
            "/step": self._step,
            "/close": self._close,
        }
        gets: dict[str, Handler] = {
            "/": always("This is environment AlfWorld."),
            "/observation": self._read(_visible_text),
            "/available_actions": self._read(lambda turn: list(turn.admissible)),
            "/detail": self._read(
                lambda turn: {"world_type": "Text", "deleted": False, **_describe(turn)}
            ),
        }
        return Starlette(routes=make_routes(_tell_errors(gets), _tell_errors(posts)))

    async def _create(self, request: Request) -> Json:
        number = next(self._numbers)
        try:
            self._sessions.add(number, Session(self._arena, self._max_steps))
        except StoreFull:
            raise UserError(_describe_full(self._sessions.limit)) from None
        return {"id": number}

    async def _reset(self, request: Request) -> Json:
        body = await Body.of(request)
        number, game = body.number("id"), body.number("game")
        if body.text("world_type") not in WORLDS:
            raise UserError(f"world_type must be one of {', '.join(WORLDS)}")
        session = self._find(number)
        if not 0 <= game < len(self._games):
            raise UserError(
                f"there is no game {game}: they are numbered 0 to {len(self._games) - 1}"
            )
        task = self._games[game]
        turn = session.reset(task)
        return {
            "id": number,
            "observation": _visible_text(turn),
            "available_actions": list(turn.admissible),
            "task_type": "/".join(task.id.split("/")[-2:]),
        }

    async def _step(self, request: Request) -> Json:
        body = await Body.of(request)
        number, action = body.number("id"), body.text("action")
        return _describe(self._find_playing(number).step(action))

    async def _close(self, request: Request) -> Json:
        session = self._sessions.remove((await Body.of(request)).number("id"))
        return {"closed": session is not None}

    def _read(self, read: Callable[[Turn], Any]) -> Handler:
        async def answer(request: Request) -> Any:
            return read(self._find_playing(query_number(request, "id")).last)

        return answer

    def _find_playing(self, number: int) -> Session:
        """The session of an episode that goes on; raises UserError where none does."""
        session = self._find(number)
        try:
            over = session.last.over
        except UserError:
            raise UserError(f"environment {number} has not been reset yet") from None
        if over:
            raise UserError(f"The task with environment {number} has finished.")
        return session

    def _find(self, number: int) -> Session:
        session = self._sessions.get(number)
        if session is None:
            raise UserError(f"The id {number} is not valid.")
        return session


def _tell_errors(handlers: Mapping[str, Handler]) -> dict[str, Handler]:
    """The same handlers, which answer with `error` where they would refuse."""

    def tell(handler: Handler) -> Handler:
        async def answer(request: Request) -> Any:
            try:
                return await handler(request)
            except UserError as error:
                return {"error": str(error)}

        return answer

    return {path: tell(handler) for path, handler in handlers.items()}


def _describe(turn: Turn) -> Json:
    return {
        "observation": _visible_text(turn),
        "reward": turn.reward,
        "available_actions": list(turn.admissible),
        "done": turn.over,
    }


def _visible_text(turn: Turn) -> str:
    """Without the welcome, and without the number of a place one arrives at."""
    text = turn.text if turn.steps else "\n".join(turn.text.split("\n\n")[1:])
    return strip_location(text)


class WebshopGym:
    """All WebShop environments of a server; they share one shop."""

    def __init__(self, shop: Shop, max_sessions: int, idle_s: float) -> None:
        self._server = SimServer(shop=shop)
        self._envs = SessionStore[int, WebAgentTextEnv](max_sessions, idle_s, evicts=False)
        self._numbers = itertools.count()

    def app(self) -> Starlette:
        """The addresses that AgentGym's WebShop client calls."""
        posts: dict[str, Handler] = {
            "/create": self._create,
            "/reset": self._reset,
            "/step": self._step,
            "/close": self._close,
        }
        gets: dict[str, Handler] = {
            "/": always("ok"),
            "/list_envs": self._list,
            "/available_actions": self._read(lambda env: env.get_available_actions()),
            "/instruction_text": self._read(lambda env: str(env.instruction_text)),
            "/observation": self._read(lambda env: env.observation),
            "/state": self._read(lambda env: env.state),
        }
        return Starlette(routes=make_routes(gets, posts))

    async def _list(self, request: Request) -> list[int]:
        return sorted(self._envs)

    async def _create(self, request: Request) -> int:
        try:
            for idle in self._envs.make_room():
                self._forget(idle)
        except StoreFull:
            # Its clients wait and try again when they hear this.
            raise Refused(503, _describe_full(self._envs.limit)) from None
        number = next(self._numbers)
        prefix = f"{number + 1}-"  # so that no two of them share a session
        env = WebAgentTextEnv("text", server=self._server, session_prefix=prefix)
        self._envs.add(number, env)
        return number

    async def _reset(self, request: Request) -> list[Any]:
        body = await Body.of(request)
        env = self._find(body.number("env_idx"))
        goal = body.number_or_none("session_id")
        self._forget(env)
        return list(env.reset(session=goal))

    async def _step(self, request: Request) -> Json:
        body = await Body.of(request)
        env = self._find(body.number("env_idx"))
        state, reward, done, info = env.step(body.text("action"))
        return {"state": state, "reward": reward, "done": done, "info": info}

    async def _close(self, request: Request) -> Json:
        env = self._envs.remove((await Body.of(request)).number("env_idx"))
        if env is not None:
            self._forget(env)
        return {"closed": env is not None}

    def _read(self, read: Callable[[WebAgentTextEnv], Any]) -> Handler:
        async def answer(request: Request) -> Any:
            return read(self._find(query_number(request, "env_idx")))

        return answer

    def _forget(self, env: WebAgentTextEnv) -> None:
        self._server.user_sessions.pop(env.session, None)

    def _find(self, number: int) -> WebAgentTextEnv:
        env = self._envs.get(number)
        if env is None:
            raise Refused(404, f"there is no environment {number}")
        return env


def _describe_full(limit: int) -> str:
    return f"all {limit} environments are in use; /close frees one"
