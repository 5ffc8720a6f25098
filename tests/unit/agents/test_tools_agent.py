"""The tool-calling agent: every reply is taken for what it is, and nothing is lost on the way."""

import asyncio
import json
from typing import Any

import pytest
from parrot import Parrot

from agentquest.agents.chat_history import NOT_CARRIED_OUT
from agentquest.agents.react import ReActAgent, ReActSettings
from agentquest.agents.tools import NO_CALL, NOT_CARRIED_OUT_AT_ALL, ToolsAgent, ToolsSettings
from agentquest.lib import Benchmark
from agentquest.llms.scripted import ScriptedModel, ScriptedModelSettings
from agentquest.llms.types import ChatModel, Reply
from agentquest.records.episode import EpisodeRecord
from agentquest.records.messages import ToolCall
from agentquest.records.outcome import End
from agentquest.running.factory import make_benchmark
from episode_players import a_player


def act(command: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(id=call_id, name="act", arguments=json.dumps({"command": command}))


def played(
    homes: Benchmark, model: ChatModel, max_steps: int = 3, **settings: Any
) -> EpisodeRecord:
    agent = ToolsAgent(ToolsSettings(**settings), model)
    return asyncio.run(a_player(homes, agent, max_steps=max_steps).play())


def test_a_call_is_a_step_and_its_result_goes_back_under_its_id(homes: Benchmark) -> None:
    model = Parrot(Reply(text="Let me look.", tool_calls=(act("look", "c7"),)))
    record = played(homes, model, max_steps=2)
    first = record.steps[0]
    assert (first.action, first.how, first.valid) == ("look", "tool_call", True)
    assert first.tool_calls == [act("look", "c7")]
    assistant, result = model.asked[1][-2:]
    assert (assistant.role, assistant.tool_calls) == ("assistant", (act("look", "c7"),))
    assert (result.role, result.tool_call_id, result.content) == ("tool", "c7", first.observation)
    assert record.prompt(record.steps[1]) == list(model.asked[1])


def test_several_calls_of_one_reply_are_steps_in_their_order(homes: Benchmark) -> None:
    calls = (act("look", "a"), act("inventory", "b"), act("fly", "c"))
    record = played(homes, Parrot(Reply(tool_calls=calls)), max_steps=3)
    assert [step.action for step in record.steps] == ["look", "inventory", "fly"]
    assert [step.how for step in record.steps] == ["tool_call", "further_call", "further_call"]
    assert [len(step.calls) for step in record.steps] == [1, 0, 0]
    assert not record.steps[2].valid


def test_or_only_the_first_is_carried_out_and_the_others_are_told(homes: Benchmark) -> None:
    model = Parrot(Reply(tool_calls=(act("look", "a"), act("inventory", "b"))))
    record = played(homes, model, max_steps=2, several_calls="first")
    assert [step.action for step in record.steps] == ["look", "look"]
    told = {message.tool_call_id: message.content for message in model.asked[1][-2:]}
    assert told["b"] == NOT_CARRIED_OUT


@pytest.mark.parametrize(
    ("reply", "how", "told"),
    [
        (Reply(text="I would look."), "no_tool_call", NO_CALL),
        (Reply(text="", finish_reason="length"), "truncated", "cut off"),
        (Reply(text=""), "empty", "empty"),
        (Reply(refusal="I cannot."), "refused", "nothing was done"),
        (Reply(tool_calls=(ToolCall(id="x", name="act", arguments="look"),)), "malformed_call",
         "not JSON"),
        (Reply(tool_calls=(ToolCall(id="x", name="act", arguments='{"cmd": "look"}'),)),
         "malformed_call", "takes exactly: command"),
        (Reply(tool_calls=(ToolCall(id="x", name="walk", arguments="{}"),)), "malformed_call",
         "no tool 'walk'"),
        (Reply(tool_calls=(ToolCall(id="x", name="act", arguments='{"command": ["look"]}'),)),
         "malformed_call", "must be text"),
    ],
)  # fmt: skip
def test_what_is_no_call_is_recorded_told_and_costs_a_step(
    homes: Benchmark, reply: Reply, how: str, told: str
) -> None:
    model = Parrot(reply, Reply(tool_calls=(act("look"),)))
    record = played(homes, model, max_steps=2)
    first = record.steps[0]
    assert (first.action, first.how, first.valid) == (None, how, False)
    assert told in first.observation
    assert model.asked[1][-1].content == first.observation
    assert record.steps[1].action == "look"


def test_calls_of_a_reply_that_was_cut_off_are_answered_but_not_carried_out(
    homes: Benchmark,
) -> None:
    calls = (act("look", "a"), act("inventory", "b"))
    cut = Reply(tool_calls=calls, finish_reason="length")
    model = Parrot(cut, Reply(tool_calls=(act("look", "c"),)))
    record = played(homes, model, max_steps=2)
    first = record.steps[0]
    assert (first.action, first.how, first.tool_calls) == (None, "truncated", list(calls))
    told = {message.tool_call_id: message.content for message in model.asked[1][-2:]}
    assert told == {"a": NOT_CARRIED_OUT_AT_ALL, "b": first.observation}


def test_a_conversation_that_no_longer_fits_loses_its_oldest_turns(homes: Benchmark) -> None:
    model = Parrot(Reply(tool_calls=(act("look"),)), longest=9)
    record = played(homes, model, max_steps=12)
    assert (record.end, len(record.steps)) == (End.STEP_LIMIT, 12)
    assert all(messages[0].role == "system" for messages in model.asked)
    assert all("Goal: " in messages[1].content for messages in model.asked)
    assert "left out" in model.asked[-1][2].content
    for messages in model.asked:
        calls = {call.id for message in messages for call in message.tool_calls}
        assert {m.tool_call_id for m in messages if m.role == "tool"} <= calls


def test_or_the_episode_is_truncated(homes: Benchmark) -> None:
    model = Parrot(Reply(tool_calls=(act("look"),)), longest=9)
    record = played(homes, model, max_steps=12, when_full="end")
    assert (record.end, record.scored) == (End.CONTEXT_LIMIT, True)


@pytest.mark.parametrize("name", ["alfworld", "webshop", "mastermind", "sudoku"])
@pytest.mark.parametrize("tools", ["one", "typed"])
def test_the_scripted_player_plays_the_same_game_as_through_react(name: str, tools: str) -> None:
    settings = {"data_path": "builtin"} if name in ("alfworld", "webshop") else {}
    benchmark = make_benchmark(name, settings)
    through: list[list[str]] = []
    for agent in (
        ReActAgent(ReActSettings(use_few_shot=False), scripted(benchmark)),
        ToolsAgent(ToolsSettings(tools=tools), scripted(benchmark)),  # type: ignore[arg-type]
    ):
        player = a_player(benchmark, agent, max_steps=60)
        record = asyncio.run(player.play())
        through.append([*record.actions, record.end.value])
    assert through[0] == through[1]


def scripted(benchmark: Benchmark) -> ScriptedModel:
    return ScriptedModel(ScriptedModelSettings(), benchmark.explorer())
