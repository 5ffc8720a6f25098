"""The pages of the shop for people: the same products and buttons that agents get as text."""

from collections.abc import Iterator, Mapping

import htpy as h
from htpy import Element, Node, VoidElement

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product
from agentquest.benchmarks.webshop.serving.site_session import MAX_STEPS, SiteSession
from agentquest.benchmarks.webshop.shop.pages import PAGE_SIZE, SUB_PAGES, Kind, Piece
from agentquest.benchmarks.webshop.shop.reward import describe_parts
from agentquest.benchmarks.webshop.shop.shop import ShoppingSession, parse
from agentquest.records.outcome import End
from agentquest.words import counted

CHOOSE = "choose"
LONGEST_QUERY = 500
LONGEST_PARTICIPANT = 80
_OPTION = "option-"
_TAKEN_FOR_ANOTHER = "The shop takes this text for something else; it cannot be chosen."
_PARTS = frozenset(name.lower() for name in SUB_PAGES)
_TITLES = {
    End.SOLVED: "Exactly right",
    End.FAILED: "Bought",
    End.GAVE_UP: "You gave up",
    End.STEP_LIMIT: "No steps are left",
}


# The frame of every page, and its forms


def _page(title: str, *content: Node, visit: SiteSession | None = None, notice: str = "") -> bytes:
    """A whole page as it is sent, with the task beside it while there is one.

    Half of a surrogate pair, which no page can contain, is shown as ?.
    """
    shopping = visit if visit is not None and visit.end is None else None
    main = h.main(id="content", tabindex="-1")[
        notice and h.p(".notice", role="status")[notice], content
    ]
    document = h.html(lang="en")[
        h.head[
            h.meta(charset="utf-8"),
            h.title[f"{title} – WebShop"],
            h.meta(name="viewport", content="width=device-width, initial-scale=1"),
            h.meta(name="robots", content="noindex"),
            h.link(rel="stylesheet", href="/style.css"),
            h.link(rel="icon", href="/icon.svg", type="image/svg+xml"),
        ],
        h.body[
            h.a(".skip", href="#content")["Skip to content"],
            h.header[
                h.a(".brand", href="/")["WebShop"], _search_form(shopping) if shopping else None
            ],
            h.div(".columns")[_task(shopping), main] if shopping else h.div(".single")[main],
            h.footer[h.p["A simulated shop. Nothing is sold or delivered."]],
        ],
    ]
    return f"{document}\n".encode("utf-8", "replace")


def _form(
    action: str, *content: Node, visit: SiteSession | None = None, **attributes: str
) -> Element:
    """A form; a visitor's own has their token and the turn it was made for."""
    own = (
        [_hidden_field("token", visit.token), _hidden_field("turn", str(visit.turn))]
        if visit
        else []
    )
    return h.form(method="post", action=action, **attributes)[own, content]


def _hidden_field(name: str, value: str) -> VoidElement:
    return h.input(type="hidden", name=name, value=value)


def _action_button(action: str, label: str, class_: str = "button") -> Element:
    """A button that does in the shop what `action` does."""
    return h.button(name="action", value=action, type="submit", class_=class_)[label]


def _search_form(visit: SiteSession) -> Element:
    session = visit.session
    field = h.input(
        type="search",
        id="query",
        name="query",
        value=" ".join(session.keywords),
        required=True,
        maxlength=str(LONGEST_QUERY),
        autocomplete="off",
        placeholder="What are you looking for?",
        autofocus=session.page.search_bar,
    )
    return _form(
        "/act",
        h.label(".unseen", for_="query")["Search for products"],
        field,
        h.button(type="submit", class_="button primary")["Search"],
        visit=visit,
        role="search",
    )


def _task(visit: SiteSession) -> Element:
    left = MAX_STEPS - visit.turn
    steps = f"Step {visit.turn}"
    if left <= MAX_STEPS // 5:
        steps += f", {left} left"
    return h.aside(".task", aria_labelledby="task")[
        h.h2(id="task")["Your task"],
        h.p(".instruction")[visit.session.instruction],
        h.p(".under")[h.span[steps], h.a(href="/give-up")["Give up"]],
    ]


# Before, around and after a task


def address(visit: SiteSession) -> str:
    """Where a visit continues; the number of the turn tells old pages apart."""
    return f"/visit/{visit.turn}"


def welcome_page(goals: int, visit: SiteSession | None, notice: str) -> bytes:
    """The first page; offers to continue a task in progress."""
    intro = [
        h.h1["Can you shop as well as an agent?"],
        h.p[
            "You get a task: a description of a product that somebody wants. Find the product that"
            " fits best in this shop, choose the options asked for, and buy it. One purchase ends"
            " the task, and you see what it is worth, from 0 to 1."
        ],
        h.p(".soft")[
            "What you search for, open, choose and buy is recorded, with the time it takes and the"
            " name you give. A cookie holds the number of your visit, and nothing else."
        ],
    ]
    if visit is not None and visit.end is None:
        link = h.a(href=address(visit), class_="button primary")["Continue your task"]
        return _page("Welcome", intro, h.p[link], visit=visit, notice=notice)
    return _page("Welcome", intro, _start_form(goals), notice=notice)


