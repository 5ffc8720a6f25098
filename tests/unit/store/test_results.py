"""`results.json` has the documented keys, in their order, with their types."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentquest.errors import DataError
from agentquest.metrics.table import metrics_table
from agentquest.records.episode import EpisodeRecord, Failure
from agentquest.records.manifest import Manifest
from agentquest.records.outcome import End
from agentquest.store.folder import EPISODES, RESULTS
from agentquest.store.stored_run import StoredRun
from documented_results import DOCUMENTED, require_shape
from report_runs import hostile, hostile_manifest, manifest, play, record, saved, step


@pytest.fixture
def results_of(tmp_path: Path) -> Any:
    """results.json of a run with these records, as its file says."""

    def write(content: Manifest, records: Sequence[EpisodeRecord]) -> dict[str, Any]:
        folder = saved(tmp_path / "run", records, content)
        StoredRun(folder.path, table=metrics_table(content)).save_results()
        document: dict[str, Any] = json.loads((folder.path / RESULTS).read_text(encoding="utf-8"))
        return document

    return write


def test_a_played_run_has_the_documented_shape(results_of: Any) -> None:
    records = play("muddled", failing=(2,))
    content = manifest()
    document = results_of(manifest(config={**content.config, "num_games": 6}), records)
    require_shape(document, DOCUMENTED)
    require_shape(document["unscored_results"], DOCUMENTED["results"])
    assert document["config"]["task_types"] == [1, 2, 3, 4, 5, 6]
    assert {one["task_type"] for one in document["results"]} <= set(range(1, 7))
    for one in document["results"]:
        assert one["steps"] == len(one["actions"]) == len(one["observations"])


def test_summary_counts_scored_games_only(results_of: Any) -> None:
    late = Failure(source="agent", kind="timeout", message="late")
    records = [
        record("a", End.SOLVED, 4),
        record("b", End.STEP_LIMIT, 10),
        record("c", End.AGENT_FAULT, 3, error=late),
    ]
    document = results_of(manifest(task_ids=["a", "b", "c", "d"]), records)
    summary = document["summary"]
    assert (summary["total_games"], summary["successes"]) == (2, 1)
    assert (summary["success_rate"], summary["avg_steps"]) == (0.5, 7.0)
    assert (summary["avg_steps_success"], summary["requested"], summary["unscored"]) == (4.0, 4, 1)
    assert summary["interval"] == [0.0, 1.0]  # two tasks leave everything open
    assert summary["metrics"]["steps"]["n"] == 2
    assert [one["game_id"] for one in document["results"]] == ["a", "b"]
    lost = document["unscored_results"][0]
    assert (lost["game_id"], lost["end"], lost["error"]["message"]) == ("c", "agent_fault", "late")
    assert document["warnings"][0].startswith("Episodes without a score: 1 of 4")


def test_trials_are_requested_for_every_task(results_of: Any) -> None:
    content = manifest(task_ids=["a", "b"], trials=3)
    assert results_of(content, [record("a")])["summary"]["requested"] == 6


def test_actions_are_what_the_agent_asked_for(results_of: Any) -> None:
    steps = [
        step(1, action="fly away", valid=False),
        step(2, action=None, reply="Hm.\nWell", valid=False),
    ]
    result = results_of(manifest(), [record("a", End.FAILED, steps)])["results"][0]
    assert result["actions"] == ["fly away", "invalid:hm. well"]


def test_what_is_not_numbered_is_named_and_what_was_not_decided_is_null(results_of: Any) -> None:
    content = manifest(model=None, task_types=["another"], config={})
    document = results_of(content, [record("a", model=None)])
    assert document["results"][0]["task_type"] == "pick_and_place_simple"
    assert document["config"]["task_types"] == [1]
    assert document["played"]["task_types"] == ["pick_and_place_simple"]
    assert document["config"]["seed"] is document["config"]["temperature"] is None
    assert document["model"] == "talking"


def test_the_configuration_is_as_configured_and_what_was_played_stands_apart(
    results_of: Any,
) -> None:
    types = manifest().task_types
    content = manifest(
        chosen_types=[types[0], types[3]], task_ids=["a", "b"], config={"num_games": None}
    )
    document = results_of(content, [record("a", task_type=types[3])])
    config = document["config"]
    assert (config["num_games"], config["task_types"]) == (None, [1, 4])
    assert document["played"] == {"num_games": 2, "task_types": [4]}


def test_a_game_file_can_be_opened(results_of: Any) -> None:
    """A problem that is a folder is listed with its file."""
    records = [record("a", problem="/d/trial", game_file="/d/trial/game"), record("b", problem="7")]
    found = [one["game_file"] for one in results_of(manifest(), records)["results"]]
    assert found == ["/d/trial/game", "7"]


def test_the_rules_of_the_run_are_in_it(results_of: Any) -> None:
    document = results_of(manifest(informed=True, protocol="unseen-134"), [])
    assert (document["informed"], document["agent_faults"]) == (True, "owe")
    assert document["protocol"] == "unseen-134"


def test_metrics_stand_in_the_summary_and_in_every_result(results_of: Any) -> None:
    content = manifest(metrics=["report_runs:WORDS"])
    document = results_of(content, [record("a", goal="look"), record("b", goal="go now")])
    assert document["summary"]["metrics"]["words"]["value"] == 5.0
    assert [one["metrics"]["words"] for one in document["results"]] == [4.0, 6.0]


def test_nothing_played_is_no_figure(results_of: Any) -> None:
    summary = results_of(manifest(), [])["summary"]
    assert summary["total_games"] == 0
    assert summary["success_rate"] is summary["avg_steps"] is summary["interval"] is None


def test_hostile_records_are_still_json(results_of: Any) -> None:
    records = hostile()
    document = results_of(hostile_manifest(), records)
    entries = [*document["results"], *document["unscored_results"]]
    assert {one["goal"] for one in entries} == {record.goal for record in records}


def test_a_failed_replacement_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    run = StoredRun(saved(tmp_path / "run", [record("a"), record("b")]).path)
    run.save_results()
    file = run.path / EPISODES
    file.write_bytes(file.read_bytes().replace(b'"b"', b'"c"'))
    before = {path.name: path.read_bytes() for path in run.path.iterdir()}
    with pytest.raises(DataError, match="no complete record"):
        run.save_results()
    assert {path.name: path.read_bytes() for path in run.path.iterdir()} == before


def test_episodes_are_in_the_order_of_the_run(results_of: Any) -> None:
    content = manifest(task_ids=["b", "a"], trials=2)
    played = [("a", 1), ("a", 0), ("other", 0), ("b", 1), ("b", 0)]
    document = results_of(content, [record(task, trial=trial) for task, trial in played])
    found = [(one["game_id"], one["trial"]) for one in document["results"]]
    assert found == [("b", 0), ("a", 0), ("b", 1), ("a", 1), ("other", 0)]


def test_while_a_run_goes_on_its_results_have_counts_but_no_intervals(tmp_path: Path) -> None:
    content = manifest(task_ids=["a", "b", "c"])
    folder = saved(tmp_path / "run", [record("a", End.SOLVED, 4)], content)
    run = StoredRun(folder.path, table=metrics_table(content))
    found = {}
    for running in (True, False):
        run.save_results(running)
        found[running] = json.loads((folder.path / RESULTS).read_text())["summary"]
    assert (found[True]["total_games"], found[True]["successes"]) == (1, 1)
    assert found[True]["interval"] is None
    assert {one["low"] for one in found[True]["metrics"].values() if one} == {None}
    assert found[False]["interval"] == [0.0, 1.0]
    with folder.lock():  # somebody who looks on is told the same
        assert run.state == "running"
        assert run.summary == found[True]
    assert run.summary == found[False]


@pytest.mark.parametrize("packed", [False, True])
def test_results_are_at_most_twice_as_large_as_the_records(tmp_path: Path, packed: bool) -> None:
    """Of text that repeats itself, packed records need a hundredth."""
    content = manifest(task_ids=[f"t{number}" for number in range(40)])
    folder = saved(tmp_path / "run", [], content)
    board = [step(place, observation="| . . . " * 400) for place in range(1, 21)]
    played = [record(task).model_copy(update={"steps": board}) for task in content.task_ids]
    with folder.lock(packed) as log:
        log.append(*played)
    StoredRun(folder.path, table=metrics_table(content)).save_results()
    text = (folder.path / RESULTS).read_text()
    results = json.loads(text)["results"]
    assert len(text) < max(1 << 20, 2 * (folder.path / EPISODES).stat().st_size)
    assert [one["observations"] for one in results] == [
        None if packed else [one.observation for one in board]
    ] * 40
    assert [one["game_id"] for one in results] == content.task_ids
