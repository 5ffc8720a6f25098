"""The frame of every page of the site, and the forms in it."""

from agentquest.benchmarks.webshop.serving.markup import Markup, document, element, joined
from agentquest.benchmarks.webshop.serving.people import MAX_STEPS, Visit

LONGEST_QUERY = 500
LONGEST_PARTICIPANT = 80


def page(title: str, *content: str, visit: Visit | None = None, notice: str = "") -> bytes:
    """A whole page; with the visitor's task beside it while there is one."""
    shopping = visit is not None and visit.end is None
    body = [
        element("a", "Skip to content", class_="skip", href="#content"),
        _header(visit if shopping else None),
    ]
    main = element("main", _notice(notice), *content, id="content", tabindex="-1")
    if shopping and visit is not None:
        body.append(element("div", _task(visit), main, class_="columns"))
    else:
        body.append(element("div", main, class_="single"))
    body.append(element("footer", element("p", "A simulated shop. Nothing is sold or delivered.")))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("title", f"{title} – WebShop"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="robots", content="noindex"),
        element("link", rel="stylesheet", href="/style.css"),
        element("link", rel="icon", href="/icon.svg", type="image/svg+xml"),
    )
    return document(element("html", head, element("body", *body), lang="en"))


def form(action: str, *content: str, visit: Visit | None = None, **attributes: str) -> Markup:
    """A form; a visitor's own carries their token and the turn it was made for."""
    own: list[Markup] = []
    if visit is not None:
        own = [hidden("token", visit.token), hidden("turn", str(visit.turn))]
    return element("form", *own, *content, method="post", action=action, **attributes)


def action_button(action: str, *label: str, class_: str = "button", **attributes: str) -> Markup:
    """A button that does in the shop what `action` does."""
    return element(
        "button", *label, name="action", value=action, type="submit", class_=class_, **attributes
    )


def hidden(name: str, value: str) -> Markup:
    """A form field that is sent along unseen."""
    return element("input", type="hidden", name=name, value=value)


def _header(visit: Visit | None) -> Markup:
    brand = element("a", "WebShop", class_="brand", href="/")
    if visit is None:
        return element("header", brand)
    return element("header", brand, _search(visit))


def _search(visit: Visit) -> Markup:
    session = visit.session
    field = element(
        "input",
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
    return form(
        "/act",
        element("label", "Search for products", for_="query", class_="unseen"),
        field,
        element("button", "Search", type="submit", class_="button primary"),
        visit=visit,
        role="search",
    )


def _task(visit: Visit) -> Markup:
    left = MAX_STEPS - visit.turn
    steps = f"Step {visit.turn}"
    if left <= MAX_STEPS // 5:
        steps += f", {left} left"
    return element(
        "aside",
        element("h2", "Your task", id="task"),
        element("p", visit.session.instruction, class_="instruction"),
        element(
            "p",
            element("span", steps),
            element("a", "Give up", href="/give-up"),
            class_="under",
        ),
        class_="task",
        aria_labelledby="task",
    )


def _notice(text: str) -> Markup:
    return element("p", text, class_="notice", role="status") if text else joined()
