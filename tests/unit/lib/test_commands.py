"""Commands with blanks: recognised, matched, filled; and tool calls as commands."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.errors import ParseError
from agentquest.lib.commands import command_of, fill_at_random, has_blank
from agentquest.lib.matching import lower_case, matcher
from agentquest.records.messages import ToolCall, ToolSpec
from growth import MOST, growth, repeated

TEMPLATES = (
    "search[<query>]",
    "Guess: <4 digits>",
    "Row: <0-8>, Column: <0-8>, Value: <1-9>",
    "<row_number>",
)
TOOLS = (
    ToolSpec(name="fill", description="", command="Row: <row>, Value: <value>"),
    ToolSpec(name="look", description="", command="look"),
)


@pytest.mark.parametrize("template", TEMPLATES)
def test_blanks_are_recognised(template: str) -> None:
    assert has_blank(template)


@pytest.mark.parametrize(
    "command",
    ["go to desk 1", "click[< prev]", "click[next >]", "click[size <5 years>]", "a <B> c"],
)
def test_other_brackets_are_no_blanks(command: str) -> None:
    assert not has_blank(command)
    assert fill_at_random(command, random.Random(0), "words of a goal") == command
    assert matcher(command).fits(command)


@given(st.integers(), st.sampled_from(TEMPLATES), st.text(max_size=40))
def test_what_is_filled_in_fits(seed: int, template: str, text: str) -> None:
    command = fill_at_random(template, random.Random(seed), text)
    assert not has_blank(command)
    assert matcher(template).fits(command)


def test_numbers_stay_within_their_bounds_and_reach_them() -> None:
    rng = random.Random(1)
    drawn = {fill_at_random("<3-12>", rng) for _ in range(400)}
    assert drawn == {str(number) for number in range(3, 13)}
    assert {len(fill_at_random("<5 digits>", rng)) for _ in range(50)} == {5}


def test_free_text_takes_words_of_the_text() -> None:
    words = fill_at_random("search[<query>]", random.Random(3), "a red shirt, size 4")[7:-1].split()
    assert words
    assert set(words) <= {"red", "shirt", "size"}
    assert fill_at_random("<query>", random.Random(3)) == "anything"


@pytest.mark.parametrize(
    ("template", "command"),
    [
        ("Guess: <4 digits>", "Guess: 123"),
        ("Guess: <4 digits>", "Guess: 12345"),
        ("Guess: <4 digits>", "Guess: 12a4"),
        ("search[<query>]", "search[]"),
        ("search[<query>]", "search[a]b]"),
        ("Row: <0-8>", "Row: 10"),
    ],
)
def test_what_does_not_fit(template: str, command: str) -> None:
    assert not matcher(template).fits(command)


@pytest.mark.parametrize(
    ("template", "text", "found"),
    [
        ("look", "look, or overlook it: LOOK", ["look", "look", "LOOK"]),
        (
            "search[<query>]",
            "a search[red] and search[] and Search[b c]",
            ["search[red]", "Search[b c]"],
        ),
        ("<0-20>!", "20!", ["20!"]),
        ("put <a> in <b>", "put x in y in z", ["put x in y in z"]),
        ("say <a><b>!", "say ab!", ["say ab!"]),
        ("say <a><b>!", "say a!", []),
    ],
)
def test_where_a_command_stands(template: str, text: str, found: list[str]) -> None:
    places = matcher(template).occurrences(text, lower_case(text))
    assert [text[start:end] for start, end in places] == found


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("search[<query>]", repeated("search[")),
        ("search[<query>]", repeated("search[a ")),
        ("put <a> in <b>", repeated("put ")),
        ("<a><b><c><d><e>!", repeated("a")),
        ("x<a> <b> <c> <d> <e>]", repeated("x ")),
        ("look", repeated("loo")),
    ],
)
def test_looking_costs_no_more_than_the_text_is_long(
    template: str, text: Callable[[int], str]
) -> None:
    def look(text: str) -> int:
        return sum(1 for _ in matcher(template).occurrences(text, lower_case(text)))

    assert growth(look, text) < MOST


def test_case_and_spaces_do_not_matter() -> None:
    assert matcher("Guess:  <4 digits>").fits("guess: 0123")


def test_a_tool_call_becomes_the_command() -> None:
    call = ToolCall(id="1", name="fill", arguments='{"value": "7", "row": 0}')
    assert command_of(call, TOOLS) == "Row: 0, Value: 7"
    assert command_of(ToolCall(id="1", name="look", arguments=""), TOOLS) == "look"


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("jump", "{}", "There is no tool 'jump'"),
        ("fill", "{", "not JSON"),
        ("fill", "[]", "takes exactly: row, value"),
        ("fill", '{"row": 1}', "takes exactly: row, value"),
        ("fill", '{"row": 1, "value": 2, "other": 3}', "takes exactly: row, value"),
        ("fill", '{"row": 1, "value": true}', "text or whole numbers"),
        ("fill", '{"row": 1, "value": 1.0}', "text or whole numbers"),
        ("look", '{"row": 1}', "no arguments"),
    ],
)
def test_a_tool_call_is_never_repaired(name: str, arguments: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        command_of(ToolCall(id="1", name=name, arguments=arguments), TOOLS)
