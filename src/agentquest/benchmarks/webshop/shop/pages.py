"""What a shopper sees, once as pieces of text and from there in every form.

A page is a list of pieces in reading order. Observation modes are views of it:
`text` joins the pieces with [SEP], `text_rich` marks what can be clicked, `url` is
the address alone. The original's HTML, the mode `html`, holds more than a page's
text and is written by the package `original`.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from agentquest.benchmarks.webshop.catalogue.products import RATING, Product

PAGE_SIZE = 10
SEPARATOR = " [SEP] "
SUB_PAGES = ("Description", "Features", "Reviews", "Attributes")
_ASCII_BLANKS = " \t\n\r\f\v"


class Kind(Enum):
    """What a piece of a page is: whether it can be clicked, and what for."""

    TEXT = "text"
    BUTTON = "button"
    LINK = "link"  # a product in the results
    OPTION = "option"


@dataclass(frozen=True)
class Piece:
    """One piece of text; `group` is the option group of an option."""

    text: str
    kind: Kind = Kind.TEXT
    group: str = ""


@dataclass(frozen=True)
class Page:
    """A page and its address; of results how many there are, of a product the part shown."""

    pieces: tuple[Piece, ...]
    url: str
    search_bar: bool = False
    total: int = 0
    part: str = ""

    @cached_property
    def clickables(self) -> dict[str, Piece]:
        """What can be clicked, by its text; a text that occurs twice means the last one."""
        found = {
            piece.text.lower(): piece
            for kind in (Kind.BUTTON, Kind.LINK)
            for piece in self.pieces
            if piece.kind is kind
        }
        found |= {piece.text: piece for piece in self.pieces if piece.kind is Kind.OPTION}
        return found

    def render(self, mode: str, visited: Collection[str] = ()) -> str:
        """The page in one of `MODES`; `visited` are the products that were opened."""
        return MODES[mode](self, visited)


def _visible(page: Page) -> list[Piece]:
    """The pieces that a reader of the document would meet as text."""
    return [
        piece
        for piece in page.pieces
        if piece.text and not ("\n" in piece.text and not piece.text.strip(_ASCII_BLANKS))
    ]


def _as_text(page: Page, visited: Collection[str]) -> str:
    return SEPARATOR.join(piece.text.strip() for piece in _visible(page))


def _as_rich_text(page: Page, visited: Collection[str]) -> str:
    lines, clicked = [], []
    for piece in _visible(page):
        text = piece.text if piece.text.strip(_ASCII_BLANKS) else " "
        if piece.kind is Kind.BUTTON:
            text = f"[button] {text} [button_]"
        elif piece.kind is Kind.OPTION:
            if f'"{text}"' in page.url:
                clicked.append(f"You have clicked {text}.\n")
                text = f"  [clicked button] {text} [clicked button_]"
            else:
                text = f"  [button] {text} [button_]"
        elif piece.kind is Kind.LINK:
            mark = "clicked button" if text in visited else "button"
            text = f"\n[{mark}] {text} [{mark}_]"
        lines.append(text + "\n")
    return "".join([*reversed(clicked), *lines])


MODES: dict[str, Callable[[Page, Collection[str]], str]] = {
    "text": _as_text,
    "text_rich": _as_rich_text,
    "url": lambda page, visited: page.url,
}


def _button(text: str) -> Piece:
    return Piece(text, Kind.BUTTON)


def _instruction(text: str) -> list[Piece]:
    return [Piece("Instruction:"), Piece(text), _button("Back to Search")]


def search_page(instruction: str, url: str) -> Page:
    """The page that a task begins with, the only one with a search bar."""
    pieces = (Piece("WebShop"), Piece("Instruction: "), Piece(instruction), _button("Search"))
    return Page(pieces, url, search_bar=True)


def results_page(instruction: str, url: str, page: int, total: int, shown: list[Product]) -> Page:
    """One page of the products found; `total` counts those on all pages."""
    pieces = [*_instruction(instruction), Piece(f"Page {page} (Total results: {total})")]
    if page > 1:
        pieces.append(_button("< Prev"))
    pieces.append(_button("Next >"))
    for product in shown:
        pieces += [Piece(product.asin, Kind.LINK), Piece(product.title), Piece(product.price_text)]
    return Page(tuple(pieces), url, total=total)


def item_page(instruction: str, url: str, product: Product, show_attributes: bool = False) -> Page:
    """A product with all its options; which are chosen does not show."""
    pieces = [*_instruction(instruction), _button("< Prev")]
    for group, values in product.options.items():
        pieces.append(Piece(group))
        pieces += [Piece(value, Kind.OPTION, group) for value in values]
    pieces += [
        Piece(product.title),
        Piece(f"Price: {product.price_text}"),
        Piece(f"Rating: {RATING}"),
    ]
    pieces += [_button(name) for name in SUB_PAGES if show_attributes or name != "Attributes"]
    pieces.append(_button("Buy Now"))
    return Page(tuple(pieces), url)


def sub_page(instruction: str, url: str, product: Product, name: str) -> Page:
    """One of `SUB_PAGES` of a product."""
    pieces = [*_instruction(instruction), _button("< Prev")]
    if name == "Description":
        pieces.append(Piece(product.description))
    elif name == "Features":
        pieces += [Piece(f" {bullet}") for bullet in product.bullets]
    elif name == "Attributes":
        pieces += [Piece(f" {attribute}") for attribute in product.attributes]
        pieces += [Piece(product.category), Piece(product.query), Piece(product.product_category)]
    return Page(tuple(pieces), url, part=name)


def done_page(url: str, asin: str, options: Mapping[str, str], reward: float) -> Page:
    """The page after a purchase. Agents are told the reward, but not the goal's details."""
    texts = [
        "Thank you for shopping with us!", "Your code: ", "None",
        " (Paste it in your MTurk interface.)", "Purchased", "asin", asin,
        "options", write_script_json(options),
        "attrs", "None", "category", "None", "query", "None", "product category", "None",
        "Target", "asin", "options", "attrs", "price upper", "instuction text", "category",
        "product category", "query", "Goal ", "None", "Reward",
        "Your score (min 0.0, max 1.0)", str(reward), "Reward Details ", "None",
    ]  # fmt: skip
    return Page(tuple(Piece(text) for text in texts), url)


def write_script_json(value: Mapping[str, str | None]) -> str:
    """JSON that is safe inside a script, as the original's templates write it."""
    written = json.dumps(dict(value), sort_keys=True)
    for character in "<>&'":
        written = written.replace(character, f"\\u{ord(character):04x}")
    return written
