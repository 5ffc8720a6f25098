"""Reading THINK/ACTION replies: tolerant of decoration, never a repair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentquest.agents.react_parsing import Parsed, parse_react

TABLE = [
    ("THINK: I am here.\nACTION: go to desk 1", "go to desk 1", "exact", "I am here."),
    ("Think: a\nAction: look", "look", "exact", "a"),
    ("Thought: a\naction: look\n", "look", "exact", "a"),
    ("ACTION: look", "look", "exact", ""),
    ("THINK: a\r\nACTION: look\r\n", "look", "exact", "a"),
    ("THINK: one\ntwo\n\nACTION: look", "look", "exact", "one\ntwo"),
    ("THINK：想一想\nACTION：go to desk 1", "go to desk 1", "exact", "想一想"),
    ("**THINK:** a\n**ACTION:** look", "look", "exact", "a"),
    ("- ACTION: look", "look", "exact", ""),
    ("> Action : look", "look", "exact", ""),
    ("ACTION: `look`", "look", "undecorated", ""),
    ("ACTION: **look**", "look", "undecorated", ""),
    ('ACTION: "look".', "look", "undecorated", ""),
    ("ACTION: `go to desk 1`.", "go to desk 1", "undecorated", ""),
    ("ACTION: 'look.'", "look", "undecorated", ""),
    ("ACTION: [go to desk 1]", "go to desk 1", "undecorated", ""),
    ("ACTION: <go to desk 1>", "go to desk 1", "undecorated", ""),
    ("ACTION: go to desk 1.", "go to desk 1", "undecorated", ""),
    ("ACTION:\ngo to desk 1", "go to desk 1", "next_line", ""),
    ("ACTION:\n\n```\ngo to desk 1\n```", "go to desk 1", "next_line", ""),
    ("THINK: so I go. ACTION: go to desk 1", "go to desk 1", "inline", "so I go."),
    ("THINK: a\nACTION: look\nObservation: b\nACTION: go", "look", "first_of_several", "a"),
    ("THINK: my last action: look was bad.\nACTION: go to bed 1", "go to bed 1", "exact", None),
    ("THINK: the action: look", None, "missing", None),
    ("I would rather look around.", None, "missing", "I would rather look around."),
    ("", None, "missing", ""),
    ("ACTION:", None, "missing", ""),
    ("ACTION: ``", None, "missing", ""),
    ("REACTION: look", None, "missing", None),
    ("ACTION look", None, "missing", None),
    # Words are never changed, added or taken away: these are the agent's own mistakes.
    ("ACTION: Go To Desk 1", "Go To Desk 1", "exact", ""),
    ("ACTION: go to desk 1 and look", "go to desk 1 and look", "exact", ""),
    ("ACTION: go  to  desk 1", "go  to  desk 1", "exact", ""),
    ("ACTION: goto desk1 (I think)", "goto desk1 (I think)", "exact", ""),
]


@pytest.mark.parametrize(("reply", "action", "how", "thought"), TABLE)
def test_what_is_read_and_how(reply: str, action: str | None, how: str, thought: str) -> None:
    parsed = parse_react(reply)
    assert (parsed.action, parsed.how) == (action, how)
    if thought is not None:
        assert parsed.thought == thought


WORDS = st.from_regex(r"[a-z]{1,8}( [a-z]{1,8}){0,4}( [0-9]{1,2})?", fullmatch=True)
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
    parsed = parse_react(f"ACTION: {shown}")
    assert parsed.action == command
    assert parsed.how == ("exact" if shown.strip() == command else "undecorated")


@given(st.text())
def test_any_text_is_read_without_inventing_a_word(text: str) -> None:
    parsed = parse_react(text)
    assert parsed == parse_react(text)
    if parsed.action is None:
        assert parsed.how == "missing"
    else:
        assert parsed.action
        assert parsed.action in text
        assert parsed.action == parsed.action.strip()


@given(st.text(alphabet=" \t\n\r*_`\"'.<>[]-#:", max_size=40))
def test_decoration_alone_is_no_action(text: str) -> None:
    assert parse_react(f"ACTION:{text}").action is None or any(
        mark in text for mark in "-#:<>[].\"'"
    )


def test_a_huge_reply_is_read_in_time() -> None:
    # Bounded by the test's time limit: quadratic reading of this would take minutes.
    parsed = parse_react("*" * 200_000 + "\n" + "> " * 100_000 + "\nACTION: look")
    assert parsed == Parsed("look", parsed.thought, "exact")
    assert parse_react("ACTION: " + "`" * 200_000).action is None
    assert parse_react("\n" * 200_000).action is None
