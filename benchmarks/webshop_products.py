"""A catalogue of any size, made on the spot: random products, their words as uneven as real ones.

Words are drawn by Zipf's law from a vocabulary that grows with the catalogue, so
that frequent words have lists as long, and rare ones as short, as in a shop. It
says how fast a search is, not how good.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

CATEGORIES = ("beauty", "electronics", "fashion", "garden", "grocery")
WORDS_A_PRODUCT = 140
TITLE, FIRST_BULLET = 14, 40  # where the words of a product are cut
_BATCH = 2_000
_LETTERS = "abcdefghijklmnoprstuvwy"


def write_catalogue(folder: Path, count: int, seed: int = 0) -> None:
    """The official files with `count` products of no meaning."""
    vocabulary = words(30_000 + count // 8)
    with (folder / "items_shuffle.json").open("w", encoding="ascii") as items:
        items.write("[")
        for number, text in enumerate(_texts(vocabulary, count, seed)):
            items.write(f"{', ' if number else ''}{_product(number, text)}")
        items.write("]")
    with (folder / "items_ins_v2.json").open("w", encoding="ascii") as listings:
        listings.write("{")
        for number in range(count):
            wish = f', "instruction": "Find me thing {number}", "instruction_attributes": ["a"]'
            entry = f'{{"attributes": ["a"]{wish if number % 3 == 0 else ""}}}'
            listings.write(f'{", " if number else ""}"{asin(number)}": {entry}')
        listings.write("}")


def queries(count: int, products: int, seed: int = 1) -> list[str]:
    """As people ask: two to nine words of one product's text, frequent and rare ones mixed."""
    dice = random.Random(seed)
    vocabulary = words(30_000 + products // 8)
    texts = list(_texts(vocabulary, count, seed=seed + 1_000_000))
    return [" ".join(dice.sample(text, dice.randint(2, 9))) for text in texts]


def asin(number: int) -> str:
    return f"B{number:09d}"


def words(count: int) -> list[str]:
    """Different words, the shorter ones first, as in a language."""
    made: dict[str, None] = {}
    dice = random.Random(0)
    while len(made) < count:
        length = 3 + len(made).bit_length() // 3
        made["".join(dice.choices(_LETTERS, k=dice.randint(2, length)))] = None
    return list(made)


def _texts(vocabulary: list[str], count: int, seed: int) -> Iterator[list[str]]:
    """The words of each product, by Zipf's law."""
    dice = np.random.default_rng(seed)
    weights = 1.0 / np.arange(3, len(vocabulary) + 3)
    ends = np.cumsum(weights / weights.sum())
    for first in range(0, count, _BATCH):
        size = min(_BATCH, count - first)
        drawn = np.searchsorted(ends, dice.random((size, WORDS_A_PRODUCT)))
        for row in np.minimum(drawn, len(vocabulary) - 1).tolist():
            yield [vocabulary[at] for at in row]


def _product(number: int, text: list[str]) -> str:
    options = {"Color": [{"value": word} for word in text[-3:]]} if number % 2 else ""
    return json.dumps(
        {
            "asin": asin(number),
            "name": " ".join(text[:TITLE]),
            "full_description": " ".join(text[FIRST_BULLET:]),
            "small_description": [" ".join(text[TITLE:FIRST_BULLET])],
            "pricing": f"${1 + number % 400}.99",
            "images": [""],
            "product_category": f"Department › {text[0]} › {text[1]}",
            "category": CATEGORIES[number % len(CATEGORIES)],
            "query": text[0],
            "customization_options": options,
        }
    )
