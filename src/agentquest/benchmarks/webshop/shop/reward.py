"""How well a purchase fits the goal.

reward = r_type · (attributes met + options met + price met) / (attributes + options + 1).
`r_type` is 1 for the right kind of product and 0.5, 0.1 or 0 as the titles share
fewer and fewer nouns. Two habits of the original are kept because scores depend
on them: synthetic options are compared as (name, value) pairs, the name taking
part in the comparison, and a title's nouns count with repeats in the denominator.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from rapidfuzz import fuzz

from agentquest.benchmarks.webshop.catalogue.products import Product
from agentquest.benchmarks.webshop.shop.goals import Goal
from agentquest.benchmarks.webshop.shop.nouns import Nouns

ALIKE = 85
_NOT_ALPHANUMERIC = re.compile(r"(?ui)\W")

# The benchmark's own vocabulary of colours; the first that is found in a value stands for it.
_COLOURS = """
    alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze
    brown burgundy camel camo caramel champagne charcoal cheetah chestnut chocolate christmas
    coffee cognac copper coral cranberry cream crystal dark denim eggplant elephant espresso
    fuchsia gold granite grape graphite grass gray green grey heather indigo ivory ivy khaki
    lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha
    multicolor mushroom mustard natural navy nude olive orange peach pewter pink plum purple
    rainbow red rose royal rust sand sapphire seashell silver skull slate steel stone stonewash
    sunflower tan taupe teal tiger turquoise violet walnut wheat white wine yellow"""
COLOURS = tuple(_COLOURS.split())

_KINDS = {1.0: "right", 0.5: "related: half the score", 0.1: "distant: a tenth of the score"}

Option = str | tuple[str, str]


@dataclass(frozen=True)
class Reward:
    """A reward and everything that went into it."""

    value: float
    details: dict[str, Any]


def score(product: Product, price: float, options: Mapping[str, str], goal: Goal,
          nouns: Nouns) -> Reward:  # fmt: skip
    """The reward for buying `product` at `price` with these options chosen."""
    kind = _kind_of_product(product, goal, nouns)
    wanted = wanted_options(goal)
    met_attributes = [a for a in goal.attributes if _has_attribute(product, a)]
    met_options = [o for o in wanted if _has_option(list(options.values()), o)]
    price_met = price <= goal.price_upper
    parts = len(goal.attributes) + len(wanted) + 1
    value = kind["r_type"] * ((len(met_attributes) + len(met_options) + price_met) / parts)
    details = {
        "r_type": kind["r_type"],
        "r_att": len(met_attributes) / len(goal.attributes) if goal.attributes else 0.0,
        "w_att": len(goal.attributes) / parts,
        "query_match": kind["query_match"],
        "category_match": kind["category_match"],
        "title_score": kind["title_score"],
        "r_price": price_met,
        "w_price": 1 / parts,
        "met_attributes": met_attributes,
        "met_options": met_options,
        "nouns": nouns.name,
    }
    if wanted:
        details["r_option"] = len(met_options) / len(wanted)
        details["w_option"] = len(wanted) / parts
    return Reward(value, details)


def explain_purchase(goal: Goal, bought: str, details: Mapping[str, Any]) -> str:
    """What was bought and what it was worth, in sentences."""
    product = "the product meant" if bought == goal.asin else f"{bought} instead of {goal.asin}"
    parts = [f"{name}: {text}." for name, text in describe_parts(goal, details).items()]
    return " ".join([f"Bought {product}.", *parts])


def describe_parts(goal: Goal, details: Mapping[str, Any]) -> dict[str, str]:
    """The parts of a reward by name, in words."""
    options = wanted_options(goal)
    parts = {
        "Kind of product": _KINDS.get(details["r_type"], "wrong: no score"),
        "Attributes": _count_met(goal.attributes, details["met_attributes"]),
    }
    if options:
        parts["Options"] = _count_met(options, details["met_options"])
    within = "within" if details["r_price"] else "above"
    return {**parts, "Price": f"{within} the limit"}


def _count_met(wanted: Sequence[Option], met: Sequence[Option]) -> str:
    """How many of the wishes were met, and which were not."""
    remaining = list(met)
    missed = []
    for each in wanted:
        if each in remaining:
            remaining.remove(each)
        else:
            missed.append(each if isinstance(each, str) else ": ".join(each))
    count = f"{len(wanted) - len(missed)} of {len(wanted)} met"
    return f"{count}; missed: {', '.join(missed)}" if missed else count


def wanted_options(goal: Goal) -> Sequence[Option]:
    """The options that a goal names: of synthetic ones (name, value), of people's the text."""
    options = goal.goal_options
    return tuple(options.items()) if isinstance(options, Mapping) else options


def _kind_of_product(product: Product, goal: Goal, nouns: Nouns) -> dict[str, Any]:
    query_match = product.query == goal.query
    common = _category_parts(product.product_category) & _category_parts(goal.product_category)
    category_match = len(common) >= 2
    wanted = nouns(goal.name)
    bought = wanted if product.title == goal.name else nouns(product.title, bought=True)
    title_score = len(set(bought) & set(wanted)) / len(wanted) if wanted else 0.2
    r_type = 1.0
    if not (query_match or category_match or title_score > 0.2):
        r_type = 0.5
    if title_score < 0.1:
        r_type = 0.1
    if title_score == 0.0:
        r_type = 0.0
    return {
        "r_type": r_type,
        "query_match": query_match,
        "category_match": category_match,
        "title_score": title_score,
    }


def _category_parts(category: str) -> set[str]:
    return {part.strip() for part in category.split("›")}


def _has_attribute(product: Product, wanted: str) -> bool:
    if any(alike(wanted, attribute) for attribute in product.attributes):
        return True
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(wanted in text.lower() for text in texts)


def _has_option(chosen: Sequence[str], wanted: Option) -> bool:
    normalised = normalize_color(wanted)
    return any(alike(normalize_color(value), normalised) for value in chosen)


def normalize_color(value: Option) -> Option:
    """The colour in a text, or the text; a pair has a colour only as one of its elements."""
    return next((colour for colour in COLOURS if colour in value), value)


def alike(first: Option, second: Option) -> bool:
    """Whether two options are spelt nearly the same, as the original counts a match."""
    return _ratio(str(first), str(second)) > ALIKE


@lru_cache(maxsize=16_384)
def _ratio(first: str, second: str) -> float:
    left, right = _plain(first), _plain(second)
    return round(fuzz.token_set_ratio(left, right)) if left and right else 0


def _plain(text: str) -> str:
    """ASCII letters and digits, lower-cased; the rest is blank."""
    ascii_only = "".join(character for character in text if character.isascii())
    return _NOT_ALPHANUMERIC.sub(" ", ascii_only).lower().strip()
