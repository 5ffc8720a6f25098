"""The nouns of a product title, which decide whether the right kind of thing was bought.

The original asks spaCy. Where spaCy and an English model are installed we ask it
too; else a small tagger of our own answers: in titles nearly every capitalised
word is tagged a proper noun, so what matters is to leave out function words,
numbers, measures and lower-case adjectives and verbs. Both give `name`, which
stands in every reward's details, because the two do not always agree.
"""

import importlib
import importlib.util
import re
from functools import lru_cache
from typing import Any, Protocol

BUILT_IN = "agentquest-titles-1"
_NOUN_TAGS = frozenset({"NOUN", "PROPN"})
_MODELS = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg")

_TOKEN = re.compile(
    r"(?P<number>\d[\d.,]*)(?P<unit>cm|ft|gb|g|kg|k|mb|mm|m|oz|tb)(?![^\W_])"
    r"|(?P<word>[^\W_]+(?:[.:&+][^\W_]+|['’](?!s\b)[^\W_]+)*)(?:['’]s\b)?|(?P<bar>[|%])",
    re.IGNORECASE,
)
_FUNCTION_WORDS = """
    a about above across after again against all along also am an and another any are around as
    at away back be because been before behind being below beneath beside between beyond both
    but by can compatible could designed did do does down during each eight either else even
    ever every few five for four from had has have having he her here him his how i if in inside
    into is it its just less let like made make may me might mine more most much must my near
    neither nine no non nor not now of off on once one only onto or other our out outside over
    own per perfect plus same seven shall she should since six so some still such suitable ten
    than that the their them then there these they this those three through to together too
    toward two under until up upon us very via was we were what when where which while who whose
    why will with within without would yet you your"""
_ADJECTIVES = """
    adjustable advanced anti automatic available beautiful best big bright casual cheap clean
    clear comfortable compatible complete cool cute deep different double dry dual durable easy
    elegant empty entire extra fast fine fit flat flexible foldable free fresh full funny good
    great handmade happy hard healthy heavy high hot huge ideal large lightweight little long
    loose low luxury mini modern multiple natural new nice old open organic original portable
    premium printed professional pure quick quiet real rechargeable removable replaceable
    reusable rich right safe sexy sharp short simple single slim small smart smooth soft solid
    special stable standard strong stylish suitable super sweet thick thin tight tiny top ultra
    unique universal unscented unisex useful vegan vintage waterproof warm washable wide wireless
    wonderful young"""
_VERBS = """
    add allow apply assemble avoid bring brings build buy carry change charge choose clean
    come comes compare cover covers cut drink eat enhance enjoy feel fits get gets give gives go
    grow hold hydrate improve include includes increase keep keeps make makes made need nourish
    play please prevent protect protects provide put reduce refill relieve remove repair replace
    save see set sit sleep soothe stay stop support supports take try turn use used uses wash
    wear work works"""
_NOT_NOUN_ENDINGS = ("able", "ible", "ful", "less", "ous", "ish", "ive", "ical", "ly", "ed", "est")
_NEVER = frozenset(_FUNCTION_WORDS.split())
_NOT_IN_LOWER_CASE = frozenset(f"{_ADJECTIVES} {_VERBS}".split())


class Nouns(Protocol):
    """Finds the nouns of a title; `name` says by which means."""

    @property
    def name(self) -> str:
        """How records name the means: our own tagger, or spaCy's model and its version."""
        ...

    def __call__(self, title: str) -> tuple[str, ...]: ...


class TitleNouns:
    """Our own tagger for product titles."""

    name = BUILT_IN

    def __call__(self, title: str) -> tuple[str, ...]:
        return title_nouns(title)


@lru_cache(maxsize=65_536)
def title_nouns(title: str) -> tuple[str, ...]:
    """The nouns of `title`, lower-cased, repeats included."""
    nouns = []
    for match in _TOKEN.finditer(title):
        token = match["word"]
        if token is None:
            nouns.append(match["unit"] or match["bar"])
        elif _is_noun(token):
            nouns.append(token)
    return tuple(noun.lower() for noun in nouns)


def _is_noun(token: str) -> bool:
    word = token.lower()
    if word in _NEVER or word[0].isdigit():
        return False
    if len(word) == 1 and word not in "abcdefghijklmnopqrstuvwyz":
        return False
    if token[0].isupper():
        return True
    if word in _NOT_IN_LOWER_CASE:
        return False
    return not (len(word) > 5 and word.endswith(_NOT_NOUN_ENDINGS))


class SpacyNouns:
    """spaCy's English model, as in the original."""

    def __init__(self, model: str) -> None:
        spacy = importlib.import_module("spacy")
        self._model = model
        self._pipeline: Any = spacy.load(model, disable=["parser", "ner"])
        self.name = f"{model}-{self._pipeline.meta.get('version', '')}"
        self._of = lru_cache(maxsize=65_536)(self._tag)

    def __reduce__(self) -> tuple[type["SpacyNouns"], tuple[str]]:
        return SpacyNouns, (self._model,)

    def __call__(self, title: str) -> tuple[str, ...]:
        return self._of(title)

    def _tag(self, title: str) -> tuple[str, ...]:
        return tuple(t.text.lower() for t in self._pipeline(title) if t.pos_ in _NOUN_TAGS)


def best_nouns() -> Nouns:
    """spaCy where an English model is installed, else our own tagger."""
    if importlib.util.find_spec("spacy") is not None:
        for model in _MODELS:
            if importlib.util.find_spec(model) is not None:
                return SpacyNouns(model)
    return TitleNouns()
