"""What people see of the shop: the same pages, products and buttons that agents get as text."""

import re
from collections.abc import Iterator, Mapping

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product
from agentquest.benchmarks.webshop.serving.layout import action_button, form, page
from agentquest.benchmarks.webshop.serving.markup import Markup, element, joined
from agentquest.benchmarks.webshop.serving.people import Visit
from agentquest.benchmarks.webshop.shop.pages import PAGE_SIZE, SUB_PAGES, Kind, Piece
from agentquest.benchmarks.webshop.shop.shop import BASE_URL, Session, parse
from agentquest.words import counted

_TOTAL = re.compile(r"\(Total results: (\d+)\)")
CHOOSE = "choose"
_OPTION = "option-"
_TAKEN_FOR_ANOTHER = "The shop takes this text for something else; it cannot be chosen."
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
    said = f"{counted(total, 'product')} found"
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
    number = visit.session.shop.catalogue.number(link.text)
    product = None if number is None else visit.session.shop.catalogue.product(number)
    return element(
        "li",
        _picture(visit, product.image if product else "", "small"),
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
    product = session.product()
    parts = [
        action_button(f"click[{piece.text.lower()}]", piece.text)
        for piece in session.page.pieces
        if piece.kind is Kind.BUTTON and piece.text in SUB_PAGES
    ]
    back = action_button("click[< prev]", "‹ Back to results", class_="link")
    content = joined(
        form("/act", element("p", back), visit=visit),
        element("h1", product.title.strip() or product.asin),
        _picture(visit, _image(session, product), "large"),
        element(
            "p",
            element("span", product.price_text, class_="price big"),
            element("span", f"Rating: {RATING}", class_="soft"),
            element("span", product.asin, class_="soft"),
            class_="under",
        ),
        form(
            "/act",
            # The first button is what Enter presses on a choice; this one does nothing else.
            element("button", type="submit", name="action", value=CHOOSE, hidden=True),
            *(_options(session, number) for number in range(len(product.options))),
            element("nav", *parts, class_="row", aria_label="About this product"),
            element("p", action_button("click[buy now]", "Buy now", class_="button primary buy")),
            visit=visit,
        ),
    )
    return product.title or product.asin, content


def _image(session: Session, product: Product) -> str:
    """The picture of the product as it was chosen."""
    chosen = (product.option_images.get(value) for value in reversed(session.options.values()))
    return next((image for image in chosen if image), product.image)


def _picture(visit: Visit, address: str, size: str) -> Markup:
    """A picture from elsewhere, where pictures are wanted; it says nothing that text does not."""
    if not visit.images or not address.startswith("https://"):
        return joined()
    return element(
        "img", src=address, alt="", class_=size, loading="lazy", referrerpolicy="no-referrer"
    )


def _options(session: Session, number: int) -> Markup:
    """The values of one option group; what is chosen is sent with the next click."""
    group = list(session.product().options)[number]
    pieces = session.page.pieces
    values = [piece for piece in pieces if piece.kind is Kind.OPTION and piece.group == group]
    choices = [
        element(
            "label",
            element(
                "input",
                type="radio",
                name=f"{_OPTION}{number}",
                value=piece.text,
                checked=session.options.get(group) == piece.text,
                disabled=not _can_be_clicked(session, piece),
            ),
            element("span", piece.text.strip() or "(blank)"),
            class_="option",
            title=None if _can_be_clicked(session, piece) else _TAKEN_FOR_ANOTHER,
        )
        for piece in values
    ]
    return element(
        "fieldset",
        element("legend", group),
        element("div", *choices, class_="row") if choices else "Nothing to choose.",
    )


def chosen_options(visit: Visit, fields: Mapping[str, str], action: str) -> Iterator[str]:
    """The clicks on options that a form brings along, before its own click.

    Those that lead away from the product would forget them at once, and bring none.
    """
    session = visit.session
    staying = action == CHOOSE or parse(action)[1] in (*_PARTS, "buy now")
    if session.place != "item_page" or not staying:
        return
    for number, group in enumerate(session.product().options):
        value = fields.get(f"{_OPTION}{number}")
        piece = session.page.clickables.get(value or "")
        chosen = session.options.get(group.lower())
        if value is None or piece is None or piece.group != group or value == chosen:
            continue
        if _can_be_clicked(session, piece) and visit.end is None:
            yield f"click[{value}]"


def _part(visit: Visit) -> tuple[str, Markup]:
    product = visit.session.product()
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


def _choice(session: Session, piece: Piece, label: str, class_: str) -> Markup:
    """A button for a product; dead where the shop takes its text for something else."""
    if _can_be_clicked(session, piece):
        return action_button(f"click[{piece.text.lower()}]", label, class_=class_)
    return element(
        "button", label, type="button", class_=class_, disabled=True, title=_TAKEN_FOR_ANOTHER
    )


def _can_be_clicked(session: Session, piece: Piece) -> bool:
    """Whether a click on the piece's text means the piece.

    Two groups can offer the same text, which then means the last, and a text can
    be that of one of the page's own buttons.
    """
    text = piece.text.lower()
    buttons = {each.text.lower() for each in session.page.pieces if each.kind is Kind.BUTTON}
    if text in buttons or text in _PARTS or session.page.clickables.get(text) != piece:
        return False
    return session.accepts(f"click[{text}]")
