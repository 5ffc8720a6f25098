"""Text to search terms, as Lucene's English analysis does it.

Words are found by the rules of Unicode's text segmentation (UAX #29), which
Lucene's StandardTokenizer follows: `:` and `.` and `'` join letters, `,` `.` `;`
and `'` join digits, `_` joins both, each Han or Hiragana character is a word, and
so is a pictograph. Then possessive `'s` goes, stop words go, and what remains is
stemmed. Terms must equal Lucene's one by one, or rankings drift.

The stemming is Porter's suffix stripping in the reference program's variant, which Lucene uses. It
differs from the published paper in two rules of step 2 (`logi` becomes `log`, `bli` becomes `ble`),
and leaves words of one or two letters alone. A word is seen as [C](VC)^m[V]: `_measure` is that m.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, pairwise

MAX_TOKEN_LENGTH = 255

_STOP_WORDS = (
    "a an and are as at be but by for if in into is it no not of on or such that the their "
    "then there these they this to was will with"
)
STOP_WORDS = frozenset(_STOP_WORDS.split())

_MID_LETTER = ":\u00b7\u0387\u05f4\u2027\ufe13\ufe55\uff1a"
_MID_NUMBER = ",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b"
_MID_BOTH = ".'\u2018\u2019\u2024\ufe52\uff07\uff0e"
_JOINERS = "_\u202f\u203f\u2040\u2054\ufe33\ufe34\ufe4d\ufe4e\ufe4f\uff3f"
_HIRAGANA = "\u3041-\u3096\u309d-\u309f\U0001b001\U0001f200"
_KATAKANA = "\u3031-\u3035\u309b\u309c\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_KATAKANA += "\u32d0-\u32fe\u3300-\u3357\uff66-\uff9d\U0001b000"
_HAN = "\u2e80-\u2e99\u2e9b-\u2ef3\u2f00-\u2fd5\u3005\u3007\u3021-\u3029\u3038-\u303b"
_HAN += "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufa6d\ufa70-\ufad9\U00020000-\U0003134f"
# Scripts that write no blanks between words: Thai, Lao, Myanmar, Khmer, Tai Le and kin.
_SOUTH_EAST_ASIAN = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f"
_SOUTH_EAST_ASIAN += "\u1050-\u108f\u109a-\u109f\u1780-\u17d3\u17d7\u17dc\u17dd\u1950-\u1974"
_SOUTH_EAST_ASIAN += "\u1980-\u19c9\u19da-\u19df\u1a20-\u1aad\ua9e0-\ua9ef\ua9fa-\ua9fe"
_SOUTH_EAST_ASIAN += "\uaa60-\uaac2\uaadb-\uaadf"
_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2194-\u2199\u21a9\u21aa\u231a\u231b\u2328\u2388\u23cf"
    "\u23e9-\u23f3\u23f8-\u23fa\u24c2\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u2605"
    "\u2607-\u2612\u2614-\u2685\u2690-\u2705\u2708-\u2712\u2714\u2716\u271d\u2721\u2728\u2733"
    "\u2734\u2744\u2747\u274c\u274e\u2753-\u2755\u2757\u2763-\u2767\u2795-\u2797\u27a1\u27b0"
    "\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f0ff\U0001f10d-\U0001f10f\U0001f12f\U0001f16c-\U0001f171\U0001f17e"
    "\U0001f17f\U0001f18e\U0001f191-\U0001f19a\U0001f1ad-\U0001f1e5\U0001f201-\U0001f20f"
    "\U0001f21a\U0001f22f\U0001f232-\U0001f23a\U0001f23c-\U0001f23f\U0001f249-\U0001f3fa"
    "\U0001f400-\U0001f53d\U0001f546-\U0001f64f\U0001f680-\U0001f6ff\U0001f774-\U0001f77f"
    "\U0001f7d5-\U0001f7ff\U0001f80c-\U0001f80f\U0001f848-\U0001f84f\U0001f85a-\U0001f85f"
    "\U0001f888-\U0001f88f\U0001f8ae-\U0001f8ff\U0001f90c-\U0001f93a\U0001f93c-\U0001f945"
    "\U0001f947-\U0001fffd"
)
_CIRCLED_LETTERS = "\u24b6-\u24e9\U0001f130-\U0001f149\U0001f150-\U0001f169\U0001f170-\U0001f189"
_FLAG_LETTERS = "\U0001f1e6-\U0001f1ff"
_SKIN_TONES = "\U0001f3fb-\U0001f3ff"
_LAST_LETTER_PLANE = 0x1FFFF


def analyse(text: str) -> list[str]:
    """The terms of `text`, in order, repeats included."""
    terms = map(_term, _tokens(text))
    return [term for term in terms if term is not None]


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    if text.isascii():
        found = _ascii_words().findall(text)
    else:
        # A blank always ends a word, and the full pattern is slow: it gets what needs it.
        for is_ascii, words in groupby(text.split(" "), key=str.isascii):
            if is_ascii:
                found += _ascii_words().findall(" ".join(words))
            else:
                tokens = _unicode_words().findall(" ".join(words))
                found += [t for t in tokens if t[0] not in _JOINERS or not _only_joiners(t)]
    if len(text) > MAX_TOKEN_LENGTH and max(map(len, found), default=0) > MAX_TOKEN_LENGTH:
        return [piece for token in found for piece in _pieces(token)]
    return found


def _only_joiners(token: str) -> bool:
    return _joined_nothing().fullmatch(token) is not None


def _pieces(token: str) -> list[str]:
    return [token[i : i + MAX_TOKEN_LENGTH] for i in range(0, len(token), MAX_TOKEN_LENGTH)]


@lru_cache(maxsize=200_000)
def _term(token: str) -> str | None:
    """What becomes of one token; None for a stop word."""
    if len(token) >= 2 and token[-1] in "sS" and token[-2] in "'\u2019\uff07":
        token = token[:-2]
    token = token.lower()
    if token in STOP_WORDS:
        return None
    return stem(token)


@lru_cache(maxsize=1)
def _ascii_words() -> re.Pattern[str]:
    return re.compile(_word_pattern("a-zA-Z", "0-9", ":.'", ",;.'", "_"))


@lru_cache(maxsize=1)
def _unicode_words() -> re.Pattern[str]:
    letters, digits, ignored = _character_classes()
    word = _word_pattern(
        letters, digits, _MID_LETTER + _MID_BOTH, _MID_NUMBER + _MID_BOTH, _JOINERS, ignored,
        _KATAKANA,
    )  # fmt: skip
    pictograph = f"[{_PICTOGRAPHS}][{_SKIN_TONES}{ignored}]*"
    others = [
        "[0-9#*]\ufe0f?\u20e3",
        f"[{_FLAG_LETTERS}][{ignored}]*[{_FLAG_LETTERS}][{ignored}]*",
        f"{pictograph}(?:(?<=\u200d){pictograph})*",
        f"[{_SOUTH_EAST_ASIAN}][{_SOUTH_EAST_ASIAN}{ignored}]*",
        f"[{_HAN}{_HIRAGANA}][{ignored}]*",
        # Joiners that join nothing are no word. They are taken whole and thrown away, or a
        # long run of them would be scanned again from each of its characters.
        _joined_nothing().pattern,
    ]
    return re.compile("|".join([word, *others]))


@lru_cache(maxsize=1)
def _joined_nothing() -> re.Pattern[str]:
    return re.compile(f"[{_JOINERS}][{_JOINERS}{_character_classes()[2]}]*")


def _word_pattern(
    letters: str,
    digits: str,
    mid_letters: str,
    mid_digits: str,
    joiners: str,
    ignored: str = "",
    katakana: str = "",
) -> str:
    """Letters and digits with what may stand inside a word; never only joiners.

    All arguments are insides of character classes. The look-behind keeps a long
    run of joiners from being scanned again from each of its characters.
    """
    mark = f"[{ignored}]*" if ignored else ""
    joiner = f"[{joiners}][{joiners}{ignored}]*"

    def run(members: str, inner: str) -> str:
        piece = f"[{members}][{members}{ignored}]*"
        return f"{piece}(?:(?:{joiner}|[{inner}]{mark}){piece})*"

    core = f"(?:{run(letters, mid_letters)}|{run(digits, mid_digits)})+"
    if katakana:
        core = f"(?:{core}|[{katakana}][{katakana}{ignored}]*)"
    return f"(?:(?<![{joiners}]){joiner})?{core}(?:{joiner}{core})*(?:{joiner})?"


@lru_cache(maxsize=1)
def _character_classes() -> tuple[str, str, str]:
    """The letters, the digits, and the marks that never break a word, as regex ranges."""
    taken = re.compile(f"[{_HAN}{_HIRAGANA}{_KATAKANA}{_SOUTH_EAST_ASIAN}]")
    letters, digits, ignored = [], [], []
    for point in range(_LAST_LETTER_PLANE + 1):
        character = chr(point)
        category = unicodedata.category(character)
        if category == "Nd":
            digits.append(point)
        elif category in ("Mn", "Mc", "Me") or (category == "Cf" and point != 0x200B):
            ignored.append(point)
        elif (category[0] == "L" or category == "Nl") and not taken.match(character):
            letters.append(point)
    ignored += [0xFF9E, 0xFF9F]
    removed = {0xFF9E, 0xFF9F, 0x02D7}
    kept = [point for point in letters if point not in removed]
    return _ranges(kept) + _CIRCLED_LETTERS, _ranges(digits), _ranges(ignored)


def _ranges(points: list[int]) -> str:
    """Code points as the inside of a regex character class."""
    pieces: list[str] = []
    start = previous = -2
    for point in [*sorted(points), -9]:
        if point != previous + 1:
            if start >= 0:
                pieces.append(f"{_escape(start)}-{_escape(previous)}")
            start = point
        previous = point
    return "".join(pieces)


def _escape(point: int) -> str:
    return f"\\U{point:08x}"


def _read_rules(text: str) -> dict[str, str]:
    """Endings and what replaces them."""
    return dict(rule.split(":") for rule in text.split())


_STEP2 = _read_rules(
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e"
    " ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous"
    " aliti:al iviti:ive biliti:ble logi:log"
)
_STEP3 = _read_rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
# Longer endings stand before the shorter ones that they end with.
_ENDINGS = "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize"
_STEP4 = tuple(_ENDINGS.split())


def stem(word: str) -> str:
    """The stem of a lower-cased word."""
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past_and_progressive(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replace(word, _STEP2)
    word = _replace(word, _STEP3)
    word = _drop_ending(word)
    return _final_e_and_ll(word)


def _consonants(word: str) -> Iterator[bool]:
    """Whether each letter is one; a y is, unless a consonant stands before it."""
    consonant = False
    for letter in word:
        consonant = not consonant if letter == "y" else letter not in "aeiou"
        yield consonant


def _measure(stem_part: str) -> int:
    return sum(not before and after for before, after in pairwise(_consonants(stem_part)))


def _has_vowel(stem_part: str) -> bool:
    return not all(_consonants(stem_part))


def _ends_in_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and [*_consonants(word)][-1]


def _ends_in_cvc(word: str) -> bool:
    return [*_consonants(word)][-3:] == [True, False, True] and word[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    if word.endswith("s") and not word.endswith("ss"):
        return word[:-1]
    return word


def _past_and_progressive(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    if word.endswith("ed") and _has_vowel(word[:-2]):
        word = word[:-2]
    elif word.endswith("ing") and _has_vowel(word[:-3]):
        word = word[:-3]
    else:
        return word
    if word.endswith(("at", "bl", "iz")):
        return word + "e"
    if _ends_in_double_consonant(word):
        return word if word[-1] in "lsz" else word[:-1]
    if _measure(word) == 1 and _ends_in_cvc(word):
        return word + "e"
    return word


def _replace(word: str, rules: dict[str, str]) -> str:
    if not word.endswith(tuple(rules)):  # most words; much faster than trying each
        return word
    ending = next(ending for ending in rules if word.endswith(ending))
    start = word[: -len(ending)]
    return start + rules[ending] if _measure(start) > 0 else word


def _drop_ending(word: str) -> str:
    if not word.endswith(_STEP4):
        return word
    ending = next(ending for ending in _STEP4 if word.endswith(ending))
    keep = 1 if ending in ("sion", "tion") else 0
    start = word[: len(word) - len(ending) + keep]
    return start if _measure(start) > 1 else word


def _final_e_and_ll(word: str) -> str:
    if word.endswith("e"):
        start = word[:-1]
        m = _measure(start)
        if m > 1 or (m == 1 and not _ends_in_cvc(start)):
            word = start
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
