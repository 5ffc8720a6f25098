"""Words, stop words and stems, on cases that were chosen by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.benchmarks.webshop.search.analysis import MAX_TOKEN_LENGTH, analyse, stem


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Red   shoes, for the women", ["red", "shoe", "women"]),
        ("women's men’s", ["women", "men"]),
        ("3.5 1,000 1;2 a:b don't x.y", ["3.5", "1,000", "1;2", "a:b", "don't", "x.y"]),
        ("end. next", ["end", "next"]),
        ("t-shirt 64gb/128gb", ["t", "shirt", "64gb", "128gb"]),
        ("one_two _three_ ___", ["one_two", "_three_"]),
        ("★ soft ™ ☆", ["★", "soft", "™"]),
        ("中文 テスト ひら", ["中", "文", "テスト", "ひ", "ら"]),
        ("👨‍💼 👍🏽 🇩🇪", ["👨‍💼", "👍🏽", "🇩🇪"]),
        ("café à", ["café", "à"]),
        ("", []),
        ("the of and", []),
    ],
)
def test_words(text, terms):
    assert analyse(text) == terms


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("caresses", "caress"), ("ponies", "poni"), ("cats", "cat"), ("feed", "feed"),
        ("agreed", "agre"), ("plastered", "plaster"), ("motoring", "motor"), ("sing", "sing"),
        ("hopping", "hop"), ("falling", "fall"), ("filing", "file"), ("happy", "happi"),
        ("sky", "sky"), ("relational", "relat"), ("technology", "technolog"),
        ("possibly", "possibl"), ("electrical", "electr"), ("hopefulness", "hope"),
        ("adoption", "adopt"), ("replacement", "replac"), ("rate", "rate"), ("roll", "roll"),
        ("controll", "control"), ("us", "us"), ("s", "s"), ("yes", "ye"),
    ],
)  # fmt: skip
def test_stems(word, expected):
    assert stem(word) == expected


@settings(deadline=None)
@given(st.text())
def test_any_text_is_analysed(text):
    for term in analyse(text):
        assert term
        assert len(term) <= MAX_TOKEN_LENGTH + 1


@settings(deadline=None)
@given(st.text(alphabet="abc12_.',: é★中", max_size=40), st.text(alphabet="abc ", max_size=20))
def test_a_blank_always_separates(first, second):
    assert analyse(f"{first} {second}") == analyse(first) + analyse(second)


@pytest.mark.parametrize("text", ["_" * 50_000, "a_" * 25_000, "a'" * 25_000, "é_" * 20_000])
def test_long_runs_of_joiners_are_read_once(text):
    """With a pattern that scans them again from each character this takes minutes."""
    assert all(len(term) <= MAX_TOKEN_LENGTH for term in analyse(text))
