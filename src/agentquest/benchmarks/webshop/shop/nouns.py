"""The nouns of a product title, which decide whether the right kind of thing was bought.

The original asks spaCy. Where spaCy and any English model of it are installed we
ask it too; else a small tagger of our own answers. Each gives its `name`, which is
in every record, because no two of them always agree: not ours and spaCy's, nor
spaCy's own versions.

Our own: titles are not sentences. Nearly every word is capitalised, and a tagger made for
prose calls most of them proper nouns, so that what a word looks like, how it ends
and what is next to it say more than grammar. The tagger is a linear model over
such traits. Its weights were fitted to spaCy's tags of every other one of the official
1,000 titles and measured on pairs of titles of the other half.

A tagger that always decides alike finds more words in common than one that is
swayed by context, and so scores too high. Two decisions undo that: of the product
that is wanted every likely noun counts, of the product that was bought only those
that are likely enough to be one in both titles.
"""

import importlib
import importlib.metadata
import importlib.util
import json
import logging
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

logger = logging.getLogger(__name__)

BUILT_IN = "agentquest-titles-2"
_SIZES = ("_sm", "_md", "_lg", "_trf")  # the original's is the small one
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


class TitleNouns:
    """Our own tagger for product titles; `name` is how records name it."""

    name = BUILT_IN

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        """Lower-cased, repeats included; `bought` is the product that is judged."""
        return title_nouns(title, BOUGHT if bought else WANTED)


class SpacyNouns:
    """A spaCy model, as in the original, and its version; `model` is a name or a folder."""

    def __init__(self, model: str) -> None:
        spacy = importlib.import_module("spacy")
        self._model = model
        unneeded = ["parser", "ner", "lemmatizer", "senter"]
        self._pipeline: Any = spacy.load(model, exclude=unneeded)
        meta = self._pipeline.meta
        self.name = f"{meta['lang']}_{meta['name']}-{meta['version']}/spacy-{spacy.__version__}"
        self._of = lru_cache(maxsize=65_536)(self._tag)

    def __reduce__(self) -> tuple[type["SpacyNouns"], tuple[str]]:
        return SpacyNouns, (self._model,)

    def __call__(self, title: str, bought: bool = False) -> tuple[str, ...]:
        return self._of(title)

    def _tag(self, title: str) -> tuple[str, ...]:
        tokens = self._pipeline(title)
        return tuple(token.text.lower() for token in tokens if token.pos_ in ("NOUN", "PROPN"))


Nouns = TitleNouns | SpacyNouns


@lru_cache(maxsize=1)
def best_nouns() -> Nouns:
    """spaCy where an English model is installed, else our own tagger."""
    if importlib.util.find_spec("spacy") is not None:
        for model in english_models():
            try:
                return SpacyNouns(model)
            except Exception as error:
                # spaCy's own code: what a model of another version does there is anything.
                logger.warning("the spaCy model %s cannot be used: %s", model, error)
    return TitleNouns()


def english_models() -> list[str]:
    """The folders of all English models that are installed, the small ones first.

    Some packages can be loaded by their name and some by their folder only, and all of
    them have a folder: the one with the settings of a pipeline beside a description.
    """
    found: dict[str, tuple[int, str]] = {}
    for folder in _model_folders():
        meta = _description(folder)
        if meta.get("lang") == "en" and "tagger" in str(meta.get("pipeline", meta)):
            name = str(meta.get("name", ""))
            size = next((i for i, end in enumerate(_SIZES) if end in f"_{name}"), len(_SIZES))
            found[str(folder)] = (size, name)
    return sorted(found, key=found.__getitem__)


def _model_folders() -> Iterator[Path]:
    for distribution in importlib.metadata.distributions():
        if str(distribution.metadata["Name"]).lower().startswith("en"):
            for file in distribution.files or ():
                if file.name == "config.cfg":
                    yield Path(str(distribution.locate_file(file))).parent


def _description(folder: Path) -> dict[str, Any]:
    try:
        meta = json.loads((folder / "meta.json").read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}


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
        if token.shape not in ("number", "break") and _weight(sequence, at) > least
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


