"""What a page says to somebody who reads its text and nothing else."""

import re
from dataclasses import dataclass, field
from enum import Enum

from agentquest.benchmarks.webshop.search.analysis import analyse
from agentquest.benchmarks.webshop.shop.pages import SEPARATOR

_LIMIT = re.compile(r",? and price lower than ([0-9]+(?:\.[0-9]+)?) dollars")
_NAMED_OPTION = re.compile(r"(?: with |, and )([a-z][a-z ]{2,24}): ")
_PAGE = re.compile(r"Page (\d+) \(Total results: (\d+)\)")
_ASIN = re.compile(r"[A-Z0-9]{10}")
_PRICE = re.compile(r"\$([0-9]+(?:\.[0-9]+)?)")
_OPTION_GROUPS = re.compile(
    r"colou?r|size|style|scent|material|pattern|flavou?r|configuration|edition|item shape"
    r"|number of items|(?:\w+ ){1,9}(?:name|type|size|count)"
)
# What people say around what they want; a shop has no use for it.
_SMALL_TALK = frozenset(
    analyse(
        "find me i am i'm looking look for need want would like buy purchase order get please show"
        " can could you my some something one that which also should comes come has have having"
        " prefer preferably offers with price lower than dollars"
    )
)


class PageKind(Enum):
    """The pages that the explorer can tell apart."""

    SEARCH = "search"
    RESULTS = "results"
    PRODUCT = "product"
    PART = "part"  # description, features or reviews of a product
    OTHER = "other"


@dataclass(frozen=True)
class Wish:
    """The instruction, taken apart: what is wanted, the most it may cost, how many options."""

    text: str
    terms: frozenset[str]
    limit: float
    options: int

    @property
    def query(self) -> str:
        """The words worth searching for, in their order, each once."""
        words = re.findall(r"[^\s,;:!?()\[\]]+", self.text)
        kept = [word for word in words if set(analyse(word)) - _SMALL_TALK]
        return " ".join(dict.fromkeys(kept))


@dataclass
class Offer:
    """A product as far as it has been seen."""

    asin: str
    price: float
    terms: set[str]
    options: dict[str, str] = field(default_factory=dict)
    seen: bool = False


@dataclass(frozen=True)
class Reading:
    """One page."""

    kind: PageKind
    nodes: tuple[str, ...]

    @property
    def instruction(self) -> str:
        """The text behind `Instruction:`, wherever on the page that stands."""
        at = next((i for i, node in enumerate(self.nodes) if node == "Instruction:"), None)
        return self.nodes[at + 1] if at is not None and at + 1 < len(self.nodes) else ""

    def results(self) -> list[tuple[str, str, float]]:
        """ASIN, title and lowest price of each product on a page of results."""
        found = []
        for asin, title, price in zip(self.nodes, self.nodes[1:], self.nodes[2:], strict=False):
            cost = _PRICE.match(price)
            if _ASIN.fullmatch(asin) and cost:
                found.append((asin, title, float(cost[1])))
        return found

    def option_values(self) -> dict[str, list[str]]:
        """The option groups of a product page; which texts are names of groups is common sense."""
        at_price = next(i for i, node in enumerate(self.nodes) if node.startswith("Price: "))
        groups: dict[str, list[str]] = {}
        for node in self.nodes[self.nodes.index("< Prev") + 1 : at_price - 1]:
            if not groups or _OPTION_GROUPS.fullmatch(node):
                groups[node] = last = []
            else:
                last.append(node)
        return groups

    def body(self) -> str:
        """What a description or feature page says."""
        return " ".join(self.nodes[self.nodes.index("< Prev") + 1 :])


def read_page(text: str) -> Reading:
    """A page's text, split into its pieces, and what kind of page they make."""
    nodes = tuple(text.strip().split(SEPARATOR))
    if nodes[0] == "WebShop":
        kind = PageKind.SEARCH
    elif "Back to Search" not in nodes:
        kind = PageKind.OTHER
    elif any(_PAGE.fullmatch(node) for node in nodes):
        kind = PageKind.RESULTS
    elif nodes[-1] == "Buy Now" and any(node.startswith("Price: ") for node in nodes):
        kind = PageKind.PRODUCT
    else:
        kind = PageKind.PART
    return Reading(kind, nodes)


def read_wish(instruction: str) -> Wish:
    """What an instruction asks for; its price limit is infinite if it names none."""
    limit = _LIMIT.search(instruction)
    text = _LIMIT.sub("", instruction).lower()
    terms = frozenset(analyse(text)) - _SMALL_TALK
    return Wish(text, terms, float(limit[1]) if limit else float("inf"),
                len(_NAMED_OPTION.findall(text)))  # fmt: skip


def chosen_value(wish: Wish, group: str, values: list[str]) -> str | None:
    """The value of an option group that the wish asks for; None if it asks for none of them."""
    named = [value for value in values if f"{group}: {value}" in wish.text]
    if named:
        return max(named, key=len)
    padded = f" {_spaced(wish.text)} "
    said = [value for value in values if f" {_spaced(value)} " in padded and _spaced(value)]
    if said:
        return max(said, key=len)
    likeness = {value: _likeness(wish.terms, value) for value in values}
    best = max(values, key=lambda value: likeness[value], default=None)
    return best if best is not None and likeness[best] > 0.5 else None


def _spaced(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9.]+", text.lower()))


def _likeness(wanted: frozenset[str], value: str) -> float:
    """The share of a value's words that the wish has, too."""
    terms = set(analyse(value))
    return len(terms & wanted) / len(terms) if terms else 0.0
