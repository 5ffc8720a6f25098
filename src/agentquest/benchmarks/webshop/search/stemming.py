"""Porter's suffix stripping, in the reference variant that Lucene uses.

The published paper and the reference program differ in two rules of step 2
(`logi` becomes `log`, `bli` becomes `ble`), and words of one or two letters are
left alone. Search rankings depend on these details, so no other stemmer will do.

A word is seen as [C](VC)^m[V]: `_measure` is that m.
"""

from collections.abc import Iterator
from itertools import pairwise

_STEP2 = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP3 = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
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
