"""Settings of published numbers, played: a checkpoint behind an address, one prompt file."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentquest import api
from agentquest.benchmarks.alfworld.benchmark import AlfWorldBenchmark
from agentquest.config import load_config
from agentquest.metrics.published import list_published
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running.play import play
from agentquest.running.run import Run
from chat_server import ChatServer
from said import Messages, Said

WORDS = """[first]
$goal
$observation
$admissible
[turn]
$history
$observation
$admissible
[history]
($number: $action)
"""
CHAT = "[system]\nYou act.\n[first]\nTask: $observation ACTIONS: $admissible\n[turn]\n$observation"


def by_tags(messages: Messages) -> str:
    return "<think>Hm.</think><action>Look</action>"


def by_words(messages: Messages) -> str:
    return "Thought: hm\n\nAction:\nlook"


def by_act(messages: Messages) -> Said:
    return Said(calls=(("take_action", json.dumps({"action": "look"})),))


def by_search(messages: Messages) -> Said:
    return Said(calls=(("search_action", json.dumps({"keywords": "red shoes"})),))


def by_thinking(messages: Messages) -> str:
    """Thoughts and actions in turn; what follows the first line is not read."""
    thinks = str(messages[-1]["content"]).count("\n> ") % 2 == 0
    return "think: I look.\nlook" if thinks else "look\nOn the desk 1, you see a pen 1."


REACT = (
    "[first]\n$examples\n$observation\n>\n[turn]\n$examples\n$history\n$observation\n>\n"
    "[history]\n$observation\n> $action\n"
)
ETO = "[first]\n$observation\n[turn]\nObservation: $observation\n[unread]\nNo `Action: ` in it."
EXAMPLES = ["agent.examples_file=EXAMPLES"]
OPENING = ["agent.opening_file=OPENING"]
CASES: dict[str, tuple[Any, str, list[str], str | None]] = {
    "gigpo-alfworld": (by_tags, WORDS, [], "look"),
    "gigpo-webshop": (by_tags, WORDS, [], "look"),
    "gigpo-webshop-as-published": (by_tags, WORDS, [], "look"),
    "agentgym-alfworld-200": (by_words, CHAT, [], "look"),
    "agentgym-webshop-200": (by_words, CHAT, ["benchmark_settings.numbers=[1, 7]"], "look"),
    "agentbench-fc-alfworld": (by_act, CHAT, ["tasks=[FIRST]"], "look"),
    "agentboard-alfworld": (by_words, WORDS, EXAMPLES, "Thought: hm"),
    "eto-alfworld-seen": (by_words, ETO, OPENING, "look"),
    "eto-alfworld-unseen": (by_words, ETO, OPENING, "look"),
    "eto-webshop-200": (by_words, ETO, [*OPENING, "benchmark_settings.numbers=[1]"], None),
    "agentbench-fc-webshop": (by_search, CHAT, [], "search[red shoes]"),
}


async def played(
    name: str, folder: Path, url: str, prompt: str, more: list[str]
) -> tuple[Run, EpisodeRecord]:
    """The first episode of a run under a protocol."""
    file = folder / "prompt.txt"
    file.write_text(prompt, encoding="utf-8")
    first = Run(load_config(None, ["data_path=builtin"])[0]).specs[0].task.id
    types = AlfWorldBenchmark.task_types
    written = {
        "EXAMPLES": {name: f"An example of {name}." for name in types},
        "OPENING": [{"role": "user", "content": "Play."}, {"role": "assistant", "content": "OK"}],
    }
    for file_name, content in written.items():
        (folder / file_name).write_text(json.dumps(content), encoding="utf-8")
    given = [
        word.replace("FIRST", first).replace("=EX", f"={folder}/EX").replace("=OP", f"={folder}/OP")
        for word in more
    ]
    words = [f"protocol={name}", f"agent.prompt_file={file}", "model=m", f"base_url={url}"]
    run = Run(load_config(None, [*words, "data_path=builtin", *given])[0])
    return run, await play(run.specs[0])


@pytest.mark.parametrize("name", CASES)
async def test_it_asks_and_reads_as_published(name: str, tmp_path: Path) -> None:
    answer, prompt, more, action = CASES[name]
    async with ChatServer(answer) as server:
        run, record = await played(name, tmp_path, server.url, prompt, more)
    assert {step.action for step in record.steps} == {action}
    settings = run.config.llm.settings if run.config.llm else {}
    sent = server.requests[0]
    assert sent["temperature"] == settings["temperature"]
    assert record.max_steps == run.max_steps == len(record.steps)
    assert len(sent["messages"]) == {CHAT: 2, ETO: 3}.get(prompt, 1)
    if name.startswith("gigpo"):
        assert (sent["temperature"], sent["max_tokens"]) == (0.4, 512)
        assert server.requests[2]["messages"][0]["content"].startswith("(1: look)\n(2: look)\n")
    counts = {"gigpo-webshop": 500, "agentgym-webshop-200": 2, "agentbench-fc-webshop": 200}
    assert len(run.specs) == counts.get(name, len(run.specs))


@pytest.mark.parametrize(
    ("said", "action", "how"),
    [
        ("<think>first. <action>look</action>", "look", "tag"),
        ("<think><action>Look</action></think><action>go</action>", "look", "tag"),
        (
            "<think>a</think>I would say: Go To Fridge 1",
            "</think>i would say: go to fridge 1",
            "tail",
        ),
    ],
)
async def test_gigpo_reads_the_thoughts_too(
    said: str, action: str, how: str, tmp_path: Path
) -> None:
    async with ChatServer(lambda messages: said) as server:
        _, record = await played("gigpo-alfworld", tmp_path, server.url, WORDS, [])
    assert (record.steps[0].action, record.steps[0].how) == (action[-30:], how)


@pytest.mark.parametrize(("name", "tokens"), [("react-alfworld", 100), ("reflexion-alfworld", 256)])
async def test_a_thought_is_a_turn_of_its_own(name: str, tokens: int, tmp_path: Path) -> None:
    async with ChatServer(by_thinking) as server:
        _, record = await played(name, tmp_path, server.url, REACT, EXAMPLES)
    thought, acted = record.steps[:2]
    assert (thought.action, thought.how, thought.observation) == (
        "think: I look.",
        "thought",
        "OK.",
    )
    assert (acted.action, acted.how, acted.valid) == ("look", "as_published", True)
    assert len(record.steps) == record.max_steps == 49
    asked = server.requests[2]
    assert asked["max_tokens"] == tokens
    prompt = asked["messages"][0]["content"]
    example, room, task, *_ = prompt.split("\n")
    assert example == f"An example of {record.task_type}."
    assert room.startswith("You are in the middle of a room. Looking quickly around you, you see a")
    assert task == f"Your task is to: {record.goal}."
    assert "> think: I look.\nOK.\n> look\nYou are in" in prompt


async def test_reflexion_ends_with_the_same_action_twice(tmp_path: Path) -> None:
    async with ChatServer(lambda messages: "look") as server:
        _, record = await played("reflexion-alfworld", tmp_path, server.url, REACT, EXAMPLES)
    assert [step.how for step in record.steps] == ["as_published", "as_published", "gave_up"]
    assert (record.end, record.scored, record.success) == (End.GAVE_UP, True, False)
    assert len(server.requests) == 2


async def test_what_the_model_is_told_of_an_unread_reply_is_the_setting_s_own(
    tmp_path: Path,
) -> None:
    async with ChatServer(lambda messages: "I look.") as server:
        _, record = await played("eto-alfworld-unseen", tmp_path, server.url, ETO, OPENING)
    assert record.steps[0].observation == "No `Action: ` in it."
    said = [message["content"] for message in server.requests[1]["messages"]]
    assert said[:2] == ["Play.", "OK"]
    assert said[3:] == ["I look.", "Observation: No `Action: ` in it."]


def test_the_report_names_what_may_be_compared_and_what_may_not(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(WORDS, encoding="utf-8")
    words = ["model=m", f"agent.prompt_file={file}", "data_path=builtin"]
    run = Run(load_config(None, ["protocol=gigpo-webshop", *words])[0])
    (refused,) = list_published(run.manifest())
    assert refused.startswith("not comparable with GiGPO's trained models (success 75.2): every ")
    assert run.manifest().comparable_with == [], "not on built-in data"


async def test_a_run_under_a_file_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "prompt.txt").write_text(WORDS, encoding="utf-8")
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\nsettings:\n  num_games: 1\n  seed: 1\n  max_steps: 2\n"
        "  agent: {name: prompted, prompt_file: prompt.txt}\n"
        "refused: {theirs: it differs}\n",
        encoding="utf-8",
    )
    async with ChatServer(by_tags) as server:
        words = [f"protocol={file}", "model=m", f"base_url={server.url}", "data_path=builtin"]
        config, _ = load_config(None, [*words, f"output_dir={tmp_path}"])
        run = Run(config)
        owed, remarks = await api.prepare_run(run)
        result = await api.play_pending(run, owed)
    assert remarks == ()
    assert (result.complete, result.manifest.protocol) == (True, "mine")
    assert result.report.published == ("not comparable with theirs: it differs",)
