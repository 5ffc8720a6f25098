"""Settings of published numbers, played: a checkpoint behind an address, one prompt file."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentquest import api
from agentquest.config import load_config
from agentquest.metrics.report import list_published
from agentquest.records.episode import EpisodeRecord
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


CASES: dict[str, tuple[Any, str, list[str], str]] = {
    "gigpo-alfworld": (by_tags, WORDS, [], "look"),
    "gigpo-webshop": (by_tags, WORDS, [], "look"),
    "gigpo-webshop-as-published": (by_tags, WORDS, [], "look"),
    "agentgym-alfworld-200": (by_words, CHAT, [], "look"),
    "agentgym-webshop-200": (by_words, CHAT, ["benchmark_settings.numbers=[1, 7]"], "look"),
    "agentbench-fc-alfworld": (by_act, CHAT, ["tasks=[FIRST]"], "look"),
    "agentbench-fc-webshop": (by_search, CHAT, [], "search[red shoes]"),
}


async def played(
    name: str, folder: Path, url: str, prompt: str, more: list[str]
) -> tuple[Run, EpisodeRecord]:
    """The first episode of a run under a protocol."""
    file = folder / "prompt.txt"
    file.write_text(prompt, encoding="utf-8")
    first = Run(load_config(None, ["data_path=builtin"])[0]).specs[0].task.id
    given = [word.replace("FIRST", first) for word in more]
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
    assert len(sent["messages"]) == (2 if prompt is CHAT else 1)
    if name.startswith("gigpo"):
        assert (sent["temperature"], sent["max_tokens"]) == (0.4, 512)
        assert server.requests[2]["messages"][0]["content"].startswith("(1: look)\n(2: look)\n")
    counts = {"gigpo-webshop": 500, "agentgym-webshop-200": 2, "agentbench-fc-webshop": 200}
    assert len(run.specs) == counts.get(name, len(run.specs))


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
