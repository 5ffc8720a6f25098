"""A page of a shop as a person would see it, drawn from what the agent was told.

Text pages whose pieces stand between ` [SEP] ` can be drawn whatever they are of:
what can be clicked is a button, an id with a title and a price is a product.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agentquest.records.episode import EpisodeRecord
from agentquest.reports.safe_text import html_text

_BETWEEN = " [SEP] "
_CLICK = "click["
_NAVIGATION = ("back to search", "< prev", "next >")
_ABOUT = ("description", "features", "reviews", "attributes")
_BUY = "buy now"


@dataclass(frozen=True)
class Look:
    """What has been clicked on the page (`picked`), what is clicked next, and whether a person
    can click it now (`acts`)."""

    picked: frozenset[str] = frozenset()
    chosen: str = ""
    acts: bool = False


def shop_pages(record: EpisodeRecord) -> Iterator[str]:
    """The page at the start, and after each step."""
    texts = [(record.first_observation, record.first_admissible)]
    texts += [(step.observation, step.admissible) for step in record.steps]
    actions = [(step.action or "").lower() for step in record.steps]
    for place, (text, admissible) in enumerate(texts):
        chosen = actions[place] if place < len(actions) else ""
        yield shop_page(text, admissible, Look(picked(actions[:place], admissible), chosen))


def picked(actions: Sequence[str], admissible: Sequence[str]) -> frozenset[str]:
    """The options that were clicked since the page was opened."""
    possible = {command.lower() for command in admissible}
    found = set()
    for action in reversed(actions):
        name = _inside(action)
        if action not in possible or name in (*_NAVIGATION, *_ABOUT, _BUY):
            break
        found.add(name)
    return frozenset(found)


def shop_page(text: str, admissible: Sequence[str], look: Look) -> str:
    """The page; empty for a text that is none."""
    if _BETWEEN not in text:
        return ""
    pieces = [piece.strip() for piece in text.split(_BETWEEN)]
    return f'<div class="shop">{"".join(_Page(pieces, admissible, look).parts())}</div>'


class _Page:
    def __init__(self, pieces: list[str], admissible: Sequence[str], look: Look) -> None:
        self._pieces = pieces
        self._clicks = {_inside(one.lower()) for one in admissible if one.startswith(_CLICK)}
        self._searches = any(one.startswith("search[") for one in admissible)
        self._look = look

    def parts(self) -> Iterator[str]:
        pieces = self._pieces
        if "Instruction:" in pieces[:2]:
            begin = pieces.index("Instruction:")
            yield f'<p class="wish">{html_text(" ".join(pieces[begin + 1 : begin + 2]))}</p>'
            pieces = pieces[begin + 2 :]
        if self._searches:
            yield self._search()
        place = 0
        while place < len(pieces):
            taken, drawn = self._part(pieces[place:])
            yield drawn
            place += taken

    def _part(self, pieces: list[str]) -> tuple[int, str]:
        """How many pieces the next part has, and the part."""
        first = pieces[0]
        name = first.lower()
        if name in self._clicks and name not in (*_NAVIGATION, *_ABOUT, _BUY):
            if len(pieces) > 2 and pieces[2].startswith("$"):
                return 3, self._product(*pieces[:3])
            return 1, self._button(first, "option")
        if name in self._clicks:
            return 1, self._button(first, "buy" if name == _BUY else "plain")
        if name == "search" and self._searches:
            return 1, ""
        if len(pieces) > 1 and self._is_option(pieces[1]):
            return 1, f'<p class="option-name">{html_text(first)}</p>'
        kind = "price" if first.startswith("Price:") else "text"
        return 1, f'<p class="{kind}">{html_text(first)}</p>'

    def _is_option(self, piece: str) -> bool:
        name = piece.lower()
        return name in self._clicks and name not in (*_NAVIGATION, *_ABOUT, _BUY)

    def _product(self, number: str, title: str, price: str) -> str:
        button = self._button(title, "title", number)
        return f'<p class="product">{button}<span>{html_text(price)}</span></p>'

    def _search(self) -> str:
        if self._look.acts:
            return (
                '<p class="search"><label>Search for <input name="search" autocomplete="off">'
                '</label> <button name="do" value="search">Search</button></p>'
            )
        words = _inside(self._look.chosen) if self._look.chosen.startswith("search[") else ""
        return f'<p class="search"><span class="box">{html_text(words) or "Search"}</span></p>'

    def _button(self, text: str, kind: str, meant: str = "") -> str:
        name = (meant or text).lower()
        command = f"{_CLICK}{name}]"
        kinds = f"click {kind}" + (" picked" if name in self._look.picked else "")
        kinds += " chosen" if command == self._look.chosen else ""
        if self._look.acts:
            value = html_text(command)
            return (
                f'<button class="{kinds}" name="command" value="{value}">{html_text(text)}</button>'
            )
        return f'<span class="{kinds}">{html_text(text)}</span>'


def _inside(command: str) -> str:
    return command.partition("[")[2].removesuffix("]")
