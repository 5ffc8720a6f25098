"""The original's web site: its routes and its pages, for programs that read them.

Made for scrapers of the original, such as ReAct's: `/fixed_0` plays goal 0, every
page has its own address, and the address contains all that a page depends on. Requests
that make the original fail are refused with a reason. Scripts and styles that the
pages name are not served: people use the other site.
"""

import random
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.original.html import (
    Frame,
    Verdict,
    completion_code,
    done_page,
    item_page,
    results_page,
    search_page,
    sub_page,
)
from agentquest.benchmarks.webshop.original.links import STYLE, read_dict, read_list, site_address
from agentquest.benchmarks.webshop.serving.requests import (
    MAX_NAME,
    SessionLimits,
    add_session,
    make_app,
    read_form,
    run_step,
)
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.pages import PAGE_SIZE, SUB_PAGES
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop
from agentquest.http.access import Access
from agentquest.http.guard import Names, Rules, guard_app, page_headers
from agentquest.http.serving import Served
from agentquest.http.sessions import SessionStore, Stage
from agentquest.http.sockets import Socket
from agentquest.words import parse_whole_number

HOME = "abc"
_MOST_SCANNED = 20_000  # products that a search by attribute may look through
_SHOWN_DETAILS = ("r_type", "r_att", "w_att", "query_match", "category_match", "title_score",
         "r_option", "w_option", "r_price", "w_price")  # fmt: skip


def for_scrapers(shop: Shop, limits: SessionLimits, access: Access, sock: Socket) -> Served:
    """The pages, which need no token; `limits` bound how many visits are remembered."""
    site = _OriginalSite(shop, limits)
    both = ["GET", "POST"]
    item = "{session}/{asin}/{keywords}/{page}"
    routes = [
        Route("/", site.home, methods=["GET"]),
        Route(STYLE, _style, methods=["GET"]),
        Route("/favicon.ico", _nothing, methods=["GET"]),
        Route("/search_results/{session}/{keywords}/{page}", site.results, methods=both),
        Route(f"/item_page/{item}/{{options}}", site.item, methods=both),
        Route(f"/item_sub_page/{item}/{{part}}/{{options}}", site.part, methods=both),
        Route("/done/{session}/{asin}/{options}", site.done, methods=both),
        Route("/{session}", site.index, methods=both),
    ]
    app = make_app(routes, _refuse, lambda app: site.goals.expire_regularly())
    rules = Rules(Names(access.host, access.names), headers=page_headers())
    return Served(guard_app(app, rules), sock)


def _html(content: str) -> Response:
    return Response(content.encode("utf-8", "replace"), media_type="text/html")


def _refuse(status: int, text: str) -> Response:
    return PlainTextResponse(f"{text}\n", status)


async def _style(request: Request) -> Response:
    return Response(".top-buffer { margin-top: 1em; }\n", media_type="text/css")


async def _nothing(request: Request) -> Response:
    raise HTTPException(404)


