"""A request is the same whatever was asked before, and its turns are those of its format."""

import json
from typing import Any

import pytest

from agentquest import registry
from agentquest.llms.wire import in_turns
from agentquest.records.messages import Message, ToolCall

PROVIDERS = ["openai", "responses", "anthropic", "gemini"]


def model(provider: str, **settings: Any) -> Any:
    found = registry.load("model", provider)
    return found(found.Settings(model="m", api_key_env=None, **settings))


def a_game(turns: int) -> list[Message]:
    """Calls of two tools under the same id, as some servers name them."""
    said = [Message(role="system", content='Say "it".'), Message(role="user", content="Begin: \n")]
    for turn in range(turns):
        name = "look" if turn % 2 else "act"
        call = ToolCall(id="call-0", name=name, arguments=json.dumps({"turn": turn}))
        said.append(Message(role="assistant", content="", tool_calls=(call,)))
        said.append(Message(role="tool", tool_call_id="call-0", content=f"{turn}: “done”"))
    return said


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("marks", [False, True])
def test_a_conversation_that_grows_is_sent_as_if_it_were_new(provider: str, marks: bool) -> None:
    settings = {"cache_marks": marks} if provider in ("openai", "anthropic") else {}
    keeping, game = model(provider, **settings), a_game(6)
    for length in (2, 4, 6, 6, 10, 14):
        sent = keeping._body(game[:length], (), None)
        assert sent == model(provider, **settings)._body(game[:length], (), None)
        assert json.loads(sent)


def test_a_result_goes_by_the_name_of_the_newest_call_before_it() -> None:
    contents = json.loads(model("gemini")._body(a_game(4), (), None))["contents"]
    named = [
        part["functionResponse"]["name"]
        for turn in contents
        for part in turn["parts"]
        if "functionResponse" in part
    ]
    assert named == ["act", "look", "act", "look"]


def test_of_calls_without_an_identity_the_first_is_answered() -> None:
    calls = tuple(ToolCall(id="", name=name, arguments="{}") for name in ("act", "look"))
    said = [
        Message(role="user", content="Begin."),
        Message(role="assistant", content="", tool_calls=calls),
        Message(role="tool", tool_call_id="", content="done"),
    ]
    *_, answer = json.loads(model("gemini")._body(said, (), None))["contents"]
    assert answer["parts"][0]["functionResponse"]["name"] == "act"


def test_turns_are_joined_and_empty_ones_left_out() -> None:
    said = [("user", [1]), ("user", [2]), ("model", []), ("user", [3])]
    assert in_turns(said) == [("user", [1, 2, 3])]
    assert in_turns([("user", [1]), ("model", [2])]) == [("user", [1]), ("model", [2])]
