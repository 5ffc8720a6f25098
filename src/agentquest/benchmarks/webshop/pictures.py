"""A page of the shop as a person would see it, drawn from what the agent was told.

The text of a page has its pieces between ` [SEP] `: what can be clicked is a
button, an id with a title and a price is a product.
"""

from collections.abc import Iterator, Sequence

from htpy import Node, button, div, input, label, p, span
from markupsafe import Markup

from agentquest.benchmarks.webshop.shop.pages import SEPARATOR
from agentquest.lib.types import Moment

_CLICK = "click["
_SEARCH = "search["
_NAVIGATION = ("back to search", "< prev", "next >")
_ABOUT = ("description", "features", "reviews", "attributes")
_BUY = "buy now"
_NO_OPTION = (*_NAVIGATION, *_ABOUT, _BUY)


def draw_pages(moments: Sequence[Moment]) -> Iterator[Markup | None]:
    """The page at each moment, with what was clicked on it; None if the text is not a page."""
    actions = [moment.action.lower() for moment in moments]
    for place, moment in enumerate(moments):
        chosen = actions[place + 1] if place + 1 < len(actions) else ""
        yield _draw_page(moment, actions[1 : place + 1], chosen)


def draw_controls(moments: Sequence[Moment]) -> Markup | None:
    """The newest page, as the content of a form to click on."""
    actions = [moment.action.lower() for moment in moments[1:]]
    return _draw_page(moments[-1], actions, acts=True)


def _picked_options(actions: Sequence[str], admissible: Sequence[str]) -> frozenset[str]:
    """The options that were clicked since the page was opened."""
    possible = {command.lower() for command in admissible}
    found = set()
    for action in reversed(actions):
        name = _argument(action)
        if action not in possible or name in _NO_OPTION:
            break
        found.add(name)
    return frozenset(found)


def _draw_page(
    moment: Moment, actions: Sequence[str], chosen: str = "", acts: bool = False
) -> Markup | None:
    """The page after these actions; `chosen` is the next one, `acts`: a person can click now."""
    if SEPARATOR not in moment.observation:
        return None
    return Markup(div(".shop")[_Page(moment, actions, chosen, acts).parts()])


class _Page:
    def __init__(self, moment: Moment, actions: Sequence[str], chosen: str, acts: bool) -> None:
        admissible = moment.admissible
        self._pieces = [piece.strip() for piece in moment.observation.split(SEPARATOR)]
        self._picked = _picked_options(actions, admissible)
        self._chosen, self._acts = chosen, acts
        self._clicks = {_argument(one.lower()) for one in admissible if one.startswith(_CLICK)}
        self._searches = any(one.startswith(_SEARCH) for one in admissible)

    def parts(self) -> Iterator[Node]:
        pieces = self._pieces
        if "Instruction:" in pieces[:2]:
            begin = pieces.index("Instruction:")
            yield p(".wish")[pieces[begin + 1 : begin + 2]]
            pieces = pieces[begin + 2 :]
        if self._searches:
            yield self._search()
        place = 0
        while place < len(pieces):
            taken, drawn = self._part(pieces[place : place + 3])
            yield drawn
            place += taken

    def _part(self, pieces: list[str]) -> tuple[int, Node]:
        """How many pieces the next part has, and the part."""
        first = pieces[0]
        name = first.lower()
        if self._is_option(first):
            if len(pieces) > 2 and pieces[2].startswith("$"):
                return 3, self._product(*pieces[:3])
            return 1, self._button(first, "option")
        if name in self._clicks:
            return 1, self._button(first, "buy" if name == _BUY else "plain")
        if name == "search" and self._searches:
            return 1, None
        if len(pieces) > 1 and self._is_option(pieces[1]):
            return 1, p(".option-name")[first]
        return 1, p(class_="price" if first.startswith("Price:") else "text")[first]

    def _is_option(self, piece: str) -> bool:
        name = piece.lower()
        return name in self._clicks and name not in _NO_OPTION

    def _product(self, number: str, title: str, price: str) -> Node:
        return p(".product")[self._button(title, "title", number), span[price]]

    def _search(self) -> Node:
        if self._acts:
            words = label["Search for ", input(name="blank", autocomplete="off")]
            search = button(name="fill", value=f"{_SEARCH}<query>]")["Search"]
            return p(".search")[words, " ", search]
        chosen = self._chosen
        words_chosen = _argument(chosen) if chosen.startswith(_SEARCH) else ""
        return p(".search")[span(".box")[words_chosen or "Search"]]

    def _button(self, text: str, kind: str, meant: str = "") -> Node:
        name = (meant or text).lower()
        command = f"{_CLICK}{name}]"
        kinds = {
            f"click {kind}": True,
            "picked": name in self._picked,
            "chosen": command == self._chosen,
        }
        if self._acts:
            return button(class_=kinds, name="command", value=command)[text]
        return span(class_=kinds)[text]


def _argument(command: str) -> str:
    return command.partition("[")[2].removesuffix("]")
