"""Named readers: what each takes for an action, and what it says of the rest."""

import pytest

from agentquest.agents.readers import READERS, ReaderOptions
from agentquest.llms.types import Reply
from agentquest.records.messages import ToolCall, ToolSpec
from unit.agents.family_replies import CALLS, CallRow

TOOLS = (ToolSpec(name="take_action", description="", command="<action>"),)
PLAIN = ReaderOptions(tools=TOOLS)
PUBLISHED = ReaderOptions(lower_case=True, tail=30)


@pytest.mark.parametrize(
    ("reader", "text", "action", "how"),
    [
        ("tags", "Hm.\n<action> look </action>", "look", "tag"),
        ("tags", "<action>a</action><action>b</action>", "a", "tag"),
        ("tags", "</action> <action>look</action>", "look", "tag"),
        ("tags", "<action>look", None, "missing"),
        ("tags", "<ACTION>look</ACTION>", None, "missing"),
        ("tags", "<action> </action>", None, "missing"),
        ("tags", "I look around.", None, "missing"),
        ("line", "look", "look", "line"),
        ("line", "\n go to desk 1 \n\nbecause of it", "go to desk 1", "first_line"),
        ("line", " \n", None, "missing"),
        ("json", '{"thought": "t", "action": "look"}', "look", "json"),
        ("json", '```json\n{"action": "look"}\n```', "look", "json"),
        ("json", 'Well: {"action": "look"}', None, "not_json"),
        ("json", '{"act": "look"}', None, "no_action"),
        ("json", '["look"]', None, "no_action"),
        ("react", "THINK: hm\nACTION: look", "look", "exact"),
        ("tool_call", "look", None, "no_tool_call"),
    ],
)
def test_what_is_read(reader: str, text: str, action: str | None, how: str) -> None:
    parsed = READERS[reader](Reply(text=text), PLAIN)
    assert (parsed.action, parsed.how) == (action, how)


def call(arguments: str) -> ToolCall:
    return ToolCall(id="1", name="take_action", arguments=arguments)


@pytest.mark.parametrize(
    ("calls", "action", "how"),
    [
        ((call('{"action": "look"}'),), "look", "tool_call"),
        ((call('{"action": "look"}'), call('{"action": "inventory"}')), "look", "first_call"),
        ((call("look"),), None, "malformed_call"),
    ],
)
def test_a_call_is_read(calls: tuple[ToolCall, ...], action: str | None, how: str) -> None:
    parsed = READERS["tool_call"](Reply(tool_calls=calls), PLAIN)
    assert (parsed.action, parsed.how) == (action, how)


NAMED = (
    ToolSpec(name="act", description="", command="<command>"),
    ToolSpec(name="search", description="", command="search[<query>]"),
    ToolSpec(name="look", description="", command="look"),
)


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row.why)
def test_the_table_of_calls(row: CallRow) -> None:
    calls = tuple(ToolCall(id="1", name=name, arguments=given) for name, given in row.calls)
    reply = Reply(text=row.text, tool_calls=calls)
    parsed = READERS["tool_call"](reply, ReaderOptions(tools=NAMED))
    assert (parsed.action, parsed.how) == (row.action, row.how)


def test_a_published_way_of_playing_what_is_no_answer_says_so() -> None:
    """As GiGPO projects: lower case, and the last characters of a reply without tags."""
    read = READERS["tags"]
    assert read(Reply(text="<Action>Go To Desk 1</ACTION>"), PUBLISHED)[::2] == (
        "go to desk 1",
        "tag",
    )
    text = "I think that I should really Go To The Desk 1 now"
    assert read(Reply(text=text), PUBLISHED)[::2] == (text[-30:].lower(), "tail")
    assert read(Reply(reasoning="never closed"), PUBLISHED)[::2] == ("never closed", "tail")


def test_thoughts_are_told_apart() -> None:
    assert READERS["tags"](Reply(text="Hm. <action>x</action>"), PLAIN).thought == "Hm."
    assert READERS["json"](Reply(text='{"think": "t", "action": "x"}'), PLAIN).thought == "t"
