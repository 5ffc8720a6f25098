"""The ReAct agent: what its prompt says, in which order, and what becomes of a reply."""

import re
from pathlib import Path
from typing import Any

import pytest
from parrot import Parrot

from agentquest.agents.react import ReActAgent, ReActSettings
from agentquest.lib import Answer, Benchmark, Observation
from agentquest.llms.prices import Price
from agentquest.llms.scripted import ScriptedModel, ScriptedModelSettings, newest_observation
from agentquest.llms.types import Reply
from agentquest.records.messages import Usage
from episode_players import an_episode

# The documented sections, in their order.
SECTIONS = [
    "ENVIRONMENT INSTRUCTIONS",
    "EXAMPLE DEMONSTRATIONS",
    "YOUR CURRENT TASK",
    "RECENT HISTORY",
    "OUTPUT FORMAT",
]
HEADING = re.compile(r"^=+\n(.+)\n=+$", re.MULTILINE)


def react(model: Parrot | ScriptedModel, **settings: Any) -> ReActAgent:
    return ReActAgent(ReActSettings(**settings), model)


async def begun(agent: ReActAgent, homes: Benchmark, **told: Any) -> Observation:
    await agent.begin(an_episode(homes, examples=agent.demonstrations_wanted, **told))
    return homes.driver(homes.tasks()[0]).reset()


def seen(text: str) -> Observation:
    return Observation(text, False, True, text=text, admissible=())


async def prompt_of(homes: Benchmark, **settings: Any) -> tuple[str, str, Observation]:
    model = Parrot("ACTION: look")
    agent = react(model, **settings)
    first = await begun(agent, homes)
    await agent.act(first)
    system, user = model.asked[0]
    assert (system.role, user.role) == ("system", "user")
    return system.content, user.content, first


async def test_the_sections_stand_in_the_documents_order(homes: Benchmark) -> None:
    system, user, _ = await prompt_of(homes)
    assert HEADING.findall(f"{system}\n{user}") == SECTIONS
    assert HEADING.findall(system) == SECTIONS[:2]


async def test_without_examples_their_section_is_left_out(homes: Benchmark) -> None:
    system, user, _ = await prompt_of(homes, use_few_shot=False)
    assert HEADING.findall(f"{system}\n{user}") == [SECTIONS[0], *SECTIONS[2:]]
    assert "Example 1" not in system


async def test_the_prompt_says_what_the_document_asks_for(homes: Benchmark) -> None:
    system, user, first = await prompt_of(homes)
    goal = first.text.rpartition("Your task is to: ")[2]
    assert f"Goal: {goal.strip().removesuffix('.')}" in user
    assert "Help: type 'check valid actions' if action fails" in user
    assert "Help: type 'inventory' to check items" in user
    assert f"Observation: {first.text}" in user
    assert re.search(r"THINK: <.*>\nACTION: <.*>", user)
    for command in (
        "look",
        "go to",
        "take",
        "move",
        "inventory",
        "open",
        "close",
        "heat",
        "clean",
        "cool",
        "use",
        "examine",
    ):
        assert re.search(rf"^- .*\b{command}\b", system, re.MULTILINE), command


async def test_the_help_for_valid_actions_is_there_only_when_it_helps(homes: Benchmark) -> None:
    _, user, _ = await prompt_of(homes, check_valid_actions=False)
    assert "check valid actions" not in user
    assert "Help: type 'inventory'" in user
    _, user, _ = await prompt_of(homes)
    assert "`check valid actions`" in user.rpartition("OUTPUT FORMAT")[2]


@pytest.mark.parametrize("count", [1, 2, 4])
async def test_as_many_examples_as_asked_for(homes: Benchmark, count: int) -> None:
    system, _, _ = await prompt_of(homes, num_examples=count)
    assert re.findall(r"^Example (\d):$", system, re.MULTILINE) == [
        str(number) for number in range(1, count + 1)
    ]


async def test_the_system_message_is_the_same_all_through_an_episode(homes: Benchmark) -> None:
    model = Parrot("ACTION: look", "nothing", "ACTION: inventory")
    agent = react(model)
    observation = await begun(agent, homes)
    for number in range(6):
        await agent.act(observation if number == 0 else seen(f"observation {number}"))
    assert len({asked[0].content for asked in model.asked}) == 1


@pytest.mark.parametrize("length", [1, 3, 10])
async def test_only_the_latest_turns_are_repeated(homes: Benchmark, length: int) -> None:
    model = Parrot(*[f"ACTION: go to place {number}" for number in range(20)])
    agent = react(model, history_length=length)
    first = await begun(agent, homes)
    for number in range(15):
        await agent.act(first if number == 0 else seen(f"saw {number}"))
    history = model.asked[-1][1].content.split("RECENT HISTORY")[1].split("OUTPUT FORMAT")[0]
    assert f"Observation: {first.text}" in history
    assert re.findall(r"Observation: saw (\d+)", history) == [
        str(number) for number in range(15 - length, 15)
    ]
    assert re.findall(r"Action: go to place (\d+)", history) == [
        str(number) for number in range(14 - length, 14)
    ]
    assert f"({14 - length} earlier steps are left out.)" in history


async def test_nothing_is_said_to_be_left_out_when_nothing_is(homes: Benchmark) -> None:
    model = Parrot("ACTION: look")
    agent = react(model, history_length=5)
    first = await begun(agent, homes)
    for number in range(6):
        await agent.act(first if number == 0 else seen(f"saw {number}"))
    assert "left out" not in model.asked[-1][1].content


