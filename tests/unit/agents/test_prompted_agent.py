"""A prompt file and settings make the prompt of any setting, to the letter."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from parrot import Parrot

from agentquest.agents.prompted import PromptedAgent, PromptedSettings
from agentquest.errors import ConfigError
from agentquest.lib import Benchmark
from agentquest.llms.types import Reply
from agentquest.records.episode import EpisodeRecord
from agentquest.records.messages import ToolCall
from agentquest.records.outcome import End
from agentquest.running.factory import make_benchmark
from episode_players import a_player

GIGPO_LIKE = """[first]
Task: $goal
Now: $observation
Possible: [$admissible]
[turn]
Task: $goal. You have taken $steps_taken steps, the last $history_length:
$history
Step $step, now: $observation
Possible: [$admissible]
[history]
[Observation $number: '$observation', Action $number: '$action']
[admissible]
'$command'
"""


def played(
    folder: Path,
    benchmark: Benchmark,
    model: Parrot,
    template: str,
    max_steps: int = 4,
    **settings: Any,
) -> EpisodeRecord:
    file = folder / "prompt.txt"
    file.write_text(template, encoding="utf-8")
    agent = PromptedAgent(PromptedSettings(prompt_file=file, **settings), model)
    return asyncio.run(a_player(benchmark, agent, max_steps=max_steps).play())


def test_one_message_a_turn_with_history_in_the_setting_s_own_words(
    homes: Benchmark, tmp_path: Path
) -> None:
    model = Parrot(Reply(text="<think>a</think><action>Look</action>"), Reply(text="Hm"))
    record = played(
        tmp_path,
        homes,
        model,
        GIGPO_LIKE,
        lower_case=True,
        tail=30,
        admissible_join="\n ",
        admissible_without=("help", "look"),
    )
    assert [step.how for step in record.steps] == ["tag", "tail", "tag", "tail"]
    assert [step.action for step in record.steps] == ["look", "hm", "look", "hm"]
    assert all([message.role for message in asked] == ["user"] for asked in model.asked)
    first = record.first_admissible
    shown = "\n ".join(f"'{name}'" for name in first if name not in ("help", "look"))
    assert model.asked[0][0].content == (
        f"Task: {record.goal}\nNow: {record.first_observation}\nPossible: [{shown}]"
    )
    seen = [record.first_observation, *(step.observation for step in record.steps)]
    last = model.asked[3][0].content
    assert last.startswith(
        f"Task: {record.goal}. You have taken 3 steps, the last 2:\n"
        f"[Observation 2: '{seen[1]}', Action 2: 'hm']\n"
        f"[Observation 3: '{seen[2]}', Action 3: 'look']\n"
        f"Step 4, now: {seen[3]}\n"
    )


def test_a_chat_goes_on_and_tools_have_the_setting_s_own_names(
    homes: Benchmark, tmp_path: Path
) -> None:
    calls = tuple(
        ToolCall(id=name, name="take_action", arguments=json.dumps({"action": name}))
        for name in ("look", "inventory")
    )
    model = Parrot(Reply(text="So.", tool_calls=calls), Reply(text="No call."))
    template = "[system]\nRules: $instructions\n[first]\nHere: $observation\n[turn]\n$observation !"
    tools = [{"name": "take_action", "description": "Act.", "command": "<action>"}]
    record = played(
        tmp_path,
        homes,
        model,
        template,
        max_steps=3,
        style="chat",
        reader="tool_call",
        tools=tools,
        leave_out=(r"^-= Welcome to TextWorld, ALFRED! =-\n\n",),
    )
    assert [step.how for step in record.steps] == ["first_call", "no_tool_call", "first_call"]
    assert [tool.name for tool in model.tools] == ["take_action"]
    assert model.tools[0].parameters["required"] == ["action"]
    chat = model.asked[2]
    assert [message.role for message in chat] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user"),
    ]
    assert chat[1].content.startswith("Here: You are in the middle of a room.")
    assert (chat[3].tool_call_id, chat[4].tool_call_id) == ("inventory", "look")
    assert "Not carried out" in chat[3].content
    assert chat[4].content == f"{record.steps[0].observation} !"
    assert chat[6].content == f"{record.steps[1].observation} !"


def test_pieces_of_a_page_after_the_goal_and_a_prompt_that_grows_too_long(tmp_path: Path) -> None:
    shop = make_benchmark("webshop", {"data_path": "builtin"})
    template = (
        "[first]\nShort: $observation\n[turn]\n$history\nLong: $observation\n[piece]\n'$piece'"
    )
    search = Reply(text="<action>search[red shoes]</action>")
    for longest in (None, 20):
        model = Parrot(search)
        played(
            tmp_path,
            shop,
            model,
            template,
            max_steps=2,
            pieces=" [SEP] ",
            longest_prompt=longest,
        )
        assert model.asked[0][0].content == "Short: 'Search'"
        later = model.asked[1][0].content
        assert "'Back to Search' [SEP] 'Page 1" in later
        assert ("Long: " in later) == (longest is None)


def test_what_was_cut_off_is_read_only_where_a_setting_says_so(
    homes: Benchmark, tmp_path: Path
) -> None:
    cut = Reply(text="<action>look</action> and", finish_reason="length")
    record = played(tmp_path, homes, Parrot(cut), "[first]\n$observation", max_steps=1)
    assert (record.steps[0].action, record.steps[0].how) == (None, "truncated")
    record = played(
        tmp_path, homes, Parrot(cut), "[first]\n$observation", max_steps=1, read_cut_off=True
    )
    assert (record.steps[0].action, record.steps[0].how) == ("look", "tag")


def test_a_chat_that_no_longer_fits_is_trimmed_or_ends(homes: Benchmark, tmp_path: Path) -> None:
    said = Reply(text="look")
    settings: dict[str, Any] = {"style": "chat", "reader": "line", "max_steps": 8}
    ended = played(tmp_path, homes, Parrot(said, longest=6), "[first]\n$observation", **settings)
    assert ended.end is End.CONTEXT_LIMIT
    trimmed = played(
        tmp_path,
        homes,
        Parrot(said, longest=6),
        "[first]\n$observation",
        when_full="trim",
        **settings,
    )
    assert (trimmed.end, len(trimmed.steps)) == (End.STEP_LIMIT, 8)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("[turn]\n$observation", "contain [first]"),
        ("[first]\n$admissable", "[first] knows $admissible"),
        ("[first]\n\n[history]\n$step", "[history] knows $action"),
    ],
)
def test_a_mistake_in_the_file_is_named(
    homes: Benchmark, tmp_path: Path, template: str, said: str
) -> None:
    with pytest.raises(ConfigError) as error:
        played(tmp_path, homes, Parrot(Reply()), template)
    assert said in str(error.value)


# Each list names the one before it ten times.
BOMB = "a0: &a0 [x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 10)
)


@pytest.mark.parametrize(
    ("field", "content", "problem"),
    [
        ("opening_file", "[{role: user, words: x}]", "words"),
        ("opening_file", "{", "flow"),
        ("opening_file", "[" * 5000 + "]" * 5000, "nested too deeply"),
        ("examples_file", BOMB, "expands to more than"),
        ("examples_file", "- a", "dictionary"),
        ("examples_file", "pick_and_place_simple: [a]", "string"),
    ],
)
def test_a_file_of_messages_or_examples_is_checked(
    field: str, content: str, problem: str, tmp_path: Path
) -> None:
    prompt, other = tmp_path / "prompt.txt", tmp_path / "other.yaml"
    prompt.write_text("[first]\n$observation", encoding="utf-8")
    other.write_text(content, encoding="utf-8")
    settings = PromptedSettings(prompt_file=prompt, **{field: other})
    with pytest.raises(ConfigError, match=problem):
        PromptedAgent(settings, Parrot())
