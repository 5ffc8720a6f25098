"""Sinks against the real packages, offline: what each of them then has of the run."""

import json

from adapter_scripts import SCRIPTS, run
from foreign import foreign_python

from agentquest.store.folder import RunFolder


def evaluated(python, folder, sink, *more, **environment):
    command = [python, "-m", "agentquest", "eval", "benchmark=mastermind", "agent=scripted"]
    command += [f"output_dir={folder}", f"sinks={sink}", "run_name=r", "tags=[a, b]", *more]
    run(command, **environment)
    return RunFolder(folder / "r")


def test_opentelemetry_gets_a_trace_per_episode(tmp_path):
    python = foreign_python("otel")
    spans = json.loads(run([python, SCRIPTS / "sink_otel.py", tmp_path]).splitlines()[-1])
    records = RunFolder(next(tmp_path.iterdir())).records()
    episodes = {s["attributes"]["agentquest.task"]: s for s in spans if not s["parent"]}
    assert set(episodes) == {record.task_id for record in records}
    for record in records:
        root = episodes[record.task_id]
        assert root["name"] == "invoke_agent react"
        assert root["attributes"]["agentquest.success"] == record.success
        steps = [span for span in spans if span["parent"] == root["id"]]
        actions = [span["attributes"]["agentquest.action"] for span in steps]
        assert actions == [step.action for step in record.steps]
        calls = [s for s in spans if s["parent"] in {step["id"] for step in steps}]
        assert {span["name"] for span in calls} == {"chat scripted"}
        assert len(calls) == len(record.calls)
        for span in (*steps, *calls):
            assert span["trace"] == root["trace"]
            assert root["from"] <= span["from"] <= span["to"] <= root["to"]


def test_weights_and_biases_offline(tmp_path):
    python = foreign_python("wandb")
    played = evaluated(
        python, tmp_path, "wandb", "num_games=3", "note=a try",
        WANDB_MODE="offline", WANDB_CACHE_DIR=str(tmp_path / "cache"), WANDB_PROJECT="games",
    )  # fmt: skip
    (file,) = played.path.glob("wandb/offline-run-*/*.wandb")
    said = json.loads(run([python, SCRIPTS / "sink_wandb.py", file]).splitlines()[-1])
    assert said["run"] == {"name": "r", "tags": ["a", "b"], "notes": "a try", "project": "games"}
    tasks = {json.loads(row["episode/task"]) for row in said["history"]}
    assert tasks == {record.task_id for record in played.records()}
    won = [json.loads(row["episode/success"]) for row in said["history"]]
    assert sum(won) == sum(record.success for record in played.records())
    assert json.loads(said["summary"]["total_games"]) == 3
    assert json.loads(said["summary"]["success"]) == sum(won) / 3
    assert json.loads(said["config"]["benchmark"]) == "mastermind"


def test_mlflow_in_a_folder_and_a_resumed_run_goes_on(tmp_path):
    python = foreign_python("mlflow")
    place = (tmp_path / "mlruns").as_uri()
    allowed = {"MLFLOW_TRACKING_URI": place, "MLFLOW_ALLOW_FILE_STORE": "true"}
    played = evaluated(python, tmp_path, "mlflow", "num_games=3", **allowed)
    said = json.loads(run([python, SCRIPTS / "sink_mlflow.py", place], **allowed).splitlines()[-1])
    records = played.records()
    (ours,) = said
    assert ours["name"] == "r"
    assert ours["status"] == "FINISHED"
    assert ours["params"]["benchmark"] == "mastermind"
    assert ours["tags"]["agentquest.tag.a"] == "true"
    assert ours["metrics"]["total_games"] == 3
    assert sorted(ours["told"]) == sorted(float(len(record.steps)) for record in records)
    episodes = played.path / "episodes.jsonl"
    lines = episodes.read_text(encoding="utf-8").splitlines(keepends=True)
    episodes.write_text("".join(lines[:-1]), encoding="utf-8")
    evaluated(python, tmp_path, "mlflow", "num_games=3", **allowed)
    said = json.loads(run([python, SCRIPTS / "sink_mlflow.py", place], **allowed).splitlines()[-1])
    assert len(said) == 1, "the same run there"
    assert len(said[0]["told"]) == 4
    assert said[0]["status"] == "FINISHED"
