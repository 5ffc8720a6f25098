"""The addresses at which people play; the only ones of the viewer that change anything.

Host and Origin are checked before a request comes here. A form must also hold a token
that is only in pages of this very process, and that no other site can read.
"""

import secrets
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from agentquest.lib.commands import fill_blanks
from agentquest.people.games import Games, WebGame
from agentquest.people.pages import game_page, play_on_page, play_page
from agentquest.people.session import GameReply
from agentquest.viewer.addresses import SITE
from agentquest.viewer.app import Viewer
from agentquest.viewer.pages import page

_LONGEST_COMMAND = 2000
_MOST_FIELDS = 20
Fields = dict[str, str]


class PlayRoutes:
    """Pages and forms for games; each form leads to the page of its game."""

    def __init__(self, viewer: Viewer, games: Games) -> None:
        self._viewer = viewer
        self._games = games
        self._token = secrets.token_urlsafe(24)

    def routes(self) -> list[Route]:
        """The addresses: GET shows a page, POST changes a game."""
        return [
            Route("/play", self.choose, methods=["GET"]),
            Route("/play", self.begin, methods=["POST"]),
            Route("/play-on", self.ask, methods=["GET"]),
            Route("/play-on", self.play_on, methods=["POST"]),
            Route("/game/{name}", self.show, methods=["GET"]),
            Route("/game/{name}", self.act, methods=["POST"]),
        ]

    async def choose(self, request: Request) -> Response:
        """The page on which a person chooses what to play."""
        return await self._viewer.answer(
            lambda: page(SITE, "Play", play_page(SITE, self._token), "play")
        )

    async def begin(self, request: Request) -> Response:
        """Begin the game that was chosen."""

        def make(given: Fields) -> WebGame:
            wanted = (given.get(name, "") for name in ("benchmark", "split", "type", "task"))
            return self._games.begin(*wanted)

        return await self._change(request, make)

    async def ask(self, request: Request) -> Response:
        """Ask whether to continue from a step of an episode; nothing begins yet."""
        asked = dict(request.query_params)

        def make() -> str:
            run, record, step = self._viewer.find_episode(asked)
            content = play_on_page(SITE, self._token, run.name, record, step)
            return page(SITE, "Play on", content, "play")

        return await self._viewer.answer(make)

    async def play_on(self, request: Request) -> Response:
        """Begin a game in the state after that step."""

        def make(given: Fields) -> WebGame:
            run, record, step = self._viewer.find_episode(given)
            return self._games.play_on(run.name, run.manifest, record, step)

        return await self._change(request, make)

    async def show(self, request: Request) -> Response:
        """The page of a game in its current state."""
        name = request.path_params["name"]

        def make() -> str:
            game = self._games.find(name)
            content = game_page(SITE, self._token, game)
            return page(SITE, game.session.goal, content, "play")

        return await self._viewer.answer(make)

    async def act(self, request: Request) -> Response:
        """Do what was typed or pressed; nothing if the page was out of date."""
        name = request.path_params["name"]

        def make(given: Fields) -> WebGame:
            game = self._games.find(name)
            if given.get("turn") != str(game.session.steps):
                game.reply = GameReply(notice="That page was out of date; nothing was done.")
            else:
                self._games.act(game, _read_line(given))
            return game

        return await self._change(request, make)

    async def _change(self, request: Request, make: Callable[[Fields], WebGame]) -> Response:
        """Do what a form of ours asks for, and lead to the game."""
        try:
            read = parse_qs((await request.body()).decode(), max_num_fields=_MOST_FIELDS)
        except ValueError:
            return PlainTextResponse("this is not a form", status_code=400)
        given = {name: values[-1] for name, values in read.items()}
        if not secrets.compare_digest(given.get("token", "").encode(), self._token.encode()):
            return PlainTextResponse(
                "this form does not belong to this viewer; reload the page", status_code=403
            )
        game = await self._viewer.read(lambda: make(given))
        return RedirectResponse(f"/game/{game.name}", status_code=303)


def _read_line(given: Fields) -> str:
    """What was typed or pressed: a command, or the words for the blank of one."""
    if "fill" in given:
        return fill_blanks(given["fill"], given.get("blank", ""))[:_LONGEST_COMMAND]
    return given.get("command", "")[:_LONGEST_COMMAND]
