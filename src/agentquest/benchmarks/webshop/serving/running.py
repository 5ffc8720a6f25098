"""The applications on their sockets, each behind its guard."""

from agentquest.benchmarks.webshop.serving.api import api_app
from agentquest.benchmarks.webshop.serving.original_site import original_app
from agentquest.benchmarks.webshop.serving.requests import SessionLimits
from agentquest.benchmarks.webshop.serving.site import HEADERS, refuse, site_app
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.http.access import Access
from agentquest.http.guard import Names, Rules, guard_app, page_headers
from agentquest.http.serving import Served
from agentquest.http.sockets import Socket
from agentquest.lib.people import Recorder


def for_agents(shop: Shop, limits: SessionLimits, access: Access, sock: Socket) -> Served:
    """The API for agents; the token is asked of all but `/` and `/healthz`."""
    rules = Rules(
        Names(access.host, access.names),
        json_only=True,
        token=access.token,
        open_paths=("/", "/healthz"),
    )
    return Served(guard_app(api_app(shop, limits), rules), sock)


def for_people(
    shop: Shop, recorder: Recorder, limits: SessionLimits, access: Access, sock: Socket
) -> Served:
    """The site for people, who need no token; their tasks go to `recorder`."""
    rules = Rules(Names(access.host, access.names), headers=HEADERS, refusal=refuse)
    return Served(guard_app(site_app(shop, recorder, limits), rules), sock)


def original_pages(shop: Shop, limits: SessionLimits, access: Access, sock: Socket) -> Served:
    """The pages of the original's site, for programs that scrape them."""
    rules = Rules(Names(access.host, access.names), headers=page_headers())
    return Served(guard_app(original_app(shop, limits), rules), sock)
