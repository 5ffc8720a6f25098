"""AgentBench's task worker (AgentRL), for its controller and for its clients directly.

A worker names the session in the body and wraps what the environment says; the
controller's clients name it in a header and get it as it is. Both are answered.
"""

import itertools
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

from agentquest.adapters.agentbench_sample import Sample, style_of
from agentquest.adapters.bleu import Repair
from agentquest.adapters.json_requests import AsciiJson, Body, Handler, make_routes
from agentquest.errors import UserError
from agentquest.http.guard import Refused
from agentquest.http.heartbeat import heartbeat
from agentquest.http.sessions import SessionStore, StoreFull
from agentquest.lib import Arena, Session, Task
from agentquest.words import parse_whole_number

HEARTBEAT_S = 8.0
LONGEST_BODY = 8 * 1024 * 1024  # answers of models that reason at length, and whole result lists

Json = dict[str, Any]


@dataclass(frozen=True)
class WorkerTerms:
    """How the tasks are played, and for how many at once."""

    name: str
    concurrency: int = 64
    idle_s: float = 3600.0
    rounds: int = 20
    repair: Repair = Repair.NONE


@dataclass(frozen=True)
class Controller:
    """Whom the worker reports to, and where it can be reached itself."""

    url: str
    address: str


class AgentBenchWorker:
    """All samples of one benchmark that are being played."""

    def __init__(
        self,
        arena: Arena,
        terms: WorkerTerms,
        games: Sequence[Task] | None = None,
        controller: Controller | None = None,
    ) -> None:
        if terms.repair is not Repair.NONE and arena.benchmark.name != "alfworld":
            raise UserError("AgentBench repairs actions in ALFWorld only")
        self._arena = arena
        self._terms = terms
        self._controller = controller
        self._style = style_of(arena)
        self._games = arena.tasks() if games is None else games
        self._indices = list(range(len(self._games)))
        self._samples: SessionStore[int, Sample]
        self._samples = SessionStore(terms.concurrency, terms.idle_s, evicts=False)
        self._numbers = itertools.count()

    def app(self) -> Starlette:
        """The addresses under `/api`; a controller, if any, hears from it while it is up."""
        gets: dict[str, Handler] = {
            "/get_indices": self._get_indices,
            "/get_sessions": self._get_sessions,
            "/worker_status": self._worker_status,
        }
        posts: dict[str, Handler] = {
            "/start_sample": self._start,
            "/interact": self._interact,
            "/cancel": self._cancel,
            "/cancel_with_notice": self._cancel,
            "/cancel_all": self._cancel_all,
            "/cancel_all_with_notice": self._cancel_all,
            "/sample_status": self._sample_status,
            "/calculate_overall": self._overall,
        }
        mount = Mount("/api", routes=make_routes(gets, posts))
        return Starlette(routes=[mount], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        if self._controller is None:
            yield
            return
        about = {
            "name": self._terms.name,
            "address": self._controller.address,
            "concurrency": self._terms.concurrency,
            "indices": self._indices,
        }
        url = f"{self._controller.url.rstrip('/')}/receive_heartbeat"
        async with heartbeat(url, about, HEARTBEAT_S):
            yield

    async def _get_indices(self, request: Request) -> list[int]:
        return self._indices

    async def _get_sessions(self, request: Request) -> Json:
        samples = ((number, self._samples.peek(number)) for number in sorted(self._samples))
        return {str(number): sample.index for number, sample in samples if sample is not None}

    async def _worker_status(self, request: Request) -> Json:
        return {"concurrency": self._terms.concurrency, "current": len(self._samples)}

    async def _start(self, request: Request) -> Response:
        body = await Body.of(request)
        number, index = body.number_or_none("session_id"), body.number("index")
        if number is not None and number in self._samples:
            raise Refused(400, "Session ID already exists")
        if index not in range(len(self._games)):
            raise Refused(
                400, f"there is no sample {index}: they are numbered 0 to {len(self._games) - 1}"
            )
        try:
            for idle in self._samples.make_room():
                idle.close()
        except StoreFull:
            limit = self._terms.concurrency
            raise Refused(406, f"Sample concurrency limit reached: {limit}") from None
        session = Session(self._arena, self._terms.rounds)
        sample = Sample(session, self._style, index, self._terms.repair)
        out = sample.begin(self._games[index])
        if number is None:
            number = next(free for free in self._numbers if free not in self._samples)
        self._samples.add(number, sample)
        return AsciiJson(out, headers={"session_id": str(number)})

    async def _interact(self, request: Request) -> Json:
        body = await Body.of(request)
        named = body.number_or_none("session_id")
        number = self._number(request) if named is None else named
        messages = body.items("messages")
        if not messages or not all(isinstance(message, dict) for message in messages):
            raise Refused(422, "messages must be a list of chat messages")
        sample = self._find(number)
        out = sample.answer(messages)
        if out["finish"]:
            self._end(number)
        return out if named is None else {"session_id": number, "env_out": out}

    async def _cancel(self, request: Request) -> Json:
        named = (await Body.of(request)).number_or_none("session_id")
        number = self._number(request) if named is None else named
        self._find(number)
        self._end(number)
        return {"session_id": number}

    async def _cancel_all(self, request: Request) -> None:
        for sample in self._samples.clear():
            sample.close()

    async def _sample_status(self, request: Request) -> Json:
        number = (await Body.of(request)).number("session_id")
        sample = self._find(number)
        return {"session_id": number, "index": sample.index, "status": sample.status}

    async def _overall(self, request: Request) -> Json:
        results = (await Body.of(request)).items("results")
        return self._style.overall([_reward_in(result) for result in results])

    def _number(self, request: Request) -> int:
        number = parse_whole_number(request.headers.get("session_id", ""), digits=18)
        if number is None:
            raise Refused(400, "name the session")
        return number

    def _find(self, number: int) -> Sample:
        sample = self._samples.get(number)
        if sample is None:
            raise Refused(400, "No such session")
        return sample

    def _end(self, number: int) -> None:
        sample = self._samples.remove(number)
        if sample is not None:
            sample.close()


def _reward_in(result: Any) -> float:
    """The reward in a result as controllers collect them; nothing counts as zero."""
    inner = result.get("result") if isinstance(result, dict) else None
    if isinstance(inner, dict):
        inner = inner.get("result", inner.get("reward"))
    return float(inner) if isinstance(inner, int | float) else 0.0
