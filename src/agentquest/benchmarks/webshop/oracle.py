"""The shortest way to a full reward, for those who are allowed to know the goal.

First what to buy: the product that the goal was made from, with the options
that the reward counts, as far as a click can choose them. Where that product
cannot earn everything, others are considered. Then how to get there: a search
that shows it early, its link, the options that are not chosen yet, and the
purchase.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop import pages
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.pages import PAGE_SIZE, Kind
from agentquest.benchmarks.webshop.shop.reward import Option, score, wanted_options
from agentquest.benchmarks.webshop.shop.shop import LONGEST_ACTION, Shop, ShoppingSession, parse

_ALL_CONSIDERED = 20_000  # products; of a larger catalogue only those that a search finds
_MOST_WAYS = 500  # to meet wishes, far more than the official goals have
_NOT_OPTIONS = frozenset(
    {"buy now", "back to search", "< prev", "search", *(name.lower() for name in pages.SUB_PAGES)}
)

OptionChoice = tuple[str, str]  # option group, value


@dataclass(frozen=True)
class Purchase:
    """What to buy: a product, and (group, value) of each option to choose."""

    number: int
    asin: str
    options: tuple[OptionChoice, ...]
    reward: float


def best_purchase(shop: Shop, goal: Goal) -> Purchase:
    """The purchase with the highest reward; of equals, the goal's own product comes first."""
    target = shop.catalogue.number(goal.asin)
    assert target is not None, "goals are made from products"
    best = _best_options(shop, goal, target)
    if best.reward < 1.0:
        for number in _others(shop, goal, target):
            found = _best_options(shop, goal, number)
            if found.reward > best.reward:
                best = found
            if best.reward == 1.0:
                break
    return best


def _others(shop: Shop, goal: Goal, target: int) -> Iterator[int]:
    catalogue = shop.catalogue
    if len(catalogue) <= _ALL_CONSIDERED:
        yield from (number for number in range(len(catalogue)) if number != target)
        return
    found = [n for text in (goal.name, goal.instruction_text) for n in catalogue.search(text)]
    yield from (number for number in dict.fromkeys(found) if number != target)


def _best_options(shop: Shop, goal: Goal, number: int) -> Purchase:
    product = shop.catalogue.product(number)
    price = shop.goals.prices.price(number)

    bare = score(product, price, {}, goal, shop.nouns)
    best = Purchase(number, product.asin, (), bare.value)
    if "r_option" not in bare.details or not bare.details["r_type"]:
        return best
    wanted = wanted_options(goal)

    def count_met(way: frozenset[Option]) -> int:
        return sum(option in way for option in wanted)

    # The fewest choices for each set of wishes that the groups so far can meet.
    ways: dict[frozenset[Option], tuple[OptionChoice, ...]] = {frozenset(): ()}
    for values in reversed(_useful_values(shop, goal, product, price).values()):
        for way, chosen in list(ways.items()):
            for wishes, choice in values.items():
                known = ways.get(way | wishes)
                if known is None or len(known) > len(chosen) + 1:
                    ways[way | wishes] = (choice, *chosen)
        kept = sorted(ways, key=count_met, reverse=True)[:_MOST_WAYS]
        ways = {way: ways[way] for way in kept}
    chosen = ways[max(ways, key=lambda way: (count_met(way), -len(ways[way])))]
    value = score(product, price, dict(chosen), goal, shop.nouns).value
    return Purchase(number, product.asin, chosen, value) if value > best.reward else best


def _useful_values(
    shop: Shop, goal: Goal, product: Product, price: float
) -> dict[str, dict[frozenset[Option], OptionChoice]]:
    """By group, one value for each set of wishes that a value of it can meet."""
    useful: dict[str, dict[frozenset[Option], OptionChoice]] = {}
    wanted = goal.goal_options
    named = set(wanted.values() if isinstance(wanted, Mapping) else wanted)
    for value, piece in pages.item_page("", "", product).clickables.items():
        if piece.kind is not Kind.OPTION or value in _NOT_OPTIONS or not _can_be_clicked(value):
            continue
        group = piece.group.lower()
        met = score(product, price, {group: value}, goal, shop.nouns).details["met_options"]
        ways = useful.setdefault(group, {})
        key = frozenset(met)
        if key and (key not in ways or value in named):
            ways[key] = (group, value)
    return useful


def _can_be_clicked(value: str) -> bool:
    return parse(f"click[{value}]") == ("click", value)


def plan(session: ShoppingSession) -> list[str]:
    """The shortest sequence of actions from the session's current page to the best purchase."""
    if session.best is None:
        session.best = best_purchase(session.shop, session.goal)
    purchase = session.best
    link = f"click[{purchase.asin.lower()}]"
    on_product = session.asin == purchase.asin
    if on_product and "buy now" in session.page.clickables:
        return _finish(purchase, session.options)
    if on_product and "< prev" in session.page.clickables:
        return ["click[< prev]", *_finish(purchase, session.options)]
    return [*_way_to_link(session, purchase), link, *_finish(purchase, {})]


def _finish(purchase: Purchase, chosen: dict[str, str]) -> list[str]:
    """Options only add to a reward, so what else is chosen may stay."""
    clicks = [f"click[{value}]" for group, value in purchase.options if chosen.get(group) != value]
    return [*clicks, "click[buy now]"]


def _way_to_link(session: ShoppingSession, purchase: Purchase) -> list[str]:
    """To a page of results that shows the product: by paging, or by a search."""
    searching = _best_search(session.shop, purchase.number)
    results = session.asin is None and "next >" in session.page.clickables
    if results and session.keywords[0] != "<r>":
        found = list(session.shop.find(session.keywords, session.generator))
        if purchase.number in found:
            pages_on = found.index(purchase.number) // PAGE_SIZE + 1 - session.page_number
            if abs(pages_on) <= len(searching):
                return ["click[next >]" if pages_on > 0 else "click[< prev]"] * abs(pages_on)
    return searching


def _best_search(shop: Shop, number: int) -> list[str]:
    """A search that shows the product on as early a page as we can find."""
    product = shop.catalogue.product(number)
    for query in _queries(product):
        if number in shop.catalogue.search(query)[:PAGE_SIZE]:
            return [f"search[{query}]"]
    ways = {query: shop.catalogue.search(query) for query in _queries(product)}
    # The search for a kind has no limit, so this one always finds it.
    ways[f"<q> {product.query}"] = shop.catalogue.with_query(product.query)
    turns = {query: found.index(number) for query, found in ways.items() if number in found}
    query = min(turns, key=lambda query: turns[query])
    return [f"search[{query}]", *["click[next >]"] * (turns[query] // PAGE_SIZE)]


def _queries(product: Product) -> Iterator[str]:
    """What may find the product, from the natural to the exhaustive."""
    first = product.bullets[0] if product.bullets else ""
    for text in (product.title, f"{product.title} {first}", product.document):
        query = " ".join(text.translate(_NO_BRACKETS).lower().split())
        is_short_enough = len(f"search[{query}]") <= LONGEST_ACTION
        if query and not query.startswith("<") and is_short_enough:
            yield query


_NO_BRACKETS = str.maketrans("[]", "  ")
