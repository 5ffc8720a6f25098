"""A small tagger for product titles: which of their words are nouns.

Titles are not sentences. Nearly every word is capitalised, and a tagger made for
prose calls most of them proper nouns, so that what a word looks like, how it ends
and what stands beside it say more than grammar. The tagger is a linear model over
such traits. Its weights were fitted to spaCy's tags of every other one of the official
1,000 titles and measured on pairs of titles of the other half.

A tagger that always decides alike finds more words in common than one that is
swayed by context, and so scores too high. Two decisions undo that: of the product
that is wanted every likely noun counts, of the product that was bought only those
that are likely enough to be one in both titles.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from agentquest.benchmarks.webshop.shop.title_weights import BASE, WEIGHTS
from agentquest.benchmarks.webshop.shop.title_words import ADJECTIVES, FUNCTION, UNITS, VERBS

WANTED, BOUGHT = 0.0, 1.0  # how much must speak for a noun
_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,]\d+)*)(?P<after>[^\W\d_]*)"
    r"|(?P<word>[^\W_]+(?:[.:&+][^\W_]+|['’](?!s\b)[^\W_]+)*)(?:['’]s\b)?"
    r"|(?P<mark>[|%&])|(?P<break>[,;:()\[\]{}/\-–—])"
)
_ENDINGS = (
    "able", "ible", "ful", "less", "ous", "ish", "ive", "ical", "ic", "al", "ly", "ed", "est",
    "ing", "ant", "ent", "ary", "proof", "free", "er", "or", "ion", "ment", "ness", "ity", "ers",
    "ies", "es", "s", "y",
)  # fmt: skip
_NEVER = ("number", "break")


class Token(NamedTuple):
    """A piece of a title: what it looks like, and what kind of word it usually is."""

    text: str
    shape: str
    kind: str

    @property
    def seen_from_beside(self) -> str:
        """What counts for the words next to it: its shape, and its kind if that says more."""
        plain = self.kind in ("other", "mark", "number")
        return self.shape if plain else f"{self.shape}/{self.kind}"


@lru_cache(maxsize=65_536)
def title_nouns(title: str, least: float = WANTED) -> tuple[str, ...]:
    """The nouns of `title`, lower-cased, repeats included."""
    sequence = _tokens(title)
    return tuple(
        token.text.lower()
        for at, token in enumerate(sequence)
        if token.shape not in _NEVER and _weight(sequence, at) > least
    )


def _tokens(title: str) -> list[Token]:
    found = []
    for match in _TOKEN.finditer(title):
        number, after, word = match["number"], match["after"], match["word"]
        if number is not None:
            found.append(Token(number, "number", "number"))
            if after:
                found.append(Token(after, "unit" if after.lower() in UNITS else "code", "unit"))
        elif word is not None:
            found.append(Token(word, _shape(word), _kind(word.lower())))
        else:
            mark = match["mark"]
            found.append(Token(mark or match["break"], "mark" if mark else "break", "mark"))
    return found


def _shape(word: str) -> str:
    if any(character.isdigit() for character in word):
        return "code"
    if len(word) == 1 and word != "T":  # as in T-Shirt, a word like others
        return "letter"
    if word.islower():
        return "lower"
    if word.isupper():
        return "upper"
    return "title" if word[0].isupper() else "mixed"


def _kind(word: str) -> str:
    kinds = {"function": FUNCTION, "adjective": ADJECTIVES, "verb": VERBS, "unit": UNITS}
    return next((kind for kind, words in kinds.items() if word in words), "other")


def _weight(sequence: list[Token], at: int) -> float:
    """How much speaks for a token's being a noun."""
    token = sequence[at]
    before = sequence[at - 1].seen_from_beside if at else "edge"
    after = sequence[at + 1].seen_from_beside if at + 1 < len(sequence) else "edge"
    what = f"{token.shape}/{token.kind}"
    traits = (what, f"{what} < {before}", f"{what} > {after}", _ending(token))
    return BASE + sum(WEIGHTS.get(trait, 0.0) for trait in traits)


def _ending(token: Token) -> str:
    word = token.text.lower()
    fitting = (end for end in _ENDINGS if word.endswith(end) and len(word) > len(end) + 2)
    return f"-{next(fitting, '')} {token.shape}"
