"""Runs for other tools, read by the tools themselves: pyarrow, datasets, Harbor's ATIF models."""

import csv
import json
import sys

import pytest
from adapter_scripts import SCRIPTS, run
from foreign import foreign_folder, foreign_python

from agentquest.api import evaluate
from agentquest.cli import main
from agentquest.records.episode import Call, EpisodeRecord, Failure, Step
from agentquest.records.messages import Message, ToolCall, Usage
from agentquest.records.outcome import End
from agentquest.reports.exports.atif import trajectory
from agentquest.store.folder import RunFolder
from agentquest.store.stored_run import StoredRun


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """Games won and lost, and one that infrastructure lost."""
    folder = tmp_path_factory.mktemp("runs")
    result = evaluate(
        benchmark="mastermind", agent="react", num_games=5, max_steps=6, trials=2, run_name="r",
        output_dir=folder, note="=1+1 for spreadsheets",
    )  # fmt: skip
    directory = RunFolder(result.path)
    lost = directory.records()[0].model_copy(
        update={
            "key": "extra#0",
            "task_id": "=extra",
            "scored": False,
            "success": False,
            "end": End.INFRASTRUCTURE_FAULT,
            "error": Failure(source="model", kind="ServerError", message="gone"),
            "facts": {"hints": "2"},
        }
    )
    with directory.lock() as log:
        log.append(lost)
    return RunFolder(result.path)


def exported(played, to, folder):
    with pytest.raises(SystemExit) as left:
        main(["export", str(played.path), "--to", to, "--output", str(folder)])
    assert left.value.code == 0


