"""A rule-based shopper: the baseline that reading the page reaches without a model.

It searches with the words of the instruction, opens highly ranked results that share
words with it, and buys the first product that has every option asked for; if none has,
the best of those it looked at. It reads page text only, and explains every action.
"""

import re
from dataclasses import dataclass, field
from typing import Literal

from agentquest.benchmarks.webshop.search.analysis import analyse
from agentquest.benchmarks.webshop.shop.pages import SEPARATOR
from agentquest.lib import Explorer

_LOOK_AT_MOST = 4  # products, before it settles for one of them
_LIMIT = re.compile(r",? and price lower than ([0-9]+(?:\.[0-9]+)?) dollars")
_NAMED_OPTION = re.compile(r"(?: with |, and )([a-z][a-z ]{2,24}): ")
_PAGE = re.compile(r"Page (\d+) \(Total results: (\d+)\)")
_ASIN = re.compile(r"[A-Z0-9]{10}")
_PRICE = re.compile(r"\$([0-9]+(?:\.[0-9]+)?)")
_OPTION_GROUPS = re.compile(
    r"colou?r|size|style|scent|material|pattern|flavou?r|configuration|edition|item shape"
    r"|number of items|(?:\w+ ){1,9}(?:name|type|size|count)"
)
# Words around what people want, which are no use in a search.
_SMALL_TALK = frozenset(
    analyse(
        "find me i am i'm looking look for need want would like buy purchase order get please show"
        " can could you my some something one that which also should comes come has have having"
        " prefer preferably offers with price lower than dollars"
    )
)
Decision = tuple[str, str]  # action, thought


@dataclass(frozen=True)
class Wish:
    """A parsed instruction: what is wanted, the highest price, how many options it names."""

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
    """What is known of a product so far."""

    asin: str
    price: float
    terms: set[str]
    options: dict[str, str] = field(default_factory=dict)
    seen: bool = False


@dataclass(frozen=True)
class Reading:
    """One page; `part` is a description, features or reviews of a product, and a page that is
    nothing else is one to search from."""

    kind: Literal["search", "results", "product", "part"]
    nodes: tuple[str, ...]

    @property
    def instruction(self) -> str:
        """The text after `Instruction:`, wherever that is on the page."""
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
        """The option groups of a product page; texts that look like a group's name begin one."""
        at_price = next(i for i, node in enumerate(self.nodes) if node.startswith("Price: "))
        groups: dict[str, list[str]] = {}
        for node in self.nodes[self.nodes.index("< Prev") + 1 : at_price - 1]:
            if not groups or _OPTION_GROUPS.fullmatch(node):
                groups[node] = last = []
            else:
                last.append(node)
        return groups


def read_page(text: str) -> Reading:
    """A page's text, split into its pieces, and what kind of page they make."""
    nodes = tuple(text.strip().split(SEPARATOR))
    if "Back to Search" not in nodes:
        return Reading("search", nodes)
    if any(_PAGE.fullmatch(node) for node in nodes):
        return Reading("results", nodes)
    is_product = nodes[-1] == "Buy Now" and any(node.startswith("Price: ") for node in nodes)
    return Reading("product" if is_product else "part", nodes)


def read_wish(instruction: str) -> Wish:
    """What an instruction asks for; its price limit is infinite if it names none."""
    limit = _LIMIT.search(instruction)
    text = _LIMIT.sub("", instruction).lower()
    terms = frozenset(analyse(text)) - _SMALL_TALK
    return Wish(text, terms, float(limit[1]) if limit else float("inf"),
                len(_NAMED_OPTION.findall(text)))  # fmt: skip


def choose_value(wish: Wish, group: str, values: list[str]) -> str | None:
    """The value of an option group that the wish asks for; None if it asks for none of them."""
    named = [value for value in values if f"{group}: {value}" in wish.text]
    if named:
        return max(named, key=len)
    padded = f" {_normalise(wish.text)} "
    in_text = [v for v in values if f" {_normalise(v)} " in padded and _normalise(v)]
    if in_text:
        return max(in_text, key=len)
    likeness = {value: _likeness(wish.terms, value) for value in values}
    best = max(values, key=lambda value: likeness[value], default=None)
    return best if best is not None and likeness[best] > 0.5 else None


