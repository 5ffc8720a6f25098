"""What a reply is taken for, and above all what it is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.a2a.remote_agent import parse_action
from growth import MOST, growth, repeated

LIST = (
    "go to cabinet 1",
    "go to cabinet 10",
    "go to desk 1",
    "inventory",
    "look",
    "put apple 1 in/on fridge 1",
)


@pytest.mark.parametrize(
    ("reply", "command", "how"),
    [
        ("go to desk 1", "go to desk 1", "exact"),
        ("  go to desk 1\n", "go to desk 1", "exact"),
        ("Go To  Desk 1.", "go to desk 1", "normalized"),
        ('"go to desk 1"', "go to desk 1", "normalized"),
        ("> go to desk 1", "go to desk 1", "normalized"),
        ("```\ngo to desk 1\n```", "go to desk 1", "normalized"),
        ("```text\nlook\n```", "look", "normalized"),
        ("Action: go to desk 1", "go to desk 1", "normalized"),
        ("**Action:** `look`", "look", "normalized"),
        ("Action: look\nthen\nAction: inventory", "inventory", "normalized"),
        ("Action:\ngo to desk 1", "go to desk 1", "normalized"),
        ("<think>go to cabinet 10?</think>look", "look", "normalized"),
        ("3", "go to desk 1", "number"),
        ("3.", "go to desk 1", "number"),
        ("3)", "go to desk 1", "number"),
        ("Action: 5", "look", "number"),
        ("I will go to desk 1 now", "go to desk 1", "contained"),
        ("I go to cabinet 10, as it is near", "go to cabinet 10", "contained"),
        ("I will look around", "look", "contained"),
        ("not go to desk 1, go to cabinet 1? go to desk 12", "go to cabinet 1", "contained"),
    ],
)
def test_understood(reply, command, how):
    assert parse_action(reply, LIST) == (command, how)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "   ",
        "0",
        "7",
        "99999999999999999999",
        "go to cabinet",
        "go to cabinet 100",
        "move apple 1 to fridge 1",
        "overlooking",
        "inventory_of_things",
        "Action: fly\nlook at the sky",
        "<think>look</think>",
        "<think>look",
        "3 apples",
    ],
)
def test_not_an_action(reply):
    assert parse_action(reply, LIST) == (None, "invalid")


def test_two_equally_long_commands_are_no_choice():
    assert parse_action("go to desk 1 or go to desk 2", ("go to desk 1", "go to desk 2")) == (
        None,
        "invalid",
    )


def test_a_search_is_any_search():
    actions = ("search[<query>]", "click[Buy Now]", "click[< Prev]")
    assert parse_action("search[red shoes]", actions) == ("search[red shoes]", "normalized")
    assert parse_action("I want search[red shoes] now", actions) == (
        "search[red shoes]",
        "contained",
    )
    assert parse_action("CLICK[buy now]", actions) == ("click[Buy Now]", "normalized")
    assert parse_action("search[<query>]", actions).command is None
    assert parse_action("search[]", actions).command is None
    assert parse_action("1", actions).command is None
    assert parse_action("2", actions) == ("click[Buy Now]", "number")
    assert parse_action("click[< Prev]", actions) == ("click[< Prev]", "exact")


names = st.from_regex(r"(go to|open|take) [a-z]{3,8} [0-9]{1,2}", fullmatch=True)


@given(st.lists(names, unique=True, min_size=1, max_size=20), st.data())
def test_every_command_is_understood_as_itself(commands, data):
    command = data.draw(st.sampled_from(commands))
    assert parse_action(command, commands) == (command, "exact")
    assert parse_action(f"Action: {command.upper()}!", commands) == (command, "normalized")


@given(st.text(max_size=300), st.lists(names, max_size=8))
def test_nothing_but_an_available_command_comes_out(reply, commands):
    command, how = parse_action(reply, commands)
    assert (command is None) == (how == "invalid")
    assert command is None or command in commands


def test_without_actions_nothing_is_an_action():
    assert parse_action("look", ()) == (None, "invalid")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (repeated("Action:\n"), LIST),
        (repeated("\n"), LIST),
        (repeated(" *_>"), LIST),
        (repeated("```"), LIST),
        (repeated("<think>"), LIST),
        (repeated("go to cabinet "), LIST),
        (repeated("search["), ("search[<query>]",)),
        (repeated("<b>"), ("put <b> <b> <b> <b> <b> down",)),
        (repeated("put a "), ("put <b> <b> <b> <b> <b> down",)),
        (repeated("a", before="say "), ("say <a><b><c><d><e>!",)),
    ],
)
def test_reading_costs_no_more_than_the_reply_is_long(text, options):
    assert growth(lambda reply: parse_action(reply, options), text) < MOST
