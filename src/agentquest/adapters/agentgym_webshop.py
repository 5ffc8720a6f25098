"""AgentGym's WebShop server: text pages, synthetic goals, a goal's number as session."""

from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request

from agentquest.adapters.json_requests import Body, Handler, Refused, query_number, routes
from agentquest.adapters.slots import Slots
from agentquest.adapters.webshop_dropin import WebAgentTextEnv
from agentquest.adapters.webshop_server import SimServer
from agentquest.benchmarks.webshop.shop.shop import Shop

Json = dict[str, Any]


class WebshopGym:
    """All environments of a server; they share one shop."""

    def __init__(self, shop: Shop, max_sessions: int, idle_s: float) -> None:
        self._server = SimServer(shop=shop)
        self._made = 0
        self._envs: Slots[WebAgentTextEnv] = Slots(max_sessions, idle_s, self._forget)

    def app(self) -> Starlette:
        """The addresses that AgentGym's WebShop client calls."""
        posts: dict[str, Handler] = {
            "/create": self._create,
            "/reset": self._reset,
            "/step": self._step,
            "/close": self._close,
        }
        gets: dict[str, Handler] = {
            "/": self._hello,
            "/list_envs": self._list,
            "/available_actions": self._available,
            "/instruction_text": self._instruction,
            "/observation": self._observation,
            "/state": self._state,
        }
        return Starlette(routes=routes(gets, posts))

    async def _hello(self, request: Request) -> str:
        return "ok"

    async def _list(self, request: Request) -> list[int]:
        return self._envs.numbers()

    async def _create(self, request: Request) -> int:
        if not self._envs.has_room():
            # Its clients wait and try again when they hear this.
            raise Refused(503, f"all {self._envs.most} environments are in use; /close frees one")
        self._made += 1
        prefix = f"{self._made}-"  # so that no two of them share a session
        return self._envs.add(WebAgentTextEnv("text", server=self._server, session_prefix=prefix))

    async def _reset(self, request: Request) -> list[Any]:
        body = await Body.of(request)
        env = self._env(body.number("env_idx"))
        goal = body.number_or_none("session_id")
        self._forget(env)
        return list(env.reset(session=goal))

    async def _step(self, request: Request) -> Json:
        body = await Body.of(request)
        env = self._env(body.number("env_idx"))
        state, reward, done, info = env.step(body.text("action"))
        return {"state": state, "reward": reward, "done": done, "info": info}

    async def _close(self, request: Request) -> Json:
        return {"closed": self._envs.free((await Body.of(request)).number("env_idx"))}

    async def _available(self, request: Request) -> Json:
        return self._asked(request).get_available_actions()

    async def _instruction(self, request: Request) -> str:
        env = self._asked(request)
        return str(env.instruction_text)

    async def _observation(self, request: Request) -> str:
        return self._asked(request).observation

    async def _state(self, request: Request) -> Json:
        return self._asked(request).state

    def _forget(self, env: WebAgentTextEnv) -> None:
        self._server.sessions.pop(env.session, None)

    def _asked(self, request: Request) -> WebAgentTextEnv:
        return self._env(query_number(request, "env_idx"))

    def _env(self, number: int) -> WebAgentTextEnv:
        env = self._envs.get(number)
        if env is None:
            raise Refused(404, f"there is no environment {number}")
        return env
