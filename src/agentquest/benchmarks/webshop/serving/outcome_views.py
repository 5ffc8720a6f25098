"""The pages around a task: the welcome, giving up, and what a purchase was worth."""

from collections.abc import Sequence

from agentquest.benchmarks.webshop.serving.layout import LONGEST_PARTICIPANT, form, hidden, page
from agentquest.benchmarks.webshop.serving.markup import Markup, element, joined
from agentquest.benchmarks.webshop.serving.people import Visit
from agentquest.benchmarks.webshop.shop.reward import Option, wanted_options
from agentquest.records.outcome import End

_ENDS = {
    End.SOLVED: "Exactly right",
    End.FAILED: "Bought",
    End.GAVE_UP: "You gave up",
    End.STEP_LIMIT: "No steps are left",
}


def welcome_page(goals: int, visit: Visit | None, notice: str = "") -> bytes:
    """The first page; offers to continue a task in progress."""
    intro = joined(
        element("h1", "Can you shop as well as an agent?"),
        element(
            "p",
            "You get a task: a description of a product that somebody wants. Find the product that"
            " fits best in this shop, choose the options asked for, and buy it. One purchase ends"
            " the task, and you see what it is worth, from 0 to 1.",
        ),
        element(
            "p",
            "What you search for, open, choose and buy is recorded, with the time it takes and the"
            " name you give. A cookie holds the number of your visit, and nothing else.",
            class_="soft",
        ),
    )
    if visit is not None and visit.end is None:
        going = element("a", "Continue your task", class_="button primary", href=address(visit))
        return page("Welcome", intro, element("p", going), visit=visit, notice=notice)
    return page("Welcome", intro, _start_form(goals), notice=notice)


def _start_form(goals: int) -> Markup:
    return form(
        "/start",
        _field("participant", "Your name or code", "text", maxlength=str(LONGEST_PARTICIPANT)),
        _field("number", f"Task number, 0 to {goals - 1}", "number", min="0", max=str(goals - 1)),
        element("p", "Both are optional; without a number you are given a task.", class_="soft"),
        element("p", element("button", "Start", type="submit", class_="button primary")),
        class_="card",
    )


def _field(name: str, label: str, type_: str, **attributes: str) -> Markup:
    return element(
        "p",
        element("label", label, for_=name),
        element("input", id=name, name=name, type=type_, autocomplete="off", **attributes),
        class_="field",
    )


def address(visit: Visit) -> str:
    """Where a visit goes on; the number of the turn keeps old pages apart."""
    return f"/visit/{visit.turn}"


def give_up_page(visit: Visit) -> bytes:
    """Asks whether the task is really given up, and says what that costs."""
    content = form(
        "/give-up",
        element("h1", "Give up this task?"),
        element("p", "It then counts as not solved, with a score of 0."),
        element(
            "p",
            element("button", "Give up", type="submit", class_="button primary"),
            element("a", "Continue shopping", class_="button", href=address(visit)),
            class_="row",
        ),
        visit=visit,
    )
    return page("Give up?", content, visit=visit)


def outcome_page(visit: Visit, notice: str = "") -> bytes:
    """What the visit came to."""
    assert visit.end is not None
    content = [
        element("h1", _ENDS.get(visit.end, "The task is over")),
        element(
            "p",
            "Your score: ",
            element("strong", f"{visit.reward:.2f}", class_="score"),
            " of 1.00",
        ),
        element(
            "meter",
            f"{visit.reward:.2f}",
            min="0",
            max="1",
            value=str(visit.reward),
            aria_label="Your score",
        ),
        element("h2", "The task"),
        element("p", visit.session.instruction, class_="instruction"),
    ]
    if visit.session.bought is not None:
        content += [element("h2", "Your purchase"), _purchase(visit), _parts(visit)]
    content += [_code(visit), _next_task(visit)]
    return page("Your score", *content, visit=visit, notice=notice)


def _code(visit: Visit) -> Markup:
    return element(
        "p",
        "Your completion code: ",
        element("span", visit.code, class_="code"),
        element("br"),
        element("span", "If you were asked for one, copy it now.", class_="soft"),
    )


def _next_task(visit: Visit) -> Markup:
    """One click, and by the same person."""
    return form(
        "/start",
        hidden("participant", visit.participant),
        hidden("number", ""),
        element(
            "p",
            element("button", "Next task", type="submit", class_="button primary"),
            element("a", "Back to the start", class_="button", href="/"),
            class_="row",
        ),
    )


def _purchase(visit: Visit) -> Markup:
    session = visit.session
    number = session.shop.catalogue.number(session.bought or "")
    title = session.shop.catalogue.product(number).title if number is not None else ""
    options = ", ".join(f"{name}: {value}" for name, value in session.options.items())
    chosen = f"With {options}." if options else "Without choosing an option."
    return element("p", f"{title} ({session.bought}). {chosen}")


def _parts(visit: Visit) -> Markup:
    """What the score was made of, in words."""
    details, goal = visit.session.details, visit.session.goal
    rows = [
        ("Kind of product", _kind(details["r_type"])),
        ("Attributes", _met(goal.attributes, details["met_attributes"])),
    ]
    if goal.goal_options:
        rows.append(("Options", _met(wanted_options(goal), details["met_options"])))
    rows.append(("Price", "within the limit" if details["r_price"] else "above the limit"))
    return element(
        "table",
        element("caption", "What the score is made of"),
        element(
            "tbody",
            *(
                element("tr", element("th", name, scope="row"), element("td", value))
                for name, value in rows
            ),
        ),
    )


def _met(wanted: Sequence[Option], met: Sequence[Option]) -> str:
    """How many of what was wanted there are, and which are not."""
    left = list(met)
    missed = []
    for each in wanted:
        if each in left:
            left.remove(each)
        else:
            missed.append(each if isinstance(each, str) else ": ".join(each))
    said = f"{len(wanted) - len(missed)} of {len(wanted)} met"
    return f"{said}; missed: {', '.join(missed)}" if missed else said


def _kind(r_type: float) -> str:
    names = {1.0: "right", 0.5: "related: half the score", 0.1: "distant: a tenth of the score"}
    return names.get(r_type, "wrong: no score")


def problem_page(title: str, text: str) -> bytes:
    """Why something was not done, and the way on."""
    on = element("a", "Back to the start", class_="button primary", href="/")
    return page(title, element("h1", title), element("p", text), element("p", on))
