"""Text of others does nothing where it is shown, and loses nothing."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.safe_text import csv_text, markdown_text, one_line, visible
from report_runs import HARM

ANY_TEXT = st.text(st.characters(), max_size=60)


@given(ANY_TEXT)
def test_one_line_is_one_printable_line(text: str) -> None:
    line = one_line(text)
    assert len(line.splitlines()) <= 1
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for c in line)
    line.encode("utf-8")


FILLERS = "\u115f\u1160\u3164\uffa0"  # letters by their category that nobody sees
SEEN = st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"], exclude_characters=FILLERS)


@given(st.text(SEEN, max_size=60))
def test_text_that_can_be_seen_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_no_other_letter_number_or_mark_of_punctuation_is_an_escape() -> None:
    everything = map(chr, (*range(0xD800), *range(0xE000, sys.maxunicode + 1)))
    kinds = ("L", "N", "P", "Zs")
    letters = [one for one in everything if unicodedata.category(one).startswith(kinds)]
    assert {one for one in letters if visible(one) != one} == {*FILLERS}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b", "a\\x00b"),
        ("abc\u202edef", "abc\\u202edef"),
        ("\ud800", "\\ud800"),
        ("two\r\nlines\tand a tab", "two\nlines\tand a tab"),
        ("back\rover", "back\\x0dover"),
        ("in\u00advisible", "in\\xadvisible"),
        ("\U000e0069\U000e0067", "\\U000e0069\\U000e0067"),
        ("a\u2066b\u2069\u200b\u180e\u3164", "a\\u2066b\\u2069\\u200b\\u180e\\u3164"),
        ("\x1b]52;c;ZXZpbA==\x07", "\\x1b]52;c;ZXZpbA==\\x07"),
        ("\u0c15\u0c4d\u200c\u0c37 \U0001f469\u200d\U0001f4bb\ufe0f", None),
    ],
)
def test_what_cannot_be_seen_is_shown(text: str, shown: str | None) -> None:
    """None: writing that needs joiners stays as it is."""
    assert visible(text) == (text if shown is None else shown)


@given(ANY_TEXT)
def test_a_cell_is_one_line_and_no_formula(text: str) -> None:
    cell = csv_text(text)
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert cell.removeprefix("'") == one_line(text).removeprefix("'")


def test_markdown_keeps_a_cell_a_cell() -> None:
    shown = markdown_text(HARM)
    for sign in "|`*_[]<>":
        assert shown.count(sign) == shown.count(f"\\{sign}") > 0
