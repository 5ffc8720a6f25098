"""The shop for people in a browser: server-rendered, no scripts, one cookie.

Every click sends a form (POST), which is carried out and answered with the address of
the page it led to. Options are chosen in the browser and sent along with the next
click, so that choosing reloads nothing. Going back in the browser undoes nothing: the
visitor is told so, and shown the current page.
"""

import asyncio
import logging
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.serving.requests import (
    ROUTES_OF_THE_ORIGINAL,
    SessionLimits,
    add_session,
    make_app,
    read_form,
    run_step,
)
from agentquest.benchmarks.webshop.serving.site_pages import (
    CHOOSE,
    LONGEST_PARTICIPANT,
    LONGEST_QUERY,
    address,
    chosen_options,
    give_up_page,
    outcome_page,
    problem_page,
    shop_page,
    welcome_page,
)
from agentquest.benchmarks.webshop.serving.site_session import SiteSession, search_action
from agentquest.benchmarks.webshop.shop.sessions import Sessions
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.benchmarks.webshop.tasks import TasksOfGoals, numbers_of, task_of
from agentquest.errors import AgentQuestError, DataError
from agentquest.http.access import Access
from agentquest.http.guard import Names, Rules, guard_app, page_headers
from agentquest.http.serving import Served
from agentquest.http.sessions import SessionStore, Stage
from agentquest.http.sockets import Socket
from agentquest.lib.people import Recorder
from agentquest.words import parse_whole_number

COOKIE = "webshop_visit"
MAX_VISITS = 1000
_WENT_BACK = "That page belongs to an earlier step. Going back undoes nothing: you are here now."
_NOT_POSSIBLE = "That cannot be done on this page; nothing has changed."
_NO_QUERY = "Type a word to search for."
_ODD_QUERY = "The shop cannot search for that; leave out square brackets and < >."
_UNDER_WAY = "You have a task in progress. Finish it or give it up to get another."
_UNSAVED = "Your visit could not be recorded; please tell whoever runs this site."
_log = logging.getLogger(__name__)

_HEADERS = page_headers() | {"Cache-Control": "no-store"}
Handler = Callable[[Request, SiteSession], Awaitable[Response]]


def for_people(
    shop: Shop, recorder: Recorder, limits: SessionLimits, access: Access, sock: Socket
) -> Served:
    """The site, which needs no token; its tasks go to `recorder`, which is open while it runs."""
    site = _Site(shop, recorder, limits)
    routes = [
        Route("/", site.welcome, methods=["GET"]),
        Route("/start", site.start, methods=["POST"]),
        Route("/visit/{turn:int}", site.visiting(site.look), methods=["GET"]),
        Route("/act", site.visiting(site.act), methods=["POST"]),
        Route("/give-up", site.visiting(site.ask_to_give_up), methods=["GET"]),
        Route("/give-up", site.visiting(site.give_up), methods=["POST"]),
        Route("/style.css", _file("site.css", "text/css"), methods=["GET"]),
        Route("/icon.svg", _file("icon.svg", "image/svg+xml"), methods=["GET"]),
        *ROUTES_OF_THE_ORIGINAL,
    ]
    app = make_app(routes, _refuse, site.lifespan)
    rules = Rules(Names(access.host, access.names), headers=_HEADERS, refusal=_refuse)
    return Served(guard_app(app, rules), sock)


def _html(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="text/html")


def _go_on(visit: SiteSession) -> Response:
    return RedirectResponse(address(visit), 303)


def _refuse(status: int, text: str) -> Response:
    """A page that says why; also for what no route gets to see."""
    title = HTTPStatus(status).phrase
    if text == HTTPStatus.NOT_FOUND.phrase:  # of a path that has no route
        text = "There is no such page in this shop."
    return _html(problem_page(title, text), status)


def _file(name: str, kind: str) -> Callable[[Request], Awaitable[Response]]:
    content = files(__package__).joinpath(name).read_bytes()

    async def send(request: Request) -> Response:
        return Response(content, 200, {"Cache-Control": "max-age=300"}, kind)

    return send