async def answered(homes: Benchmark, reply: Reply | str) -> Answer:
    agent = react(Parrot(reply, price=Price(2.0, 4.0)))
    return await agent.act(await begun(agent, homes))


async def test_a_reply_is_kept_as_it_was_with_how_it_was_read(homes: Benchmark) -> None:
    text = "THINK: hm\nACTION: `look`"
    usage = Usage(prompt_tokens=1_000_000, completion_tokens=500_000, reasoning_tokens=7)
    answer = await answered(homes, Reply(text=text, reasoning="r", usage=usage, model="m-1"))
    assert (answer.action, answer.how) == ("look", "undecorated")
    assert (answer.reply, answer.reasoning) == (text, "r")
    (call,) = answer.calls
    assert call.usage == usage
    assert call.cost == 4.0
    assert (call.model, call.kind) == ("m-1", "complete")
    assert [turn.role for turn in answer.prompt] == ["system", "user"]


async def test_a_reply_that_was_cut_off_is_no_answer_whatever_it_says(homes: Benchmark) -> None:
    answer = await answered(homes, Reply(text="ACTION: look", finish_reason="length"))
    assert (answer.action, answer.how) == (None, "truncated")
    assert answer.calls[0].kind == "truncated"


async def test_an_empty_reply_is_its_own_class(homes: Benchmark) -> None:
    answer = await answered(homes, Reply(text="  ", reasoning="long thoughts"))
    assert (answer.action, answer.how) == (None, "empty")


@pytest.mark.parametrize(
    ("reply", "kept", "told"),
    [
        (Reply(text="THINK: so", finish_reason="length"), "THINK: so", "was cut off"),
        (Reply(text=" "), " ", "was empty"),
        (Reply(text="", reasoning="hm"), "", "only thoughts"),
        (Reply(text="", refusal="I will not."), "I will not.", "a refusal"),
        (Reply(text="", finish_reason="content_filter"), "", "blocked"),
        (Reply(text="well"), "well", "Could not parse"),
    ],
)
async def test_the_model_is_told_why_nothing_was_done(
    homes: Benchmark, reply: Reply, kept: str, told: str
) -> None:
    answer = await answered(homes, reply)
    assert answer.action is None
    assert answer.reply == kept
    assert told in answer.told


@pytest.mark.parametrize("shown", [True, False])
async def test_thoughts_are_repeated_where_the_settings_say_so(
    homes: Benchmark, shown: bool
) -> None:
    model = Parrot("THINK: a desk holds pens\nACTION: go to desk 1", "ACTION: look")
    agent = react(model, history_thoughts=shown)
    await agent.act(await begun(agent, homes))
    await agent.act(seen("a pen 1"))
    turn = "Action: go to desk 1\nObservation: a pen 1"
    assert turn in model.asked[1][1].content
    assert (f"Think: a desk holds pens\n{turn}" in model.asked[1][1].content) is shown


async def test_a_bare_command_of_the_benchmark_is_read(homes: Benchmark) -> None:
    answer = await answered(homes, "go to desk 1")
    assert (answer.action, answer.how) == ("go to desk 1", "bare")


async def test_tokens_that_were_not_counted_cost_an_unknown_amount(homes: Benchmark) -> None:
    (call,) = (await answered(homes, "ACTION: look")).calls
    assert (call.usage, call.cost) == (None, None)


async def test_valid_actions_can_be_asked_for_where_the_settings_allow_it(
    homes: Benchmark,
) -> None:
    for allowed in (True, False):
        agent = react(Parrot("ACTION: Check valid actions"), check_valid_actions=allowed)
        first = await begun(agent, homes)
        answer = await agent.act(first)
        assert (answer.action, answer.answered) == ("Check valid actions", allowed)
        listed = answer.told == f"Valid actions: {', '.join(first.admissible)}"
        assert listed is allowed


async def test_the_history_says_when_nothing_could_be_read(homes: Benchmark) -> None:
    model = Parrot("I do not know.", "ACTION: look")
    agent = react(model)
    await agent.act(await begun(agent, homes))
    await agent.act(seen("Could not parse"))
    assert "Action: (no action given)\nObservation: Could not parse" in model.asked[1][1].content


async def test_the_models_seed_is_passed_on(homes: Benchmark) -> None:
    model = Parrot("ACTION: look")
    agent = react(model)
    await agent.act(await begun(agent, homes, model_seed=5))
    assert model.seeds == [5]


async def test_a_template_of_ones_own_is_used(homes: Benchmark, tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("[system]\nBe brief.\n[user]\nTASK $goal SO FAR $history", encoding="utf-8")
    system, user, first = await prompt_of(homes, prompt_file=file)
    assert system == "Be brief."
    assert user.startswith("TASK ")
    assert user.endswith(f"SO FAR Observation: {first.text}")


async def test_the_scripted_model_reads_the_newest_observation_of_the_prompt(
    homes: Benchmark,
) -> None:
    told: list[str] = []

    class Listener:
        thought = "why"

        def next_action(self, observation: str) -> str:
            told.append(observation)
            return "look"

    model = ScriptedModel(ScriptedModelSettings(), Listener())  # type: ignore[arg-type]
    agent = react(model)
    first = await begun(agent, homes)
    answers = [await agent.act(first), await agent.act(seen("You see\na desk 1."))]
    assert told == [first.text, "You see\na desk 1."]
    assert [answer.reply for answer in answers] == ["THINK: why\nACTION: look"] * 2


def test_a_prompt_without_an_observation_has_none() -> None:
    assert newest_observation("hello") == ""
