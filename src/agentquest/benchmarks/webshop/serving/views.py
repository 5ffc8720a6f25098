"""What people see of the shop: the same pages, products and buttons that agents get as text."""

import re

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product
from agentquest.benchmarks.webshop.serving.layout import action_button, form, page
from agentquest.benchmarks.webshop.serving.markup import Markup, element, joined
from agentquest.benchmarks.webshop.serving.people import Visit
from agentquest.benchmarks.webshop.shop.pages import PAGE_SIZE, SUB_PAGES, Kind, Piece
from agentquest.benchmarks.webshop.shop.shop import BASE_URL, Session

_TOTAL = re.compile(r"\(Total results: (\d+)\)")
_PARTS = {name.lower(): name for name in SUB_PAGES}


def shop_page(visit: Visit, notice: str = "") -> bytes:
    """The page that a visitor who is still shopping stands on."""
    kind = visit.session.page.url.removeprefix(f"{BASE_URL}/").split("/")[0]
    show = {"search_results": _results, "item_page": _product, "item_sub_page": _part}
    title, content = show.get(kind, _search)(visit)
    return page(title, content, visit=visit, notice=notice)


def _search(visit: Visit) -> tuple[str, Markup]:
    content = joined(
        element("h1", "Find the product of your task"),
        element(
            "p",
            "Type what you are looking for above. Among the products found, open the one that fits"
            " the task best, choose its options, and buy it. One purchase ends the task.",
        ),
    )
    return "Search", content


def _results(visit: Visit) -> tuple[str, Markup]:
    session = visit.session
    pieces = session.page.pieces
    texts = " ".join(piece.text for piece in pieces[3:4])
    found = _TOTAL.search(texts)
    total = int(found.group(1)) if found else 0
    first = (session.page_number - 1) * PAGE_SIZE + 1
    items = [
        _result(visit, *pieces[at : at + 3])
        for at, piece in enumerate(pieces)
        if piece.kind is Kind.LINK
    ]
    said = f"{total} products found" if total != 1 else "1 product found"
    if items:
        said += f", {first} to {first + len(items) - 1} shown"
    paging = [("< Prev", "Previous page")] if session.page_number > 1 else []
    if first + PAGE_SIZE <= total:
        paging.append(("Next >", "Next page"))
    buttons = [action_button(f"click[{button.lower()}]", label) for button, label in paging]
    content = form(
        "/act",
        element("h1", "Results"),
        element("p", said, class_="soft"),
        element("ol", *items, class_="results", start=str(max(first, 1))) if items else joined(),
        element("p", "Try other words.") if not total else joined(),
        element("nav", *buttons, class_="row", aria_label="Pages") if buttons else joined(),
        visit=visit,
    )
    return f"Results, page {session.page_number}", content


def _result(visit: Visit, link: Piece, title: Piece, price: Piece) -> Markup:
    seen = link.text in visit.session.visited
    return element(
        "li",
        _choice(visit.session, link, title.text.strip() or link.text, "link"),
        element(
            "p",
            element("span", price.text, class_="price"),
            element("span", link.text, class_="soft"),
            element("span", "seen", class_="soft") if seen else joined(),
            class_="under",
        ),
    )


def _product(visit: Visit) -> tuple[str, Markup]:
    session = visit.session
    product = _opened(session)
    parts = [
        action_button(f"click[{piece.text.lower()}]", piece.text)
        for piece in session.page.pieces
        if piece.kind is Kind.BUTTON and piece.text in SUB_PAGES
    ]
    content = form(
        "/act",
        element("p", action_button("click[< prev]", "‹ Back to results", class_="link")),
        element("h1", product.title.strip() or product.asin),
        element(
            "p",
            element("span", product.price_text, class_="price big"),
            element("span", f"Rating: {RATING}", class_="soft"),
            element("span", product.asin, class_="soft"),
            class_="under",
        ),
        *(_options(session, group) for group in product.options),
        element("nav", *parts, class_="row", aria_label="About this product"),
        element("p", action_button("click[buy now]", "Buy now", class_="button primary buy")),
        visit=visit,
    )
    return product.title or product.asin, content


def _options(session: Session, group: str) -> Markup:
    pieces = session.page.pieces
    values = [piece for piece in pieces if piece.kind is Kind.OPTION and piece.group == group]
    chosen = session.options.get(group)
    said = f"{group}: {chosen}" if chosen is not None else f"{group}: none chosen"
    buttons = [
        _choice(
            session,
            piece,
            piece.text.strip() or "(blank)",
            "option",
            aria_pressed="true" if piece.text == chosen else "false",
        )
        for piece in values
    ]
    return element(
        "fieldset",
        element("legend", said),
        element("div", *buttons, class_="row") if buttons else "Nothing to choose.",
    )


def _part(visit: Visit) -> tuple[str, Markup]:
    product = _opened(visit.session)
    name = _PARTS.get(visit.viewed_part, SUB_PAGES[0])
    content = form(
        "/act",
        element("p", action_button("click[< prev]", "‹ Back to the product", class_="link")),
        element("p", product.title, class_="soft"),
        element("h1", name),
        _part_text(name, product),
        visit=visit,
    )
    return name, content


def _part_text(name: str, product: Product) -> Markup:
    if name == "Description" and product.description.strip():
        return element("p", product.description, class_="long")
    listed = {
        "Features": product.bullets,
        "Attributes": (
            *product.attributes,
            product.category,
            product.query,
            product.product_category,
        ),
    }.get(name, ())
    lines = [element("li", line) for line in listed if line.strip()]
    if lines:
        return element("ul", *lines)
    return element("p", f"This product has no {name.lower()}.", class_="soft")


def _opened(session: Session) -> Product:
    number = session.shop.catalogue.number(session.asin or "")
    assert number is not None, "product pages are reached through a product only"
    return session.shop.catalogue.product(number)


def _choice(session: Session, piece: Piece, label: str, class_: str, **attributes: str) -> Markup:
    """A button for a product or an option; dead where the shop takes its text for something else.

    Two groups can offer the same text, which then means the last, and a text can
    be that of one of the page's own buttons.
    """
    action = f"click[{piece.text.lower()}]"
    buttons = {each.text.lower() for each in session.page.pieces if each.kind is Kind.BUTTON}
    target = session.page.clickables.get(piece.text.lower())
    reserved = piece.text.lower() in buttons or piece.text.lower() in _PARTS
    if target == piece and not reserved and session.accepts(action):
        return action_button(action, label, class_=class_, **attributes)
    why = "The shop takes this text for something else; it cannot be chosen."
    return element("button", label, type="button", class_=class_, disabled=True, title=why)