class _Site:
    def __init__(self, shop: Shop, recorder: Recorder, limits: SessionLimits) -> None:
        self.shop = shop
        self.recorder = recorder
        self.recording = asyncio.Lock()
        self.given = self._count_given()
        most = min(limits.max_sessions, MAX_VISITS)
        self.visits = SessionStore[str, SiteSession](most, limits.session_ttl_s)

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        async with self.visits.expire_regularly(self._save_unfinished):
            yield
        await self._save_unfinished(self.visits.clear())

    async def _save_unfinished(self, visits: list[SiteSession]) -> None:
        for visit in visits:
            if visit.end is None:
                await self._save(visit)

    async def _save(self, visit: SiteSession) -> None:
        """Record a visit; one that was not ended was left."""
        if visit.end is None and not visit.moves:
            self.given[visit.number] -= 1  # nothing happened: the task is free again
            return
        try:
            async with self.recording:
                await asyncio.to_thread(self.recorder.save, visit.finish())
        except (OSError, AgentQuestError) as error:
            _log.error("a visit could not be recorded: %s", error)
            visit.notice = _UNSAVED

    def _visit(self, request: Request) -> SiteSession | None:
        return self.visits.get(request.cookies.get(COOKIE, ""))

    def visiting(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """A route for visitors only; sends others to the first page, and says why."""

        async def route(request: Request) -> Response:
            visit = self._visit(request)
            if visit is None:
                text = "It was never started here, or was inactive for too long. Start a new task."
                return _html(problem_page("There is no such visit", text), 404)
            return await handler(request, visit)

        return route

    async def welcome(self, request: Request) -> Response:
        visit = self._visit(request)
        return _html(welcome_page(len(self.shop.goals), visit, _take_notice(visit)))

    async def start(self, request: Request) -> Response:
        fields = await read_form(request)
        visit = self._visit(request)
        if visit is not None and visit.end is None:
            visit.notice = _UNDER_WAY
            return _go_on(visit)
        wanted = self._read_number(fields.get("number", ""))
        participant = _participant(fields)
        try:
            number = self._give_task(wanted)
        except DataError as error:
            raise HTTPException(422, str(error)) from error
        session = Sessions(self.shop, limit=1).reset(number)
        visit = SiteSession(session, number, participant)
        name = secrets.token_urlsafe(16)
        await self._save_unfinished(add_session(self.visits, name, visit, request))
        response = _go_on(visit)
        response.set_cookie(COOKIE, name, httponly=True, samesite="lax")
        return response

    def _count_given(self) -> Counter[int]:
        """How often each goal was played in the run so far."""
        goals = self.shop.goals
        tasks = TasksOfGoals(goals, range(len(goals)))
        games = self.recorder.count_games()
        found = ((tasks.find(task_id), count) for task_id, count in games.items())
        return Counter({int(task.problem): count for task, count in found if task is not None})

    def _give_task(self, number: int | None) -> int:
        """The goal for a new visit: the one asked for, or the least played of the test split."""
        if number is None:
            choice = numbers_of("test", len(self.shop.goals))
            number = min(choice, key=lambda n: (self.given[n], n))
        task_of(self.shop.goals, number)  # refuses a goal that no record could name
        self.given[number] += 1
        return number

    def _read_number(self, text: str) -> int | None:
        """The number of the task that was asked for."""
        text = text.strip()
        if not text:
            return None
        number = parse_whole_number(text)
        count = len(self.shop.goals)
        if number is None or number >= count:
            raise HTTPException(422, f"A task number is between 0 and {count - 1}.")
        return number

    async def look(self, request: Request, visit: SiteSession) -> Response:
        if request.path_params["turn"] != visit.turn:
            visit.notice = _WENT_BACK
            return _go_on(visit)
        return _html(_current(visit, _take_notice(visit)))

    async def act(self, request: Request, visit: SiteSession) -> Response:
        fields = await read_form(request)
        async with visit.lock:
            if not _is_current(visit, fields):
                return _go_on(visit)
            action, problem = _action(visit, fields)
            if action is None:
                return _html(_current(visit, problem), 422)
            for choice in chosen_options(visit, fields, action):
                visit.act(choice)
            if visit.end is None and action != CHOOSE:
                await run_step(len(self.shop.catalogue), lambda: visit.act(action))
            self.visits.mark(request.cookies[COOKIE], Stage.FINISHED if visit.end else Stage.IN_USE)
            if visit.end is not None:
                await self._save(visit)
        return _go_on(visit)

    async def ask_to_give_up(self, request: Request, visit: SiteSession) -> Response:
        return _go_on(visit) if visit.end else _html(give_up_page(visit))

    async def give_up(self, request: Request, visit: SiteSession) -> Response:
        fields = await read_form(request)
        async with visit.lock:
            if _is_current(visit, fields):
                visit.give_up()
                await self._save(visit)
        return _go_on(visit)


def _current(visit: SiteSession, notice: str) -> bytes:
    return shop_page(visit, notice) if visit.end is None else outcome_page(visit, notice)


def _take_notice(visit: SiteSession | None) -> str:
    """The notice for the visitor, which is shown once."""
    if visit is None:
        return ""
    notice, visit.notice = visit.notice, ""
    return notice


def _is_current(visit: SiteSession, fields: dict[str, str]) -> bool:
    """Whether a form is the visitor's own, and from their current page."""
    if not secrets.compare_digest(fields.get("token", "").encode(), visit.token.encode()):
        raise HTTPException(403, "This form does not belong to your visit. Reload the page.")
    if fields.get("turn") == str(visit.turn) and visit.end is None:
        return True
    if visit.end is None:
        visit.notice = _WENT_BACK
    return False


def _action(visit: SiteSession, fields: dict[str, str]) -> tuple[str | None, str]:
    """The action that a form asks for, or what to say instead."""
    if "query" in fields:
        query = fields["query"].strip()
        action = search_action(query)
        problem = _ODD_QUERY if query else _NO_QUERY
        if action is None or len(query) > LONGEST_QUERY:
            return None, problem
    else:
        action, problem = fields.get("action", ""), _NOT_POSSIBLE
        if action == CHOOSE and visit.session.place == "item_page":
            return action, ""
    return (action, "") if visit.session.accepts(action) else (None, problem)


def _participant(fields: dict[str, str]) -> str:
    name = " ".join(fields.get("participant", "").split())
    if len(name) > LONGEST_PARTICIPANT:
        raise HTTPException(422, f"A name can have at most {LONGEST_PARTICIPANT} characters.")
    return name