def _start_form(goals: int) -> Element:
    return _form(
        "/start",
        _field("participant", "Your name or code", type="text", maxlength=str(LONGEST_PARTICIPANT)),
        _field(
            "number", f"Task number, 0 to {goals - 1}", type="number", min="0", max=str(goals - 1)
        ),
        h.p(".soft")["Both are optional; without a number you are given a task."],
        h.p[h.button(type="submit", class_="button primary")["Start"]],
        class_="card",
    )


def _field(name: str, label: str, **attributes: str) -> Element:
    return h.p(".field")[
        h.label(for_=name)[label], h.input(id=name, name=name, autocomplete="off", **attributes)
    ]


def give_up_page(visit: SiteSession) -> bytes:
    """Asks whether the task is really given up, and says what that costs."""
    content = _form(
        "/give-up",
        h.h1["Give up this task?"],
        h.p["It then counts as not solved, with a score of 0."],
        h.p(".row")[
            h.button(type="submit", class_="button primary")["Give up"],
            h.a(".button", href=address(visit))["Continue shopping"],
        ],
        visit=visit,
    )
    return _page("Give up?", content, visit=visit)


def outcome_page(visit: SiteSession, notice: str) -> bytes:
    """How the task ended, and what the purchase was worth."""
    assert visit.end is not None
    score = f"{visit.reward:.2f}"
    content: list[Node] = [
        h.h1[_TITLES.get(visit.end, "The task is over")],
        h.p["Your score: ", h.strong(".score")[score], " of 1.00"],
        h.meter(min="0", max="1", value=str(visit.reward), aria_label="Your score")[score],
        h.h2["The task"],
        h.p(".instruction")[visit.session.instruction],
    ]
    if visit.session.bought is not None:
        content += [h.h2["Your purchase"], _purchase(visit), _score_table(visit)]
    content.append(
        h.p[
            "Your completion code: ",
            h.span(".code")[visit.code],
            h.br,
            h.span(".soft")["If you were asked for one, copy it now."],
        ]
    )
    next_task = _form(  # one click, and for the same person
        "/start",
        _hidden_field("participant", visit.participant),
        _hidden_field("number", ""),
        h.p(".row")[
            h.button(type="submit", class_="button primary")["Next task"],
            h.a(".button", href="/")["Back to the start"],
        ],
    )
    return _page("Your score", content, next_task, visit=visit, notice=notice)


def _purchase(visit: SiteSession) -> Element:
    session = visit.session
    options = ", ".join(f"{name}: {value}" for name, value in session.options.items())
    chosen = f"With {options}." if options else "Without choosing an option."
    return h.p[f"{session.product().title} ({session.bought}). {chosen}"]


def _score_table(visit: SiteSession) -> Element:
    parts = describe_parts(visit.session.goal, visit.session.details)
    return h.table[
        h.caption["What the score is made of"],
        h.tbody[(h.tr[h.th(scope="row")[name], h.td[value]] for name, value in parts.items())],
    ]


def problem_page(title: str, text: str) -> bytes:
    """Why something was not done, and a way back."""
    link = h.a(href="/", class_="button primary")["Back to the start"]
    return _page(title, h.h1[title], h.p[text], h.p[link])


# Shopping


def shop_page(visit: SiteSession, notice: str) -> bytes:
    """The current page of a visitor who is still shopping."""
    show = {"search_results": _results, "item_page": _product, "item_sub_page": _part}
    title, content = show.get(visit.session.place, _search)(visit)
    return _page(title, content, visit=visit, notice=notice)


def _search(visit: SiteSession) -> tuple[str, Node]:
    content = [
        h.h1["Find the product of your task"],
        h.p[
            "Type what you are looking for above. Among the products found, open the one that fits"
            " the task best, choose its options, and buy it. One purchase ends the task."
        ],
    ]
    return "Search", content


def _results(visit: SiteSession) -> tuple[str, Node]:
    session = visit.session
    pieces, total = session.page.pieces, session.page.total
    first = (session.page_number - 1) * PAGE_SIZE + 1
    items = [
        _result(visit, *pieces[at : at + 3])
        for at, piece in enumerate(pieces)
        if piece.kind is Kind.LINK
    ]
    summary = f"{counted(total, 'product')} found"
    if items:
        summary += f", {first} to {first + len(items) - 1} shown"
    paging = [("< Prev", "Previous page")] if session.page_number > 1 else []
    if first + PAGE_SIZE <= total:
        paging.append(("Next >", "Next page"))
    buttons = [_action_button(f"click[{button.lower()}]", label) for button, label in paging]
    content = _form(
        "/act",
        h.h1["Results"],
        h.p(".soft")[summary],
        items and h.ol(".results", start=str(max(first, 1)))[items],
        not total and h.p["Try other words."],
        buttons and h.nav(".row", aria_label="Pages")[buttons],
        visit=visit,
    )
    return f"Results, page {session.page_number}", content


