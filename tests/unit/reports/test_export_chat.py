"""An episode as a chat keeps every call and result, in every format, and exports never mix."""

import csv
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentquest.api import evaluate
from agentquest.records.episode import Call, EpisodeRecord
from agentquest.records.messages import Message, ToolCall, ToolSpec, Usage
from agentquest.reports.exports import export_run
from agentquest.reports.exports.atif import trajectory
from agentquest.reports.exports.chat import conversation
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved, step

LOOK = ToolCall(id="a", name="act", arguments='{"command": "look"}')
WAIT = ToolCall(id="b", name="act", arguments='{"command": "wait"}')
TORN = ToolCall(id="c", name="act", arguments='{"comm')
ASKED = Call(model="tiny-1", kind="complete")
TOOL = ToolSpec(name="act", description="Acts.", parameters={"type": "object"}, command="<c>")


def one_reply_two_calls() -> EpisodeRecord:
    """A reply with two calls and words, then one with a call that cannot be read."""
    return record(
        steps=[
            step(1, reply="Both.", tool_calls=[LOOK, WAIT], calls=[ASKED], observation="Dark."),
            step(2, tool_calls=[WAIT], observation="Later."),
            step(3, action=None, tool_calls=[TORN], calls=[ASKED], observation="No JSON."),
        ],
        tools=[TOOL],
    )


def roles(messages: list[Message]) -> list[tuple[str, str, str | None]]:
    return [(one.role, one.content, one.tool_call_id) for one in messages]


def test_each_call_has_its_result_also_in_a_reply_with_several() -> None:
    chat = list(conversation(one_reply_two_calls()))
    assert roles(chat)[1:] == [
        ("assistant", "Both.", None),
        ("tool", "Dark.", "a"),
        ("tool", "Later.", "b"),
        ("assistant", "", None),
        ("tool", "No JSON.", "c"),
    ]
    assert [one.tool_calls for one in chat if one.role == "assistant"] == [(LOOK, WAIT), (TORN,)]


def test_a_chat_is_told_as_it_was_sent() -> None:
    """The prompt shows more than the observation, and a call that was not carried out."""
    first = [Message(role="system", content="Play."), Message(role="user", content="Go.")]
    reply = Message(role="assistant", content="Both.", tool_calls=(LOOK, WAIT))
    results = [
        Message(role="tool", content="Not carried out.", tool_call_id="b"),
        Message(role="tool", content="Dark.\n\nPossible now: look", tool_call_id="a"),
    ]
    played = record(
        messages=[*first, reply, *results],
        steps=[
            step(1, prompt=[0, 1], reply="Both.", tool_calls=[LOOK, WAIT], calls=[ASKED],
                 reasoning="Hm.", observation="Dark."),
            step(2, prompt=[0, 1, 2, 3, 4], reply="Done.", calls=[ASKED], observation="Bright."),
        ],
    )  # fmt: skip
    chat = list(conversation(played))
    assert chat[:2] == first
    assert chat[2] == reply.model_copy(update={"reasoning": "Hm."})
    assert chat[3:5] == results
    assert roles(chat)[5:] == [("assistant", "Done.", None), ("user", "Bright.", None)]


def test_prompts_that_are_no_chat_are_left_out_of_it() -> None:
    prompts = [Message(role="user", content=text) for text in ("Start.", "Start. look: Dark.")]
    steps = [
        step(1, prompt=[0], reply="ACTION: look", calls=[ASKED], observation="Dark."),
        step(2, prompt=[1], reply="ACTION: go", calls=[ASKED], observation="Bright."),
    ]
    assert roles(list(conversation(record(messages=prompts, steps=steps)))) == [
        ("user", "Start.", None),
        ("assistant", "ACTION: look", None),
        ("user", "Dark.", None),
        ("assistant", "ACTION: go", None),
        ("user", "Bright.", None),
    ]


