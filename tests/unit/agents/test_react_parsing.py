"""Reading replies: as a person would, never a repair, in linear time."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentquest.lib import parsing
from agentquest.lib.parsing import LONGEST_REPLY, Parsed, parse_react
from growth import MOST, growth, repeated
from unit.agents.family_replies import CALLS, FAMILIES
from unit.agents.reply_table import TABLE, Row

COMMANDS = (
    "look",
    "inventory",
    "go to <receptacle>",
    "take <object> from <receptacle>",
    "search[<query>]",
    "click[<target>]",
)
ROWS = [*TABLE, *(row for rows in FAMILIES.values() for row in rows)]
UNREAD = {"missing", "format_echo", "too_long"}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.reply[:40])
def test_the_table_of_replies(row: Row) -> None:
    parsed = parse_react(row.reply, COMMANDS)
    assert (parsed.action, parsed.how) == (row.action, row.how), row.why


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.reply[:40])
def test_how_says_whether_there_is_an_action(row: Row) -> None:
    assert (row.how in UNREAD) == (row.action is None)
    assert row.why


def test_the_table_is_long_and_of_many_families() -> None:
    assert len(ROWS) + len(CALLS) >= 300
    assert len(FAMILIES) >= 12
    assert all(len(rows) >= 12 for rows in FAMILIES.values())


_WORDS = ("go", "to", "desk", "1", "look", "action", "no", "next", "think", "command", "input", "s")


@given(
    thought=st.text("aA:*_ .\n<[{|#`-动作｜action", max_size=30),
    words=st.lists(st.sampled_from(_WORDS), min_size=1, max_size=4),
)
def test_the_short_way_reads_what_the_long_way_reads(thought: str, words: list[str]) -> None:
    """A reply exactly as asked for is read without looking for anything else."""
    reply = f"THINK: {thought}\nACTION: {' '.join(words)}"
    assert parse_react(reply, COMMANDS) == parsing._parse_loosely(reply, COMMANDS)


def test_thoughts_are_told_from_the_action() -> None:
    for reply, thought in (
        ("THINK: one\ntwo\n\nACTION: look", "one\ntwo"),
        ("**THINK:** a\n**ACTION:** look", "a"),
        ("Thought 2: a\nAction 2: look", "a"),
        ("so I go. ACTION: look", "so I go."),
        ("I would rather not.", "I would rather not."),
    ):
        assert parse_react(reply).thought == thought


def test_without_known_commands_nothing_bare_is_read() -> None:
    assert parse_react("go to desk 1") == Parsed(None, "go to desk 1", "missing")


NO_WORDS = {"none", "null", "nothing", "command", "action"}
WORDS = st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,4}( [0-9]{1,2})?", fullmatch=True).filter(
    lambda words: words not in NO_WORDS and not words.startswith("action")
)
THOUGHTS = st.text(max_size=60).filter(lambda text: "action" not in text.casefold())


@given(THOUGHTS, WORDS)
def test_the_format_asked_for_is_always_read_exactly(thought: str, command: str) -> None:
    parsed = parse_react(f"THINK: {thought}\nACTION: {command}")
    assert (parsed.action, parsed.how) == (command, "exact")


@given(
    WORDS,
    st.lists(
        st.sampled_from(["`{}`", "**{}**", "*{}*", '"{}"', "'{}'", "{}.", " {} ", "[{}]", "<{}>"]),
        max_size=4,
    ),
)
def test_any_layers_of_decoration_come_off_and_nothing_else(
    command: str, layers: list[str]
) -> None:
    shown = command
    for layer in layers:
        shown = layer.format(shown)
    assume("```" not in shown)  # which opens a code block
    assume("<s>" not in shown)  # which is a chat template's mark
    parsed = parse_react(f"ACTION: {shown}")
    assert parsed.action == command
    assert parsed.how == ("exact" if shown.strip() == command else "undecorated")


@given(st.text())
def test_any_text_is_read_without_inventing_a_word(text: str) -> None:
    parsed = parse_react(text)
    assert parsed == parse_react(text)
    if parsed.action is None:
        assert parsed.how in UNREAD
    else:
        assert parsed.action
        assert parsed.action in text
        assert parsed.action == parsed.action.strip()


@given(st.text(alphabet=" \t\n\r*_`\"'.<>[]-#:", max_size=40))
def test_decoration_alone_is_no_action(text: str) -> None:
    assert parse_react(f"ACTION:{text}").action is None or any(
        mark in text for mark in "-#:<>[].\"'"
    )


GROWING = {
    "stars": repeated("*", after="\nACTION: look"),
    "quotes": repeated("> ", after="\nACTION: look"),
    "backticks": repeated("`", before="ACTION: "),
    "brackets": lambda n: "ACTION: " + "[" * (n // 2) + "]" * (n // 2),
    "lines": repeated("\n"),
    "labels": repeated("ACTION:\n"),
    "echoes": repeated("ACTION: <command>\n"),
    "objects": repeated('{"a":'),
    "opened": repeated("<action>"),
    "tags": repeated("<action>x</action>"),
    "marks": repeated("<s></s>"),
    "thoughts": repeated("<think>"),
    "inline": repeated("a. Action: <command> "),
    "commands": repeated("look\n"),
    "words": repeated("a ", before="ACTION: "),
    "spaces": repeated(" ", before="ACTION", after=":"),
}


@pytest.mark.parametrize("name", GROWING)
def test_the_cost_grows_with_the_reply_and_no_faster(name: str) -> None:
    def read(text: str) -> None:
        for start in range(0, len(text), LONGEST_REPLY):
            parse_react(text[start : start + LONGEST_REPLY], COMMANDS)

    assert growth(read, GROWING[name]) < MOST


def test_of_a_huge_reply_the_end_is_read() -> None:
    assert parse_react("a\n" * LONGEST_REPLY + "ACTION: look").action == "look"
    assert parse_react("ACTION: look\n" + "a\n" * LONGEST_REPLY).action is None


def test_no_command_is_so_long() -> None:
    assert parse_react("ACTION: " + "go " * 2000)[::2] == (None, "too_long")
