"""The web application: addresses, and what each answers."""

import asyncio
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from agentquest.errors import AgentQuestError, UserError
from agentquest.reports.safe_text import html_text
from agentquest.viewer.compare_page import compare_page
from agentquest.viewer.episode_page import episode_page
from agentquest.viewer.insight import insight
from agentquest.viewer.layout import page
from agentquest.viewer.library import Library
from agentquest.viewer.run_page import run_page
from agentquest.viewer.runs_page import leaderboard_page, runs_page

_TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
_STATIC = {
    "page.css": "agentquest.reports.render.html",
    "viewer.css": "agentquest.viewer.static",
    "viewer.js": "agentquest.viewer.static",
    "icon.svg": "agentquest.viewer.static",
}
_MOST_COMPARED = 8


class Viewer:
    """Pages over a library. Reading is done in one thread at a time: runs are kept in memory."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._reading = asyncio.Lock()

    async def _answer(self, make: Callable[[], str]) -> Response:
        try:
            async with self._reading:
                return HTMLResponse(await run_in_threadpool(make))
        except AgentQuestError as error:
            body = f"<h1>Not found</h1><p>{html_text(error)}</p>"
            return HTMLResponse(page("Not found", [body]), status_code=404)

    async def runs(self, request: Request) -> Response:
        """The list of runs, filtered by the query."""
        query = dict(request.query_params)
        return await self._answer(
            lambda: page("Runs", runs_page(self._library.runs(), query), "/", _follow("/state"))
        )

    async def leaderboard(self, request: Request) -> Response:
        """Complete runs by success, a table for each setting."""
        return await self._answer(
            lambda: page("Leaderboard", leaderboard_page(self._library.runs()), "/leaderboard")
        )

    async def run(self, request: Request) -> Response:
        """One run; while it goes on, the page follows it."""
        name, query = request.path_params["name"], dict(request.query_params)

        def make() -> str:
            run = self._library.run(name)
            follow = _follow(f"/live/{name}") if run.state == "running" else ""
            return page(name, run_page(run, query), script_data=follow)

        return await self._answer(make)

    async def episode(self, request: Request) -> Response:
        """One episode, open at the step that the query names."""
        query = request.query_params
        name, key = query.get("run", ""), query.get("episode", "")
        step = query.get("step", "0")

        def make() -> str:
            run = self._library.run(name)
            record = run.episode(key)
            seen = insight(record, run.manifest)
            place = min(int(step) if step.isdigit() and len(step) < 6 else 0, len(record.steps))
            return page(record.goal, episode_page(name, record, seen, place))

        return await self._answer(make)

    async def compare(self, request: Request) -> Response:
        """The runs that the query names, compared with the first of them."""
        names = request.query_params.getlist("run")[:_MOST_COMPARED]
        query = dict(request.query_params)

        def make() -> str:
            if len(names) < 2:
                raise UserError("choose at least two runs to compare")
            runs = [self._library.run(name) for name in names]
            return page("Compare", compare_page(runs, query))

        return await self._answer(make)

    async def state(self, request: Request) -> Response:
        """What the list of runs shows, in short: a page whose state changed loads itself anew."""
        async with self._reading:
            runs = await run_in_threadpool(self._library.runs)
        told = [[run.name, len(getattr(run, "rows", ()))] for run in runs]
        return JSONResponse({"state": told})

    async def live(self, request: Request) -> Response:
        """What has happened in a run since `from`, as JSON, and where to ask on."""
        name = request.path_params["name"]
        offset = request.query_params.get("from", "0")

        def make() -> dict[str, Any]:
            run = self._library.run(name)
            events, end = run.live(int(offset) if offset.isdigit() else 0)
            return {
                "from": end,
                "state": [run.state, len(run.rows)],
                "events": [_told(event) for event in events[-200:]],
            }

        try:
            async with self._reading:
                return JSONResponse(await run_in_threadpool(make))
        except AgentQuestError as error:
            return JSONResponse({"error": str(error)}, status_code=404)


def _told(event: Any) -> dict[str, Any]:
    step = event.step
    return {
        "event": event.event,
        "key": event.key,
        "step": step.index if step else None,
        "action": step.action if step else None,
        "progress": step.progress if step else None,
        "end": event.end.value if event.end else None,
    }


def _follow(address: str) -> str:
    return f' data-follow="{html_text(address)}"'


async def static(request: Request) -> Response:
    """A style or script of the pages, and no other file."""
    name = request.path_params["name"]
    if name not in _STATIC:
        return Response("not found", status_code=404)
    content = files(_STATIC[name]).joinpath(name).read_bytes()
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]])


def viewer_app(library: Library) -> Starlette:
    """The application over a library; it only reads."""
    viewer = Viewer(library)
    routes: Iterable[Route] = (
        Route("/", viewer.runs),
        Route("/leaderboard", viewer.leaderboard),
        Route("/run/{name:path}", viewer.run),
        Route("/episode", viewer.episode),
        Route("/compare", viewer.compare),
        Route("/state", viewer.state),
        Route("/live/{name:path}", viewer.live),
        Route("/static/{name}", static),
    )
    return Starlette(routes=list(routes))