def _result(visit: SiteSession, link: Piece, title: Piece, price: Piece) -> Element:
    seen = link.text in visit.session.visited
    return h.li[
        _product_button(visit.session, link, title.text.strip() or link.text),
        h.p(".under")[
            h.span(".price")[price.text],
            h.span(".soft")[link.text],
            seen and h.span(".soft")["seen"],
        ],
    ]


def _product_button(session: ShoppingSession, piece: Piece, label: str) -> Element:
    """A button that opens a product; disabled if the shop takes its text for something else."""
    if _can_be_clicked(session, piece):
        return _action_button(f"click[{piece.text.lower()}]", label, class_="link")
    return h.button(".link", type="button", disabled=True, title=_TAKEN_FOR_ANOTHER)[label]


def _product(visit: SiteSession) -> tuple[str, Node]:
    session = visit.session
    product = session.product()
    parts = [
        _action_button(f"click[{piece.text.lower()}]", piece.text)
        for piece in session.page.pieces
        if piece.kind is Kind.BUTTON and piece.text in SUB_PAGES
    ]
    back = _action_button("click[< prev]", "‹ Back to results", class_="link")
    content = [
        _form("/act", h.p[back], visit=visit),
        h.h1[product.title.strip() or product.asin],
        h.p(".under")[
            h.span(class_="price big")[product.price_text],
            h.span(".soft")[f"Rating: {RATING}"],
            h.span(".soft")[product.asin],
        ],
        _form(
            "/act",
            # Enter on a choice presses the first button, so this one does nothing else.
            h.button(type="submit", name="action", value=CHOOSE, hidden=True),
            (_options(session, *numbered) for numbered in enumerate(product.options)),
            h.nav(".row", aria_label="About this product")[parts],
            h.p[_action_button("click[buy now]", "Buy now", class_="button primary buy")],
            visit=visit,
        ),
    ]
    return product.title or product.asin, content


def _options(session: ShoppingSession, number: int, group: str) -> Element:
    """The values of one option group; what is chosen is sent with the next click."""
    pieces = session.page.pieces
    values = [piece for piece in pieces if piece.kind is Kind.OPTION and piece.group == group]
    choices = [
        h.label(".option", title=None if _can_be_clicked(session, piece) else _TAKEN_FOR_ANOTHER)[
            h.input(
                type="radio",
                name=f"{_OPTION}{number}",
                value=piece.text,
                checked=session.options.get(group) == piece.text,
                disabled=not _can_be_clicked(session, piece),
            ),
            h.span[piece.text.strip() or "(blank)"],
        ]
        for piece in values
    ]
    return h.fieldset[h.legend[group], h.div(".row")[choices] if choices else "Nothing to choose."]


def chosen_options(visit: SiteSession, fields: Mapping[str, str], action: str) -> Iterator[str]:
    """The clicks on options that a form brings along, before its own click.

    A form that leaves the product brings none: the shop would forget them at once.
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


def _part(visit: SiteSession) -> tuple[str, Node]:
    product, name = visit.session.product(), visit.session.page.part
    content = _form(
        "/act",
        h.p[_action_button("click[< prev]", "‹ Back to the product", class_="link")],
        h.p(".soft")[product.title],
        h.h1[name],
        _part_text(name, product),
        visit=visit,
    )
    return name, content


def _part_text(name: str, product: Product) -> Element:
    if name == "Description" and product.description.strip():
        return h.p(".long")[product.description]
    listed = {
        "Features": product.bullets,
        "Attributes": (
            *product.attributes,
            product.category,
            product.query,
            product.product_category,
        ),
    }.get(name, ())
    lines = [h.li[line] for line in listed if line.strip()]
    return h.ul[lines] if lines else h.p(".soft")[f"This product has no {name.lower()}."]


def _can_be_clicked(session: ShoppingSession, piece: Piece) -> bool:
    """Whether a click on the piece's text means the piece.

    Two groups can offer the same text, which then means the last, and a text can
    be that of one of the page's own buttons.
    """
    text = piece.text.lower()
    buttons = {each.text.lower() for each in session.page.pieces if each.kind is Kind.BUTTON}
    if text in buttons or text in _PARTS or session.page.clickables.get(text) != piece:
        return False
    return session.accepts(f"click[{text}]")
