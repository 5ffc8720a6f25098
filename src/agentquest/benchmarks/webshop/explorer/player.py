"""A rule-based shopper: the baseline that reading the page reaches without a model.

It searches with the words of the instruction, opens results that stand high and
share words with it, and buys the first product that has every option asked for; if none has,
the best of those it looked at. It reads page text only, and says why it does
what it does.
"""

from agentquest.benchmarks.webshop.explorer.reading import (
    Offer,
    PageKind,
    Reading,
    Wish,
    chosen_value,
    read_page,
    read_wish,
)
from agentquest.benchmarks.webshop.search.analysis import analyse
from agentquest.lib import Explorer

_LOOK_AT_MOST = 4  # products, before one of them has to do

Choice = tuple[str, str]  # action, thought


class _Memory:
    """What is known of one errand."""

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
        """How well an offer seems to fit: options, words, and at least not too dear."""
        fitting = len(self.wish.terms & offer.terms)
        return len(offer.options), fitting, -offer.price


class WebshopExplorer(Explorer):
    """Shops for one errand after the other; a new instruction begins a new one."""

    def __init__(self) -> None:
        self.thought = ""
        self._memory = _Memory(read_wish(""))

    def next_action(self, observation: str) -> str:
        page = read_page(observation)
        wish = read_wish(page.instruction)
        if page.instruction and wish != self._memory.wish:
            self._memory = _Memory(wish)
        action, self.thought = self._choose(page)
        return action

    def _choose(self, page: Reading) -> Choice:
        match page.kind:
            case PageKind.RESULTS:
                return self._on_results(page)
            case PageKind.PRODUCT:
                return self._on_product(page)
            case PageKind.PART:
                return "click[< prev]", "I have read this part and go back to the product."
        return self._search()

    def _search(self) -> Choice:
        """With all words first; should nothing be found, with fewer and fewer."""
        memory = self._memory
        words = memory.wish.query.split()
        kept = words[: max(1, len(words) >> memory.searches)]
        memory.searches += 1
        return (
            f"search[{' '.join(kept) or 'products'}]",
            "I search with the words that say what is wanted.",
        )

    def _on_results(self, page: Reading) -> Choice:
        memory = self._memory
        shown = [self._noted(*found) for found in page.results()]
        if not shown and not memory.looked_at:
            return self._search()
        fresh = [o for o in shown if not o.seen and o.price <= memory.wish.limit]
        if fresh and not memory.decided and len(memory.looked_at) < _LOOK_AT_MOST:
            # A word in common outweighs one place in the shop's own order.
            best = max(fresh, key=lambda o: len(memory.wish.terms & o.terms) - shown.index(o))
            return self._open(
                best, "stands high, shares words with the instruction and is not too dear"
            )
        memory.decided = True
        known = [offer for offer in shown if offer.seen] or shown
        return self._open(max(known, key=memory.promise), "is the best I have seen")

    def _noted(self, asin: str, title: str, price: float) -> Offer:
        return self._memory.offers.setdefault(asin, Offer(asin, price, set(analyse(title))))

    def _open(self, offer: Offer, why: str) -> Choice:
        self._memory.here = offer
        self._memory.clicked = set()
        return f"click[{offer.asin.lower()}]", f"{offer.asin} {why}."

    def _on_product(self, page: Reading) -> Choice:
        memory, offer = self._memory, self._memory.here
        if offer is None:
            return "click[< prev]", "I did not choose this product."
        if not offer.seen:
            offer.seen = True
            for group, values in page.option_values().items():
                value = chosen_value(memory.wish, group, values)
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