# What each trait of a word says for its being a noun: a weight, and the traits that have it.
# `title/adjective` is a capitalised word of the list of adjectives, `<` and `>` say what comes
# before and after it, and `-able title` is a capitalised word with that ending.
_TABLE = """
    +1.8 | title/other
    +1.4 | -ion title | title/verb < title/adjective | title/verb > break
    +1.3 | -less title
    +1.2 | lower/other < number | mark/mark > title/verb | mixed/other | title/other < number
    +1.2 | title/unit < number | upper/other
    +1.1 | - mixed | title/function < break
    +1.0 | -ent title | -or title | code/other | letter/other < title | letter/unit
    +1.0 | title/adjective < code/unit
    +0.9 | -proof title | lower/other | lower/other < edge | lower/other < lower
    +0.9 | title/adjective > mark | title/other < mark | title/other > edge | title/verb > edge
    +0.8 | -er title | -y title | code/other < title | title/other > mark | title/unit < title
    +0.8 | upper/function > title
    +0.7 | - upper | -al title | -s lower | code/other < upper | code/other > title
    +0.7 | lower/unit < number | title/function > break | unit/unit > upper | upper/unit
    +0.6 | -ary title | -ish title | -s upper | code/other > upper | lower/other > lower/function
    +0.6 | title/adjective | title/other < lower | title/other > lower | title/other > title/verb
    +0.6 | title/unit > edge | upper/other > edge | upper/unit < number
    +0.5 | -ies title | -ness title | code/other > code | letter/function < break
    +0.5 | letter/unit < title | mark/mark < number | title/adjective < unit/unit
    +0.5 | title/adjective < upper | title/other > code | title/other > title | unit/unit > title
    +0.5 | upper/adjective | upper/other < unit/unit | upper/other > number | upper/other > title
    +0.4 | - letter | - title | -ive title | letter/other < break | lower/unit
    +0.4 | lower/unit > title | mixed/other < lower/function | mixed/other > number
    +0.4 | mixed/other > title | title/adjective < mark | title/function > number
    +0.4 | title/other < lower/function | title/other < lower/unit | title/other < mixed
    +0.4 | title/other > break | title/other > lower/function | title/verb | title/verb > title
    +0.4 | upper/other > code | upper/other > lower/function
    +0.3 | -s title | code/other > title/adjective | letter/unit < break | lower/other > lower
    +0.3 | title/adjective > edge | title/adjective > title | title/other < letter
    +0.3 | title/other < upper/unit | title/verb < edge | title/verb < upper | title/verb > number
    +0.3 | upper/other < edge | upper/other < upper/function | upper/other > mark
    +0.3 | upper/other > upper | upper/unit > title
    +0.2 | -est title | -ic title | lower/other > edge | lower/other > title | lower/unit > break
    +0.2 | mark/mark < title | mixed/other < break | title/adjective < code
    +0.2 | title/adjective < title | title/adjective < title/adjective
    +0.2 | title/function < lower/function | title/other < title | title/other < title/unit
    +0.2 | title/other > number | title/unit | title/verb < number | upper/other < lower/function
    +0.2 | upper/other > title/adjective
    -0.2 | - unit | -es title | -ity title | code/other > break | code/other > edge
    -0.2 | code/unit > break | code/unit > title/adjective | code/unit > upper
    -0.2 | letter/other > letter | lower/function > mixed | lower/function > title/verb
    -0.2 | lower/other > break | lower/other > number | mark/mark < title/adjective
    -0.2 | title/adjective > upper | title/function < edge | title/other < title/function
    -0.2 | title/other < title/verb | title/other > letter/unit | title/other > upper
    -0.2 | title/unit > break | unit/unit | unit/unit < number | unit/unit > number
    -0.2 | upper/other < code | upper/other > title/verb
    -0.3 | -ers title | code/other < edge | lower/adjective | lower/adjective > break
    -0.3 | lower/function > upper | lower/other < title | title/adjective > lower/function
    -0.3 | title/function < title | title/function < title/adjective | title/other < code/unit
    -0.3 | title/other < upper | unit/unit > edge | upper/other < break
    -0.3 | upper/other > upper/function | upper/unit > break
    -0.4 | -ant title | -er upper | -es lower | code/other < number | code/other > number
    -0.4 | code/unit > number | lower/function < break | lower/function > title/adjective
    -0.4 | mark/mark > title | title/adjective > title/adjective
    -0.4 | title/adjective > title/function | title/other < upper/function | title/other > letter
    -0.5 | - lower | code/unit > title | letter/function | letter/other < number
    -0.5 | lower/function < title/adjective | lower/function < title/verb | lower/verb
    -0.5 | mark/mark > number | title/adjective < title/function | title/adjective > title/verb
    -0.5 | title/function < title/function | title/function < title/verb
    -0.5 | title/function > title/function | title/other > mixed | title/verb < lower/function
    -0.5 | unit/unit > title/adjective | upper/other < title | upper/other > lower
    -0.6 | - mark | -y upper | lower/function > number | lower/other < lower/function
    -0.6 | lower/other < upper | mark/mark | title/other < code | title/other > title/function
    -0.6 | title/verb > title/adjective | upper/function
    -0.7 | - code | -ical title | mark/mark < upper | title/other < edge
    -0.7 | title/verb > lower/function | upper/other > break
    -0.8 | lower/adjective < break | lower/other < break | lower/unit > edge
    -0.8 | title/adjective < number | title/function > title | unit/unit > break
    -0.8 | upper/function > upper
    -0.9 | title/adjective > number | title/other < break
    -1.0 | title/verb > title/function
    -1.1 | -able title | -ous title | letter/other < letter | title/adjective < title/verb
    -1.2 | -ing title | letter/other > number | lower/function > title | title/adjective < edge
    -1.2 | upper/function < upper
    -1.3 | title/function > title/adjective
    -1.4 | lower/function < title
    -1.5 | -ible title | -ly title
    -1.7 | -ed title
    -1.8 | code/unit | code/unit < number | title/unit < break
    -2.0 | title/function
    -3.4 | lower/function
"""
BASE = 0.5