class _OriginalSite:
    def __init__(self, shop: Shop, limits: SessionLimits) -> None:
        self.shop = shop
        self.goals = SessionStore[str, Goal](limits.max_sessions, limits.session_ttl_s)
        self.rng = random.Random()  # continues the original's stream after the goals were made
        self.rng.setstate(shop.goals.state_after_shuffle)

    async def home(self, request: Request) -> Response:
        return RedirectResponse(f"/{HOME}", 302)

    async def index(self, request: Request) -> Response:
        """The search page, where a session begins; a search leads to its results."""
        session = request.path_params["session"]
        goal = self.goals.get(session)
        if goal is None:
            goal = self._new_goal(session)
            add_session(self.goals, session, goal, request)
        fields = await read_form(request) if request.method == "POST" else {}
        keywords = fields.get("search_query", "").lower().split(" ")
        frame = Frame(site_address, session, goal.instruction_text, keywords)
        if "search_query" in fields:
            return RedirectResponse(frame.results(1), 302)
        return _html(search_page(frame))

    def _new_goal(self, session: str) -> Goal:
        """Goal 7 for `fixed_7`; a drawn one for any other name."""
        if len(session) > MAX_NAME:
            raise HTTPException(422, f"a session name can have at most {MAX_NAME} characters")
        if "fixed" not in session:
            return self.shop.goals[self.shop.goals.choose(self.rng)]  # type: ignore[no-any-return]
        number = parse_whole_number(session.rpartition("_")[2])
        count = len(self.shop.goals)
        if number is None or number >= count:
            raise HTTPException(404, f"fixed_N plays goal N, and goals are 0 to {count - 1}")
        return self.shop.goals[number]  # type: ignore[no-any-return]

    def _goal(self, request: Request) -> Goal:
        session = request.path_params["session"]
        goal = self.goals.get(session)
        if goal is None:
            raise HTTPException(
                404, f"no session {session[:MAX_NAME]!r}: open its start page first"
            )
        self.goals.mark(session, Stage.IN_USE)
        return goal

    async def results(self, request: Request) -> Response:
        goal = self._goal(request)
        given = request.path_params["keywords"]
        keywords = _read(read_list, given, "keywords") if given.startswith("[") else [given]
        page = _number(request.path_params["page"])
        found = await run_step(len(self.shop.catalogue), lambda: self._search(keywords))
        shown = found[(page - 1) * PAGE_SIZE : page * PAGE_SIZE]
        products = [self.shop.catalogue.product(number) for number in shown]
        session = request.path_params["session"]
        frame = Frame(site_address, session, goal.instruction_text, keywords, page)
        return _html(results_page(frame, page, len(found), products))

    def _search(self, keywords: list[str]) -> list[int]:
        if not keywords or sum(map(len, keywords)) > LONGEST_ACTION:
            raise HTTPException(422, f"a search must have 1 to {LONGEST_ACTION} characters")
        if keywords[0] == "<a>":
            return self._with_attribute(" ".join(keywords[1:]).strip())
        if not self.shop.understands(keywords):
            raise HTTPException(422, f"the special search {keywords[0]} needs a word")
        return list(self.shop.find(keywords, lambda: self.rng))

    def _with_attribute(self, attribute: str) -> list[int]:
        """Here, and not in the environment for agents, the original can search by attribute."""
        catalogue = self.shop.catalogue
        if len(catalogue) > _MOST_SCANNED:
            raise HTTPException(422, "this many products cannot be searched by attribute")
        numbers = range(len(catalogue))
        return [number for number in numbers if attribute in catalogue.product(number).attributes]

    async def item(self, request: Request) -> Response:
        frame, product, options = self._open_product(request)
        return _html(item_page(frame, product, options, self.shop.show_attributes))

    async def part(self, request: Request) -> Response:
        frame, product, options = self._open_product(request)
        part = request.path_params["part"]
        if part not in SUB_PAGES:
            raise HTTPException(404, f"a product has {', '.join(SUB_PAGES)}")
        return _html(sub_page(frame, product, options, part))

    def _open_product(self, request: Request) -> tuple[Frame, Product, dict[str, str]]:
        goal, given = self._goal(request), request.path_params
        search = given["keywords"], given["page"]
        frame = Frame(site_address, given["session"], goal.instruction_text, *search)
        return frame, self._product(request), _read(read_dict, given["options"], "options")

    def _product(self, request: Request) -> Product:
        number = self.shop.catalogue.number(request.path_params["asin"])
        if number is None:
            raise HTTPException(404, "no such product")
        return self.shop.catalogue.product(number)

    async def done(self, request: Request) -> Response:
        goal, product = self._goal(request), self._product(request)
        options = _read(read_dict, request.path_params["options"], "options")
        reward = self.shop.reward(product.asin, options, goal)
        info = {name: reward.details[name] for name in _SHOWN_DETAILS if name in reward.details}
        session = request.path_params["session"]
        self.goals.mark(session, Stage.FINISHED)
        verdict = Verdict(completion_code(session), product, goal.as_dict(), info)
        return _html(done_page(product.asin, options, reward.value, verdict))


def _read(reader: Any, text: str, what: str) -> Any:
    try:
        return reader(text)
    except ValueError as error:
        raise HTTPException(400, f"the {what} cannot be read: {error}") from error


def _number(text: str) -> int:
    number = parse_whole_number(text.removeprefix("-"))
    if number is None:
        raise HTTPException(400, "the page must be a number")
    return -number if text.startswith("-") else number
