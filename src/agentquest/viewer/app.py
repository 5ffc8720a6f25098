"""The web application: addresses, and what each answers."""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from agentquest import registry
from agentquest.errors import AgentQuestError, UserError, explain
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.store.library import Library, RunSummary
from agentquest.store.lines import Span
from agentquest.store.search import Hits, TextIndex
from agentquest.store.stored_run import StoredRun
from agentquest.viewer.addresses import SITE
from agentquest.viewer.compare_page import compare_page
from agentquest.viewer.entry import ENTER, enter
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.export import ASSETS, asset
from agentquest.viewer.filters import parse_number, search
from agentquest.viewer.layout import render
from agentquest.viewer.pages import PAGES, navigation_page, page, problem_page
from agentquest.viewer.prompt_page import prompt, prompts_page
from agentquest.viewer.replay import analyse_episode
from agentquest.viewer.run_page import run_page

logger = logging.getLogger(__name__)
_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_MOST_COMPARED = 8
_MOST_EPISODES = 16
_MOST_SEARCHED = 4
_MOST_EVENTS = 200
T = TypeVar("T")


class Viewer:
    """Pages over a library. Runs are kept in memory, so one thread reads at a time."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._reading = asyncio.Lock()
        self._texts: OrderedDict[str, TextIndex] = OrderedDict()
        self._episodes: OrderedDict[tuple[str, Span], tuple[Manifest, str]] = OrderedDict()

    async def read(self, make: Callable[[], T]) -> T:
        """What `make` finds in the library, which runs in a thread while nobody else reads."""
        async with self._reading:
            return await run_in_threadpool(make)

    async def answer(self, make: Callable[[], str]) -> Response:
        """The page that `make` returns."""
        return HTMLResponse(await self.read(make))

    async def warm(self) -> None:
        """Read the list of runs and import what plays their games, before anybody asks."""

        def work() -> None:
            summaries = self._library.summaries()
            runs = [one for one in summaries if isinstance(one, RunSummary)]
            for name in {one.manifest.benchmark for one in runs}:
                with suppress(AgentQuestError):
                    registry.load_registered("benchmark", name)

        await self.read(work)

    def navigation(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        """What answers at the address of a page of the navigation."""

        async def answer(request: Request) -> Response:
            query = dict(request.query_params)
            return await self.answer(lambda: navigation_page(SITE, self._library, name, query))

        return answer

    async def run(self, request: Request) -> Response:
        """One run; while it goes on, the page follows it."""
        name, query = request.path_params["name"], dict(request.query_params)

        hits = await self._search(name, query) if query.get("text", "").strip() else None

        def make() -> str:
            run = self._library.run(name)
            follow = f"/live/{SITE.run(name)[5:]}" if run.state == "running" else ""
            return page(SITE, name, run_page(SITE, run, query, hits), follow=follow)

        return await self.answer(make)

    async def _search(self, name: str, query: dict[str, str]) -> Hits:
        """Other pages are made meanwhile: the first search of a large run takes seconds."""

        def prepare() -> Callable[[], Hits]:
            run = self._library.run(name)
            texts = self._texts.pop(name, None) or TextIndex(run.episodes)
            self._texts[name] = texts
            if len(self._texts) > _MOST_SEARCHED:
                self._texts.popitem(last=False)
            return search(run, query, texts)

        return await run_in_threadpool(await self.read(prepare))

    def find_episode(self, query: dict[str, str]) -> tuple[StoredRun, EpisodeRecord, int]:
        """The run, the episode and the step that an address or a form names."""
        run = self._library.run(query.get("run", ""))
        record = run.record(query.get("episode", ""))
        return run, record, min(parse_number(query.get("step", "")), len(record.steps))

    async def episode(self, request: Request) -> Response:
        """One episode."""
        name, key = request.query_params.get("run", ""), request.query_params.get("episode", "")
        return await self.answer(lambda: self._episode_page(name, key))

    def _episode_page(self, name: str, key: str) -> str:
        """Made once: whoever looks at the next step looks at the same episode.

        The manifest tells whether this is still the run that the page was made of.
        """
        run = self._library.run(name)
        place = (name, run.span(key))
        manifest, made = self._episodes.pop(place, (None, ""))
        if manifest is not run.manifest:
            record = run.record(key)
            seen = analyse_episode(record, run.manifest)
            made = page(SITE, record.goal, episode_page(SITE, run.name, record, seen))
        self._episodes[place] = run.manifest, made
        if len(self._episodes) > _MOST_EPISODES:
            self._episodes.popitem(last=False)
        return made

    async def prompt(self, request: Request) -> Response:
        """The prompt of one step; with `bare`, without the page around it."""
        query = dict(request.query_params)

        def make() -> str:
            run, record, step = self.find_episode(query)
            if not 1 <= step <= len(record.steps):
                raise UserError("the start of an episode has no prompt")
            one = record.steps[step - 1]
            if query.get("bare"):
                return render(prompt(record, one))
            return page(SITE, "Prompt", prompts_page(SITE, run.name, record, [one]))

        return await self.answer(make)

    async def compare(self, request: Request) -> Response:
        """The runs that the query names, compared with the first of them."""
        names = request.query_params.getlist("run")[:_MOST_COMPARED]
        task = request.query_params.get("task")

        def make() -> str:
            if len(names) < 2:
                raise UserError("choose at least two runs to compare")
            runs = [self._library.run(name) for name in names]
            return page(SITE, "Compare", compare_page(SITE, runs, task))

        return await self.answer(make)

    async def state(self, request: Request) -> Response:
        """What the list of runs shows, in short: a page whose state changed reloads itself."""
        runs = await self.read(self._library.summaries)
        state = [
            [run.name, run.state, run.figures.episodes, run.manifest.created_at]
            if isinstance(run, RunSummary)
            else [run.name]
            for run in runs
        ]
        return JSONResponse({"state": state})

    async def live(self, request: Request) -> Response:
        """A run's events since the place that the query names, as JSON for its page."""
        name, offset = request.path_params["name"], request.query_params.get("from", "0")

        def make() -> dict[str, Any]:
            run = self._library.run(name)
            events, end = run.live(parse_number(offset))
            return {
                "from": end,
                "state": [run.state, len(run.rows)],
                "events": [_describe_event(event) for event in events[-_MOST_EVENTS:]],
            }

        return JSONResponse(await self.read(make))


