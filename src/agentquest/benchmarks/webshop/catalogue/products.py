"""What a product is: read from the official records, kept as one compact row.

The rules are those of the original loader: prices and option values are
normalised here, once, and nothing later looks at a raw record again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from math import isfinite, prod
from pathlib import Path
from typing import Any

from agentquest.errors import DataError

DEFAULT_PRICE = 100.0
NO_ATTRIBUTES = ("DUMMY_ATTR",)
RATING = "N.A."
LONGEST_ASIN = 10
MOST_GOALS = 30_000_000  # of a product, and of all: each has a place in the shuffled order
_LONGEST_SHOWN = 100


@dataclass(frozen=True)
class HumanInstruction:
    """A person's wording of a goal."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True)
class Product:
    """One product, as pages, goals and rewards need it."""

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    prices: tuple[float, ...]
    category: str
    query: str
    product_category: str
    image: str
    attributes: tuple[str, ...]
    instruction: str | None = None
    instruction_attributes: tuple[str, ...] = ()
    human: tuple[HumanInstruction, ...] = field(default=())
    listed: bool = True  # whether the instructions file knows the product at all
    option_images: Mapping[str, str] = field(default_factory=dict)

    @property
    def price_text(self) -> str:
        """The price, or the lowest and highest, as pages show it."""
        return " to ".join(f"${price}" for price in self.prices)

    @property
    def goal_count(self) -> int:
        """How many synthetic goals the product gives: one for each combination of options."""
        if self.instruction is None:
            return 0
        return prod(len(values) for values in self.options.values())

    @property
    def document(self) -> str:
        """The text that search sees."""
        options = ", and ".join(f"{name}: {', '.join(v)}" for name, v in self.options.items())
        first = self.bullets[0] if self.bullets else ""
        return " ".join([self.title, self.description, first, options]).lower()

    def to_row(self) -> bytes:
        """The product as the bytes that `from_row` reads."""
        human = [[h.text, h.attributes, h.options] for h in self.human]
        row = [
            self.asin, self.title, self.description, self.bullets, list(self.options.items()),
            self.prices, self.category, self.query, self.product_category, self.image,
            self.attributes, self.instruction, self.instruction_attributes, human, self.listed,
            list(self.option_images.items()),
        ]  # fmt: skip
        return json.dumps(row, ensure_ascii=True, separators=(",", ":")).encode()

    @classmethod
    def from_row(cls, row: bytes) -> "Product":
        """The product of a row that `to_row` wrote."""
        (asin, title, description, bullets, options, prices, category, query, product_category,
         image, attributes, instruction, wishes, human, listed, option_images
         ) = json.loads(row)  # fmt: skip
        return cls(
            asin, title, description, tuple(bullets),
            {name: tuple(values) for name, values in options}, tuple(prices),
            category, query, product_category, image, tuple(attributes), instruction,
            tuple(wishes),
            tuple(HumanInstruction(text, tuple(a), tuple(o)) for text, a, o in human), listed,
            dict(option_images),
        )  # fmt: skip


def usable_asin(record: object, where: str) -> str | None:
    """The ASIN of a raw record, or None for one that the original skips too."""
    if not isinstance(record, dict):
        raise DataError(f"{where}: an object was expected")
    asin = _text(record, "asin", where)
    return None if asin == "nan" or len(asin) > LONGEST_ASIN else asin


def read_product(
    record: dict[str, Any], listing: object, human: object, sources: Sequence[Path | None]
) -> Product:
    """A product from its raw record, its entry of items_ins_v2 and that of items_human_ins.

    `sources` are the three files, for error messages.
    """
    where, listed_at, said_at = (f"{file}: product {record['asin']}" for file in sources)
    small = record.get("small_description")
    bullets = small if isinstance(small, list) else [small]
    attributes, instruction, wishes = _listing(listing, listed_at)
    options, option_images = _options(record.get("customization_options"), where)
    product = Product(
        asin=record["asin"],
        title=_text(record, "name", where),
        description=_text(record, "full_description", where),
        bullets=_texts(bullets, f"{where}: small_description"),
        options=options,
        prices=_prices(record.get("pricing"), where),
        category=_text(record, "category", where),
        query=_text(record, "query", where).lower().strip(),
        product_category=_text(record, "product_category", where),
        image=_first_image(record.get("images"), where),
        option_images=option_images,
        attributes=attributes,
        instruction=instruction,
        instruction_attributes=wishes,
        human=_human(human, said_at),
        listed=listing is not None,
    )
    if product.goal_count > MOST_GOALS:
        raise DataError(f"{where}: its options make more than {MOST_GOALS:,} goals")
    return product


