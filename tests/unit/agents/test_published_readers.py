"""Readers of published settings return what the authors' functions returned for these replies.

`published_replies.json` was written by running the authors' functions, at the commits named in
`published_readers`, on our list of replies; null is where they found no action or failed.
AgentBench's BLEU and ReAct's stop at a line's end (done by the server) are not in it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from agentquest.agents.readers import READERS, ReaderOptions
from agentquest.llms.types import Reply
from agentquest.records.how import How
from agentquest.records.messages import ToolCall, ToolSpec

FIXTURE = json.loads(Path(__file__).with_name("published_replies.json").read_text("utf-8"))
REPLIES: list[dict[str, Any]] = FIXTURE["replies"]
CALLS: list[dict[str, Any]] = FIXTURE["calls"]
CASES = [
    *((Reply(text=row["reply"]), *case) for row in REPLIES for case in row["read"].items()),
    *(
        (Reply(tool_calls=tuple(made(*call) for call in row["calls"])), *case)
        for made in [lambda name, given: ToolCall(id="1", name=name, arguments=given)]
        for row in CALLS
        for case in row["read"].items()
    ),
]


OPTIONS = ReaderOptions(
    commands=("search[<query>]", "click[<target>]", "look"),
    tools=tuple(
        ToolSpec(name=f"{kind}_action", description="", command=f"{kind}[<value>]")
        for kind in ("search", "click")
    ),
    rewrite=(("put", " in ", " in/on "), ("put", " on ", " in/on ")),
)


@pytest.mark.parametrize("reader", dict.fromkeys(reader for _, reader, _ in CASES))
def test_it_reads_as_the_authors_do(reader: str) -> None:
    name, _, tail = reader.partition(" ")
    options = OPTIONS._replace(tail=int(tail or 0))
    cases = [(reply, action) for reply, read_by, action in CASES if read_by == reader]
    assert len(cases) >= 60
    for reply, action in cases:
        parsed = READERS[name](reply, options)  # type: ignore[index]
        assert parsed.action == action, reply
        unread = {How.MISSING, How.NO_TOOL_CALL, How.MALFORMED_CALL}
        assert (parsed.how in unread) == (not parsed.action), reply


def test_they_read_what_the_server_sent_thoughts_included() -> None:
    """GiGPO plays what stands in an unclosed thought; a fair reader does not."""
    content = "<think>first. <action>look</action>"
    reply = Reply(text="", reasoning="first. <action>look</action>", content=content)
    assert READERS["as_gigpo"](reply, ReaderOptions(tail=30)).action == "look"
    assert READERS["react"](reply, ReaderOptions()).action is None


def test_a_rewritten_command_says_so() -> None:
    read = READERS["as_agentboard"]
    assert read(Reply(text="put pen 1 in drawer 1"), OPTIONS).how == How.REWRITTEN
    assert read(Reply(text="go to drawer 1."), OPTIONS).how == How.AS_PUBLISHED