def _read() -> dict[str, float]:
    weights: dict[str, float] = {}
    for line in _TABLE.strip().splitlines():
        weight, *traits = line.strip().split(" | ")
        weights |= dict.fromkeys(traits, float(weight))
    return weights


WEIGHTS = _read()


# Words that product titles are full of, by what they usually are: general English, put together
# by hand. A word must be in the right list; the lists need not be complete.
_FUNCTION = """
    a about above across after again against all along also am an and another any are around as
    at away back be because been before behind being below beneath beside between beyond both
    but by can could did do does down during each eight either else even ever every few five for
    four from had has have having he her here him his how i if in inside into is it its just less
    let like may me might mine more most much must my near neither nine no non nor not now of off
    on once one only onto or other our out outside over own per plus same seven shall she should
    since six so some still such ten than that the their them then there these they this those
    three through to together too toward two under until up upon us very via was we were what when
    where which while who whose why will with within without would yet you your"""
_ADJECTIVES = """
    active adjustable advanced antique artificial authentic automatic available baby beautiful best
    big black blue brand breathable bright broad brown casual cheap classic clean clear cold
    colorful comfortable compact compatible complete cool creative crystal cute cozy dark deep
    delicious designed detachable different digital disposable double dry dual durable easy elastic
    electric elegant empty entire extra fashionable fast fat female fine fit flat flexible floral
    foldable folding formal free fresh full funny furry genuine gluten gold golden good gorgeous
    graphic gray great green grey gross handmade happy hard healthy heavy high holographic hot huge
    hydrating ideal imported indoor industrial innovative intelligent international keto kosher
    large lasting latest leakproof light lightweight little long loose lovely low luxurious luxury
    magnetic male manual matte medium metallic mini minimalist mixed modern moisturizing multi
    multifunctional multiple musical narrow natural neutral new nice noble nontoxic novel nude
    official old open optical orange organic original outdoor oval perfect personal pink plain
    plastic plump pointed popular portable powerful practical premium printed pro professional pure
    purple quick quiet rapid raw ready real rechargeable rectangular red refillable regular
    relaxed removable replaceable retro reusable reversible rich right rigid romantic round royal
    rustic safe salty seamless seasonal sensitive sexy sharp shiny short silent silky silver simple
    single skinny sleeveless slim slippery small smart smooth soft solid special spicy square
    stable stainless standard steady straight strapless strong stylish sugar suitable super sweet
    synthetic tactical tall temporary thermal thick thin tight tiny top traditional transparent
    trendy true turquoise twin ultra unfinished unique universal unisex unscented upholstered
    upgraded useful vegan vertical vintage violet virgin vital vivid warm washable waterproof wet
    white whole wide wild wired wireless wonderful wooden yellow young"""
_VERBS = """
    add adds allow allows apply assemble assembled avoid bring brings build built buy carry change
    charge charging choose clean cleaning come comes compare control cooking cooling cover covers
    cut cutting decorate designed drink drinking eat enhance enhances enjoy feel fit fits
    fitted fold folded gaming get gets give gives go grow handcrafted hanging help helps hiking hold
    holding hydrate improve improves inspired include included includes increase keep keeps knit
    knitted made make makes making moisturize mounted mounting need nourish nourishes
    outdoors painted packed play please plated prevent prevents protect protects provide provides
    put reading reduce reduces refill relieve relieves remove removes repair replace replaces
    running save see set sets setting shaped shaving shopping sit sleep sleeping smell soothe
    soothes stand standing stay stop storing support supports swimming take tailored touch traveling
    travelling try turn upgrade use used uses using walking wash washing wear wearing whitening
    work working works worn woven"""
_UNITS = "cm ft gb g hz in inch inches k kg lb lbs m mah mb ml mm oz pc pcs tb v w"
FUNCTION, ADJECTIVES, VERBS, UNITS = (
    frozenset(words.split()) for words in (_FUNCTION, _ADJECTIVES, _VERBS, _UNITS)
)
