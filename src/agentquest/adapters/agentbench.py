"""AgentBench's task worker (AgentRL), for its controller and for its clients directly.

A worker names the session in the body and wraps what the environment says; the
controller's clients name it in a header and get it as it is. Both are answered.

A sample is a game by chat. Only the first tool call of an answer is played; an answer
without one costs a round, and three equal actions in a row, from the fourth action on, end
the sample. With `Repair.BLEU` an action that is not admissible is replaced by the most
similar one that is, as AgentBench does silently; here it is counted and logged.
"""

import itertools
import logging
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount

from agentquest.adapters.arenas import briefing_of
from agentquest.adapters.bleu import Repair, nearest
from agentquest.adapters.json_requests import AsciiJson, Body, Handler, always, make_routes
from agentquest.benchmarks.alfworld.reading import strip_location
from agentquest.benchmarks.webshop.game import WebshopGame
from agentquest.errors import ParseError, UserError
from agentquest.http.guard import Refused
from agentquest.http.heartbeat import heartbeat
from agentquest.http.sessions import SessionStore, StoreFull
from agentquest.lib import Arena, Session, Task, Turn
from agentquest.lib.commands import command_of, make_tool
from agentquest.records.messages import ToolCall, ToolSpec
from agentquest.records.usage import read_number
from agentquest.words import parse_whole_number

HEARTBEAT_S = 8.0
LONGEST_BODY = 8 * 1024 * 1024  # answers of models that reason at length, and whole result lists
NO_CALL = "No executable tool calls found! You should call a tool instead."
_SAME_IN_A_ROW = 3

Json = dict[str, Any]
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Style:
    """How AgentBench words a benchmark; this one is for any, with the tools it declares."""

    instructions: str
    tools: tuple[ToolSpec, ...]

    def first(self, session: Session, turn: Turn) -> str:
        """The message that opens a sample: the goal and the first observation."""
        return f"Goal: {session.goal}\n\n{turn.text}"

    def describe(self, session: Session, turn: Turn, action: str | None) -> str:
        """What an action led to; `action` is None where the answer held none."""
        return turn.text

    def overall(self, rewards: list[float]) -> Json:
        """The result over all samples, made of their rewards."""
        return {"reward": sum(rewards) / len(rewards) if rewards else 0}


class AlfworldStyle(Style):
    """ALFWorld: one tool that takes any action, and the available actions after every text."""

    def first(self, session: Session, turn: Turn) -> str:
        """The scene and the task, without the paragraph that opens every game."""
        scene = "\n".join(turn.text.split("\n\n")[1:])
        return f"Here is your task. {scene}{_available(turn)}"

    def describe(self, session: Session, turn: Turn, action: str | None) -> str:
        """The observation; on arrival, only what is seen there."""
        return f"{strip_location(turn.text)}{_available(turn)}"

    def overall(self, rewards: list[float]) -> Json:
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
    return f"Available Actions:\n{game.session.available}"


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


def _describe_tool(tool: ToolSpec) -> Json:
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
        self._samples = SessionStore[int, Sample](terms.concurrency, terms.idle_s, evicts=False)
        self._numbers = itertools.count()

    def app(self) -> Starlette:
        """The addresses under `/api`; a controller, if any, hears from it while it is up."""
        gets: dict[str, Handler] = {
            "/get_indices": always(self._indices),
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
            self._samples.make_room()
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
            self._samples.remove(number)
        return out if named is None else {"session_id": number, "env_out": out}

    async def _cancel(self, request: Request) -> Json:
        named = (await Body.of(request)).number_or_none("session_id")
        number = self._number(request) if named is None else named
        self._find(number)
        self._samples.remove(number)
        return {"session_id": number}

    async def _cancel_all(self, request: Request) -> None:
        self._samples.clear()

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


def _reward_in(result: Any) -> float:
    """The reward in a result as controllers collect them; what is none counts as zero."""
    inner = result.get("result") if isinstance(result, dict) else None
    if isinstance(inner, dict):
        inner = inner.get("result", inner.get("reward"))
    return float(read_number(inner, "the reward of a result") or 0)
