"""The page that a session stands on, in the original's HTML."""

from typing import TYPE_CHECKING

from agentquest.benchmarks.webshop.original.html import Frame, results_page, search_page
from agentquest.benchmarks.webshop.original.item_html import item_page
from agentquest.benchmarks.webshop.original.links import EnvironmentLinks
from agentquest.benchmarks.webshop.original.other_html import done_page, sub_page
from agentquest.benchmarks.webshop.shop.pages import Kind

if TYPE_CHECKING:
    from agentquest.benchmarks.webshop.shop.shop import Session


def page_html(session: "Session") -> str:
    """The HTML of where the session stands; the search page before anything was done."""
    frame = Frame(
        EnvironmentLinks(),
        session.id,
        session.instruction,
        session.keywords,
        session.page_number,
    )
    match session.place:
        case "search_results":
            return _results(session, frame)
        case "item_page":
            shown = session.shop.show_attributes
            return item_page(frame, session.product(), session.options, shown)
        case "item_sub_page":
            return sub_page(frame, session.product(), session.options, session.page.part)
        case "done" if session.last_reward is not None:
            asin = session.product().asin
            return done_page(asin, session.options, session.last_reward.value)
    return search_page(frame)


def _results(session: "Session", frame: Frame) -> str:
    catalogue = session.shop.catalogue
    links = (piece.text for piece in session.page.pieces if piece.kind is Kind.LINK)
    numbers = (catalogue.number(asin) for asin in links)
    products = [catalogue.product(number) for number in numbers if number is not None]
    return results_page(frame, session.page_number, session.page.total, products)