def test_csv_has_a_row_per_episode(played, tmp_path):
    exported(played, "csv", tmp_path)
    with (tmp_path / "episodes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    ours = {record.key: record for record in played.records()}
    assert len(rows) == len(ours) == 11
    for row in rows[:-1]:
        record = ours[f"{row['task_id']}#{row['trial']}"]
        assert row["success"] == str(record.success)
        assert float(row["reward"]) == record.reward
        assert int(row["steps"]) == len(record.steps)
        assert row["hints"] == "", "a fact of another episode"
    assert rows[-1]["task_id"] == "'=extra", "no formula"
    assert rows[-1]["hints"] == "2"
    assert [path.name for path in tmp_path.iterdir()] == ["episodes.csv"]


def datasets_reads(python, folder, name):
    """What pyarrow and datasets make of the exports in a folder; all share one cache."""
    arguments = [folder / "episodes.parquet", folder / f"hf-{name}"]
    said = run(
        [python, SCRIPTS / "exports_read.py", *arguments],
        HF_HOME=str(folder / "cache"), HF_HUB_OFFLINE="1",
    )  # fmt: skip
    return json.loads(said.splitlines()[-1])


def test_datasets_never_reads_another_run_from_its_cache(played, tmp_path):
    """Two runs into one folder, then the first one again with another episode."""
    python = foreign_python("tables")
    other = evaluate(
        benchmark="mastermind", agent="tools", num_games=2, max_steps=3, run_name="t",
        output_dir=tmp_path / "runs",
    )  # fmt: skip
    run([python, "-m", "agentquest", "export", played.path, "--to", "parquet", "-o", tmp_path])
    run_folder = RunFolder(other.path)
    for again in (False, True):
        if again:
            with run_folder.lock() as log:
                extra = run_folder.records()[0].model_copy(update={"key": "x#0", "task_id": "x"})
                log.append(extra)
        exported(played, "hf", tmp_path)
        exported(run_folder, "hf", tmp_path)
        for folder, name in ((played, "r"), (run_folder, "t")):
            rows = datasets_reads(python, tmp_path, name)["episodes"]
            ours = StoredRun(folder.path).records
            assert [row["task_id"] for row in rows] == [record.task_id for record in ours]
            called = [[turn["tool_calls"] for turn in row["turns"]] for row in rows]
            assert all(bool(call) == (name == "t") for calls in called for call in calls)


def test_pyarrow_and_datasets_read_what_was_written(played, tmp_path):
    python = foreign_python("tables")
    for kind in ("parquet", "hf"):
        run([python, "-m", "agentquest", "export", played.path, "--to", kind, "-o", tmp_path])
    read = datasets_reads(python, tmp_path, "r")
    ours = {(record.task_id, record.trial): record for record in played.records()}
    assert read["split"] == "test"
    assert read["parquet"]["success"] == "bool"
    assert read["parquet"]["cost"] == "double", "nobody knows it, and it is a figure"
    assert len(read["rows"]) == len(read["episodes"]) == len(ours)
    for row, episode in zip(read["rows"], read["episodes"], strict=True):
        record = ours[row["task_id"], row["trial"]]
        assert (row["success"], row["scored"]) == (record.success, record.scored)
        assert row["reward"] == record.reward
        assert row == {name: value for name, value in episode.items() if name in row}
        assert [turn["action"] for turn in episode["turns"]] == [s.action for s in record.steps]
        assert [turn["observation"] for turn in episode["turns"]] == [
            step.observation for step in record.steps
        ]
        last = episode["messages"][-1]
        assert (last["role"], last["content"]) == ("user", record.steps[-1].observation)


def test_parquet_without_pyarrow_is_one_line(played, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(SystemExit) as left:
        main(["export", str(played.path), "--to", "parquet", "--output", str(tmp_path)])
    assert left.value.code == 2
    assert "Parquet needs pyarrow: pip install " in capsys.readouterr().err


def harbor_reads(*files):
    path = foreign_folder("harbor==0.25.0")
    said = run([sys.executable, SCRIPTS / "atif_read.py", *files], PYTHONPATH=path)
    return [json.loads(line) for line in said.splitlines()]


def test_harbor_reads_our_trajectories(played, tmp_path):
    exported(played, "atif", tmp_path)
    files = sorted((tmp_path / "atif-r").iterdir())
    ours = {f"{record.run_id}/{record.key}": record for record in played.records()}
    assert len(files) == len(ours)
    for read in harbor_reads(*files):
        record = ours.pop(read["id"])
        assert read["actions"] == [step.action for step in record.steps]
        assert read["seen"] == [step.observation for step in record.steps]
        assert read["success"] == record.success
        assert read["prompt_tokens"] is None, "the scripted model counts none"
    assert not ours


def asking(played) -> EpisodeRecord:
    """An episode with tool calls, thoughts, tokens, and arguments that are no JSON."""
    usage = Usage(prompt_tokens=10, completion_tokens=2, cached_tokens=4)
    call = Call(model="m", kind="complete", usage=usage, cost=0.25)
    step = Step(
        index=0, prompt=[0], reply="", reasoning="hm", action="look", how="tool_call", valid=True,
        observation="dark", calls=[call, call],
        tool_calls=[ToolCall(id="a", name="act", arguments='{"command": "look"}')],
    )  # fmt: skip
    torn = step.model_copy(
        update={"tool_calls": [ToolCall(id="b", name="act", arguments='{"comm')], "action": None}
    )
    still = step.model_copy(update={"tool_calls": [], "calls": []})
    messages = [Message(role="system", content="Play.")]
    return played.records()[0].model_copy(
        update={"steps": [step, torn, still], "messages": messages}
    )


def test_tool_calls_thoughts_and_tokens_are_kept(played, tmp_path):
    content = trajectory(asking(played))
    file = tmp_path / "one.json"
    file.write_text(json.dumps(content))
    (read,) = harbor_reads(file)
    assert read["prompt_tokens"] == 40
    assert read["tool_calls"] == [1, 1, 0]
    system, _, first, torn, still = content["steps"]
    assert system == {"step_id": 1, "source": "system", "message": "Play."}
    assert first["tool_calls"][0]["arguments"] == {"command": "look"}
    assert first["observation"]["results"] == [{"content": "dark", "source_call_id": "a"}]
    assert first["reasoning_content"] == "hm"
    assert first["metrics"] == {
        "prompt_tokens": 20, "completion_tokens": 4, "cached_tokens": 8, "cost_usd": 0.5,
    }  # fmt: skip
    assert torn["tool_calls"][0]["extra"] == {"unreadable_arguments": '{"comm'}
    assert "reasoning_content" not in still
    assert "metrics" not in still
