"""A shop of our own making, for those who have no data: the same on every machine.

About a thousand products in the five categories, written in the shape of the
official files, so that the one loader reads them too. Every product is made
from its own number alone.
"""

import json
import random
import string
from typing import Any, NamedTuple

from agentquest.benchmarks.webshop.catalogue import builtin_words as words

PRODUCTS_PER_KIND = 25
_ASIN_CHARACTERS = string.digits + string.ascii_uppercase
_HUMAN_SHARE, _INSTRUCTED_SHARE = 0.85, 0.6
# The SHA-256 of each file, so that its name is known without making it. A test compares.
DIGESTS = (
    "edf14aef632d8be427b04b968cbb042e8bb397028f505dfa7d85a4aa71a51476",
    "347dcaefc46435cf2dcf76c6691813fbc38e1b9d0d51e41d25b2adfd961ef93b",
    "b988b96d2a5e400f3e4273610496cd5f2002d54b91ff7c61c17f53ffd9f2325e",
)


class Kind(NamedTuple):
    """One kind of product that the shop sells."""

    category: str
    query: str
    path: str
    noun: str
    wishes: list[str]
    options: dict[str, list[str]]
    low: int
    high: int


def official_files() -> dict[str, bytes]:
    """The built-in shop as the three official files, by name."""
    products, listings, human = [], {}, {}
    for number, kind in enumerate(_kinds() * PRODUCTS_PER_KIND):
        maker = _Maker(number, kind)
        product = maker.product()
        products.append(product)
        listings[maker.asin] = maker.listing()
        if maker.rng.random() < _HUMAN_SHARE:
            human[maker.asin] = [maker.human_goal() for _ in range(2)]
    contents = {
        "items_shuffle_1000.json": products,
        "items_ins_v2_1000.json": listings,
        "items_human_ins.json": human,
    }
    return {name: json.dumps(content).encode() for name, content in contents.items()}


def _kinds() -> list[Kind]:
    return [_kind(line) for line in words.KINDS.replace("\n    ", "").strip().splitlines()]


def _kind(line: str) -> Kind:
    category, query, path, noun, wishes, options, prices = (p.strip() for p in line.split("|"))
    low, high = prices.split("-")
    groups = (group.split("=") for group in options.split(";"))
    return Kind(
        category,
        query,
        " › ".join([words.DEPARTMENTS[category], *path.split(" > ")]),
        noun,
        wishes.split(","),
        {name: values.split(",") for name, values in groups},
        int(low),
        int(high),
    )


class _Maker:
    """Makes one product and what is asked about it."""

    def __init__(self, number: int, kind: Kind) -> None:
        self.rng = rng = random.Random(f"agentquest shop {number}")
        self.kind = kind
        self.asin = f"BQ{number:04d}" + "".join(rng.choices(_ASIN_CHARACTERS, k=4))
        self.brand = rng.choice(words.BRAND_STARTS.split()) + rng.choice(words.BRAND_ENDS.split())
        self.wishes = rng.sample(kind.wishes, rng.randint(3, len(kind.wishes)))
        self.options = {
            name: self._some(values, 2, 5)
            for name, values in kind.options.items()
            if rng.random() < 0.85
        }

    def _some(self, values: list[str], least: int, most: int) -> list[str]:
        """Some of the values, in their own order."""
        count = min(len(values), self.rng.randint(least, most))
        chosen = set(self.rng.sample(values, count))
        return [value for value in values if value in chosen]

    def product(self) -> dict[str, Any]:
        rng, kind = self.rng, self.kind
        first, second = self.wishes[:2]
        titled = first.title() if rng.random() < 0.7 else rng.choice(words.MOODS.split(","))
        use = rng.choice(words.USES[kind.category].split(","))
        fill = {"brand": self.brand, "noun": kind.noun, "first": first, "second": second}
        bullets = [
            rng.choice(words.BULLETS).format(wish=wish, Wish=wish.capitalize())
            for wish in self.wishes[1:5]
        ]
        closing = rng.choice(words.CLOSING_BULLETS).format(**fill)
        return {
            "asin": self.asin,
            "name": f"{self.brand} {titled} {kind.noun} {use}, {second.title()}",
            "full_description": " ".join(
                text.format(**fill) for text in rng.sample(words.DESCRIPTIONS, 2)
            ),
            "small_description": [*bullets, closing],
            "pricing": self._pricing(),
            "images": [f"images/{self.asin}.svg"],
            "product_category": kind.path,
            "category": kind.category,
            "query": kind.query,
            "customization_options": {
                name.title(): [{"value": value, "image": None} for value in values]
                for name, values in self.options.items()
            }
            or "",
        }

    def _pricing(self) -> str:
        rng, kind = self.rng, self.kind
        price = rng.uniform(kind.low, kind.high)
        chance = rng.random()
        if chance < 0.04:
            return ""
        if chance < 0.16:
            return f"${price:.2f} - ${price * rng.uniform(1.1, 1.8):.2f}"
        return f"${price:.2f}"

    def listing(self) -> dict[str, Any]:
        """The product's attributes and, for most, an instruction made from some of them."""
        listing: dict[str, Any] = {"attributes": self.wishes}
        if self.rng.random() < _INSTRUCTED_SHARE:
            wanted = self._some(self.wishes, 2, 4)
            listing["instruction"] = (
                f"Find me {', '.join(wanted[:-1])} {self.kind.query} with {wanted[-1]}"
            )
            listing["instruction_attributes"] = wanted
        return listing

    def human_goal(self) -> dict[str, Any]:
        """A goal in the words of a person in a hurry."""
        rng = self.rng
        wanted = self._some(self.wishes, 1, 2)
        chosen = {name: rng.choice(values) for name, values in self.options.items()}
        noun = self.kind.noun.lower()
        thing = f"{noun} that offers {' and '.join(wanted)}"
        if chosen:
            named = [f"{value} as the {name}" for name, value in chosen.items()]
            thing += f", with {' and '.join(named)}"
        return {
            "asin": self.asin,
            "instruction": rng.choice(words.HUMAN_OPENINGS).format(thing=thing) + ".",
            "attributes": self.wishes,
            "options": [f"{name}: {value}" for name, value in chosen.items()] or [""],
            "instruction_attributes": wanted,
            "instruction_options": list(chosen.values()),
            "assignment_id": "",
            "worker_id": "",
        }