@pytest.fixture(scope="module")
def with_tools(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    folder = tmp_path_factory.mktemp("runs")
    evaluate(
        benchmark="mastermind", agent="tools", num_games=2, max_steps=4, run_name="r",
        output_dir=folder,
    )  # fmt: skip
    return StoredRun(folder / "r")


def test_a_played_chat_is_the_one_that_was_sent(with_tools: StoredRun) -> None:
    for played in with_tools.records:
        sent = played.prompt(played.steps[-1])
        assert list(conversation(played))[: len(sent)] == sent
        assert [tool.name for tool in played.tools] == ["guess"]


def hf_rows(folder: Path) -> list[dict[str, Any]]:
    text = (folder / "data/episodes.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_a_dataset_has_every_call_and_the_prompts_as_sent(
    with_tools: StoredRun, tmp_path: Path
) -> None:
    rows = hf_rows(export_run(with_tools, "hf", tmp_path))
    for row, played in zip(rows, with_tools.records, strict=True):
        called = [call for one in row["messages"] for call in one["tool_calls"] or ()]
        assert [call["function"]["arguments"] for call in called] == [
            call.arguments for each in played.steps for call in each.tool_calls
        ]
        results = [one["content"] for one in row["messages"] if one["role"] == "tool"]
        assert results == [each.observation for each in played.steps]
        prompt = [row["prompt_messages"][place] for place in row["turns"][1]["prompt"]]
        assert [one["content"] for one in prompt] == [
            one.content for one in played.prompt(played.steps[1])
        ]
        assert json.loads(row["tools"])[0]["function"]["name"] == "guess"


def config_name(folder: Path) -> str:
    head = yaml.safe_load((folder / "README.md").read_text(encoding="utf-8").split("---\n")[1])
    (config,) = head["configs"]
    assert head["dataset_info"]["config_name"] == config["config_name"]
    return str(config["config_name"])


def test_no_two_exports_share_a_folder_and_configuration(tmp_path: Path) -> None:
    first = saved(tmp_path / "runs/x", [record("a")], manifest(run_id="x"))
    other = saved(tmp_path / "runs/y", [record("a")], manifest(run_id="y"))
    for kind in ("hf", "atif"):
        folders = {export_run(StoredRun(run.path), kind, tmp_path) for run in (first, other)}
        assert {one.name for one in folders} == {f"{kind}-x", f"{kind}-y"}
    before = config_name(tmp_path / "hf-x")
    assert before.startswith("x-")
    with first.lock() as log:
        log.append(record("b"))
    assert config_name(export_run(StoredRun(first.path), "hf", tmp_path)) != before


def test_atif_has_each_call_once_and_the_tools() -> None:
    content = trajectory(one_reply_two_calls())
    acting = [one for one in content["steps"] if one["source"] == "agent"]
    assert [[call["tool_call_id"] for call in one["tool_calls"]] for one in acting] == [
        ["a"], ["b"], ["c"],
    ]  # fmt: skip
    results = [one["observation"]["results"][0]["source_call_id"] for one in acting]
    assert results == ["a", "b", "c"]
    (tool,) = content["agent"]["tool_definitions"]
    assert tool["function"] == {
        "name": "act", "description": "Acts.", "parameters": {"type": "object"},
    }  # fmt: skip


@pytest.mark.parametrize(
    "written", ['{"a": NaN}', '{"a": 1e999}', '{"a": "\\ud800"}', "[1]", '{"a":' * 3000, ""]
)
def test_arguments_that_cannot_be_written_again_are_kept_as_text(
    tmp_path: Path, written: str
) -> None:
    call = ToolCall(id="a", name="act", arguments=written)
    played = record(steps=[step(1, action=None, tool_calls=[call], calls=[ASKED])])
    run = StoredRun(saved(tmp_path / "run", [played]).path)
    for kind in ("eval", "hf", "atif"):
        export_run(run, kind, tmp_path)
    _, (sample,) = inspect_log(run, tmp_path)
    (said,) = sample["messages"][1]["tool_calls"]
    assert (said["arguments"], said["parse_error"]) == ({}, f"not a JSON object: {written}")
    acting = trajectory(played)["steps"][-1]
    assert acting["tool_calls"][0]["extra"] == {"unreadable_arguments": written}


def inspect_log(run: StoredRun, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    with zipfile.ZipFile(export_run(run, "eval", folder)) as archive:
        samples = [name for name in archive.namelist() if name.startswith("samples/")]
        return json.loads(archive.read("header.json")), [
            json.loads(archive.read(name)) for name in samples
        ]


def test_a_transcript_has_the_model_call_and_the_command_of_every_step(
    with_tools: StoredRun, tmp_path: Path
) -> None:
    _, samples = inspect_log(with_tools, tmp_path)
    for sample, played in zip(samples, with_tools.records, strict=True):
        first, *events = sample["events"]
        assert first["event"] == "sample_init"
        kinds = [event["event"] for event in events]
        ending = ["score"] if played.success else ["sample_limit", "score"]
        assert kinds == ["model", "tool"] * len(played.steps) + ending
        pool = sample["events_data"]["messages"]
        for asked, done, each in zip(events[::2], events[1::2], played.steps, strict=False):
            places = [place for start, end in asked["input_refs"] for place in range(start, end)]
            sent = [pool[place]["content"] for place in places]
            assert sent == [message.content for message in played.prompt(each)]
            (call,) = asked["output"]["choices"][0]["message"]["tool_calls"]
            assert (call["id"], call["arguments"]) == (done["id"], done["arguments"])
            assert done["arguments"] == json.loads(each.tool_calls[0].arguments)
            assert done["result"] == each.observation
            assert [tool["name"] for tool in asked["tools"]] == ["guess"]


def test_steps_without_a_model_or_an_action_are_in_the_transcript(tmp_path: Path) -> None:
    silent = step(2, action=None, how="missing", observation="What?")
    run = StoredRun(saved(tmp_path / "run", [record(steps=[step(1), silent])]).path)
    _, (sample,) = inspect_log(run, tmp_path)
    done, told = sample["events"][1:3]
    assert (done["event"], done["arguments"]) == ("tool", {"command": "go to shelf 1"})
    assert (told["event"], told["data"]) == ("info", "What?")


def test_a_logs_cost_is_that_of_the_results(tmp_path: Path) -> None:
    usage = Usage(prompt_tokens=10, completion_tokens=2, reasoning_tokens=1, cached_tokens=4)
    paid = Call(model="tiny-1", kind="complete", usage=usage, cost=0.5)
    free = Call(model="tiny-1", kind="complete", usage=usage)
    lost = Call(model="tiny-1", kind="complete", cost=0.25)  # paid, but not counted
    priced = record("a", steps=[step(1, calls=[paid, lost])])
    unpriced = record("b", steps=[step(1, calls=[paid, free])])
    for name, records in {"whole": [priced], "partly": [priced, unpriced]}.items():
        run = StoredRun(saved(tmp_path / name, records, manifest(run_id=name)).path)
        header, samples = inspect_log(run, tmp_path)
        (used,) = header["stats"]["model_usage"].values()
        spent = run.summary["spent"]
        assert header["eval"]["metadata"]["spent"] == spent
        assert used["total_tokens"] == spent["prompt_tokens"] + spent["completion_tokens"]
        assert used["reasoning_tokens"] == spent["reasoning_tokens"]
        assert used.get("total_cost") == (spent["cost"] if name == "whole" else None)
        assert samples[0]["model_usage"]["tiny-1"]["total_cost"] == 0.75
        assert samples[0]["events"][1]["output"]["usage"]["output_tokens"] == 2


def test_every_format_has_the_episodes_in_the_order_of_the_run(tmp_path: Path) -> None:
    """Trial by trial, tasks as the manifest lists them; not as they finished, nor by name."""
    finished = [("b", 1), ("c", 0), ("b", 0), ("c", 1)]
    listed = manifest(task_ids=["c", "b"], trials=2, run_id="o")
    made = saved(tmp_path / "o", [record(task, trial=n) for task, n in finished], listed)
    run = StoredRun(made.path)
    run.save_results()
    expected = [("c", 0), ("b", 0), ("c", 1), ("b", 1)]
    assert [(one.task_id, one.trial) for one in run.records] == expected
    assert [(one["task_id"], one["trial"]) for one in run.to_rows()] == expected
    results = json.loads((made.path / "results.json").read_text(encoding="utf-8"))["results"]
    assert [(one["game_id"], one["trial"]) for one in results] == expected
    with export_run(run, "csv", tmp_path).open(encoding="utf-8", newline="") as file:
        assert [(row["task_id"], int(row["trial"])) for row in csv.DictReader(file)] == expected
    rows = hf_rows(export_run(run, "hf", tmp_path))
    assert [(row["task_id"], row["trial"]) for row in rows] == expected
    files = sorted(export_run(run, "atif", tmp_path).iterdir())
    extras = [json.loads(file.read_text(encoding="utf-8"))["extra"] for file in files]
    assert [(one["task_id"], one["trial"]) for one in extras] == expected
    _, samples = inspect_log(run, tmp_path)
    assert [(one["id"], one["epoch"] - 1) for one in samples] == expected