def explain_problems(app: ASGIApp) -> ASGIApp:
    """Pages of which some cannot be made, whatever their run is made of: they say why."""

    async def explained(scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await app(scope, receive, send)
        except (AgentQuestError, OSError) as error:
            title = "Cannot be compared" if scope["path"] == "/compare" else "Not found"
            await _problem(title, explain(error))(scope, receive, send)
        except Exception as error:
            logger.exception("a page could not be made")
            await _problem("This page cannot be shown", explain(error))(scope, receive, send)

    return explained


def _problem(title: str, why: str) -> Response:
    return HTMLResponse(problem_page(SITE, title, why), status_code=404)


async def _no_such_page(request: Request, error: Exception) -> Response:
    return _problem("Not found", "there is no such page here")


def _describe_event(event: Any) -> dict[str, Any]:
    step = event.step
    return {
        "event": event.event,
        "key": event.key,
        "step": step.index if step else None,
        "action": step.action if step else None,
    }


async def static(request: Request) -> Response:
    """A style or script of the pages, and no other file."""
    name = request.path_params["name"]
    if name not in ASSETS:
        return Response("not found", status_code=404)
    return Response(asset(name), media_type=_TYPES[name.rpartition(".")[2]])


def viewer_app(
    viewer: Viewer, further: Sequence[Route] = (), close: Callable[[], None] | None = None
) -> Starlette:
    """The pages, and `further` ones in their frame, such as games that people play; `close` is
    called in a thread when the server stops."""
    routes = [
        *(
            Route(address, viewer.navigation(name))
            for name, one in PAGES.items()
            if one.make and (address := SITE.page(name))
        ),
        Route("/run/{name:path}", viewer.run),
        Route("/episode", viewer.episode),
        Route("/prompt", viewer.prompt),
        Route("/compare", viewer.compare),
        Route("/state", viewer.state),
        Route("/live/{name:path}", viewer.live),
        Route("/static/{name}", static),
        Route(ENTER, enter, methods=["GET", "POST"]),
        *further,
    ]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(viewer.warm())
        yield
        warming.cancel()
        if close is not None:
            await run_in_threadpool(close)

    return Starlette(
        routes=routes,
        middleware=[Middleware(explain_problems)],
        exception_handlers={404: _no_such_page},
        lifespan=lifespan,
    )