def _normalise(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9.]+", text.lower()))


def _likeness(wanted: frozenset[str], value: str) -> float:
    """The share of a value's words that are also in the wish."""
    terms = set(analyse(value))
    return len(terms & wanted) / len(terms) if terms else 0.0


class _Memory:
    """What is known while shopping for one instruction."""

    def __init__(self, wish: Wish) -> None:
        self.wish = wish
        self.offers: dict[str, Offer] = {}
        self.here: Offer | None = None
        self.decided = False
        self.clicked: set[str] = set()
        self.searches = 0

    @property
    def looked_at(self) -> list[Offer]:
        return [offer for offer in self.offers.values() if offer.seen]

    def promise(self, offer: Offer) -> tuple[int, int, float]:
        """How well an offer seems to fit: by options, then words, then the lower price."""
        fitting = len(self.wish.terms & offer.terms)
        return len(offer.options), fitting, -offer.price


class WebshopExplorer(Explorer):
    """Shops for one instruction after another; a new instruction clears its memory."""

    def __init__(self) -> None:
        self.thought = ""
        self._memory = _Memory(read_wish(""))

    def next_action(self, observation: str) -> str:
        page = read_page(observation)
        wish = read_wish(page.instruction)
        if page.instruction and wish != self._memory.wish:
            self._memory = _Memory(wish)
        match page.kind:
            case "results":
                choice = self._on_results(page)
            case "product":
                choice = self._on_product(page)
            case "part":
                choice = "click[< prev]", "I have read this part and go back to the product."
            case "search":
                choice = self._search()
        action, self.thought = choice
        return action

    def _search(self) -> Decision:
        """Search with all words first, then with half as many each time nothing is found."""
        memory = self._memory
        words = memory.wish.query.split()
        kept = words[: max(1, len(words) >> memory.searches)]
        memory.searches += 1
        return (
            f"search[{' '.join(kept) or 'products'}]",
            "I search with the words that say what is wanted.",
        )

    def _on_results(self, page: Reading) -> Decision:
        memory = self._memory
        shown = [self._remember(*found) for found in page.results()]
        if not shown and not memory.looked_at:
            return self._search()
        fresh = [o for o in shown if not o.seen and o.price <= memory.wish.limit]
        if fresh and not memory.decided and len(memory.looked_at) < _LOOK_AT_MOST:
            # One shared word outweighs one place in the shop's ranking.
            best = max(fresh, key=lambda o: len(memory.wish.terms & o.terms) - shown.index(o))
            return self._open(
                best, "stands high, shares words with the instruction and is not too dear"
            )
        memory.decided = True
        known = [offer for offer in shown if offer.seen] or shown
        return self._open(max(known, key=memory.promise), "is the best I have seen")

    def _remember(self, asin: str, title: str, price: float) -> Offer:
        return self._memory.offers.setdefault(asin, Offer(asin, price, set(analyse(title))))

    def _open(self, offer: Offer, why: str) -> Decision:
        self._memory.here = offer
        self._memory.clicked = set()
        return f"click[{offer.asin.lower()}]", f"{offer.asin} {why}."

    def _on_product(self, page: Reading) -> Decision:
        memory, offer = self._memory, self._memory.here
        if offer is None:
            return "click[< prev]", "I did not choose this product."
        if not offer.seen:
            offer.seen = True
            for group, values in page.option_values().items():
                value = choose_value(memory.wish, group, values)
                if value is not None:
                    offer.options[group] = value
        if not memory.decided and len(offer.options) < memory.wish.options:
            return "click[< prev]", "It lacks an option that I need; I look at others."
        memory.decided = True
        for group, value in offer.options.items():
            if value not in memory.clicked:
                memory.clicked.add(value)
                return f"click[{value}]", f"The instruction asks for {value} as {group}."
        return "click[buy now]", "Product, options and price fit as far as I can see; I buy it."