def _listing(listing: object, where: str) -> tuple[tuple[str, ...], str | None, tuple[str, ...]]:
    """Attributes, instruction and its attributes."""
    if listing is None:
        return NO_ATTRIBUTES, None, ()
    if not isinstance(listing, dict):
        raise DataError(f"{where}: an object was expected")
    given = "attributes" in listing
    attributes = _texts(listing["attributes"], f"{where}: attributes") if given else NO_ATTRIBUTES
    if listing.get("instruction") is None:
        return attributes, None, ()
    wishes = _texts(listing.get("instruction_attributes"), f"{where}: instruction_attributes")
    return attributes, _text(listing, "instruction", where), wishes


def _text(record: Mapping[str, Any], key: str, where: str) -> str:
    value = record.get(key)
    if not isinstance(value, str):
        raise DataError(f"{where}: {key} must be text, not {type(value).__name__}")
    return value


def _texts(values: object, where: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise DataError(f"{where}: a list of texts was expected")
    return tuple(values)


def _first_image(images: object, where: str) -> str:
    if not images:
        return ""
    if not isinstance(images, list):
        raise DataError(f"{where}: images must be a list, not {type(images).__name__}")
    return _texts(images[:1], f"{where}: images")[0]


def _prices(pricing: object, where: str) -> tuple[float, ...]:
    if not pricing:
        return (DEFAULT_PRICE,)
    try:
        pieces = str(pricing).split("$")[1:]
        values = tuple(float(Decimal(re.sub(r"[^\d.]", "", piece))) for piece in pieces)
    except InvalidOperation as error:
        raise DataError(f"{where}: pricing {quote(pricing)} is not a price") from error
    if not values or not all(map(isfinite, values)):
        raise DataError(f"{where}: pricing {quote(pricing)} has no dollar sign, or no end")
    return values[:2]


def quote(value: object) -> str:
    """A value for an error message, which others may have made endless."""
    return repr(value)[:_LONGEST_SHOWN]


def _options(raw: object, where: str) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """The values of each option group, and the picture of each value that has one."""
    if not raw:
        return {}, {}
    if not isinstance(raw, dict):
        raise DataError(f"{where}: customization_options must be an object or empty")
    options: dict[str, tuple[str, ...]] = {}
    images: dict[str, Any] = {}
    for name, entries in raw.items():
        if entries is None:
            continue
        try:
            values = _texts([entry["value"] for entry in entries], f"{where}: option {quote(name)}")
            pictures = [entry.get("image") for entry in entries]
        except (TypeError, KeyError, AttributeError) as error:
            raise DataError(
                f"{where}: option {quote(name)} must list objects with a value"
            ) from error
        values = tuple(v.strip().replace("/", " | ").lower() for v in values)
        images |= zip(values, pictures, strict=True)  # of equal values, the last one's counts
        options[name.lower()] = values
    return options, {value: image for value, image in images.items() if isinstance(image, str)}


def _human(raw: object, where: str) -> tuple[HumanInstruction, ...]:
    if raw is None:
        return ()
    where = f"{where}: human instruction"
    if not isinstance(raw, list) or not all(isinstance(entry, dict) for entry in raw):
        raise DataError(f"{where}s must be a list of objects")
    return tuple(
        HumanInstruction(
            _text(entry, "instruction", where),
            _texts(entry.get("instruction_attributes"), f"{where}: instruction_attributes"),
            _texts(entry.get("instruction_options"), f"{where}: instruction_options"),
        )
        for entry in raw
    )
