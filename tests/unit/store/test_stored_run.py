"""A run as everybody reads it: one order, one attempt that counts, and never another run's rows."""

import json
import shutil
from pathlib import Path

import pytest

from agentquest.errors import DataError, UserError
from agentquest.metrics.table import metrics_table
from agentquest.records.outcome import End
from agentquest.reports.exports import export_run
from agentquest.store.folder import EPISODES, METRICS
from agentquest.store.index import INDEX
from agentquest.store.stored_run import StoredRun
from report_runs import manifest, record, saved

PLAYED = [("a", 1), ("b", 0), ("other", 3), ("a", 0), ("b", 1)]
ORDER = ["b#0", "a#0", "b#1", "a#1", "other#3"]


@pytest.fixture
def run(tmp_path: Path) -> StoredRun:
    """Two trials of two tasks, and a game that the manifest does not list."""
    content = manifest(task_ids=["b", "a"], trials=2)
    records = [record(task, trial=trial) for task, trial in PLAYED]
    return StoredRun(saved(tmp_path / "run", records, content).path)


def test_everything_has_the_order_of_the_run(run: StoredRun, tmp_path: Path) -> None:
    assert [row.key for row in run.rows] == ORDER
    assert [one.key for one in run.records] == ORDER
    assert [f"{row['task_id']}#{row['trial']}" for row in run.to_rows()] == ORDER
    lines = export_run(run, "csv", tmp_path).read_text(encoding="utf-8").splitlines()
    columns = lines[0].split(",")
    task, trial = columns.index("task_id"), columns.index("trial")
    cells = [line.split(",") for line in lines[1:]]
    assert [f"{row[task]}#{row[trial]}" for row in cells] == ORDER


def test_rows_given_out_are_the_callers_own(run: StoredRun) -> None:
    run.rows.clear()
    assert [row.key for row in run.rows] == ORDER


def test_records_are_a_sequence_read_on_demand(run: StoredRun) -> None:
    assert len(run.records) == 5
    assert [one.key for one in run.records[1:3]] == ORDER[1:3]
    assert run.records[-1].key == "other#3"
    assert run.records == [run.record(key) for key in ORDER]
    assert run.records != [run.record(key) for key in ORDER[:-1]]
    assert run.record("a#1") == record("a", trial=1)
    with pytest.raises(UserError, match="run has no episode 'c#0'"):
        run.record("c#0")
    assert run.span("a#1").size > 500
    assert run.span("a#1") != run.span("a#0")


def test_what_is_pending_has_no_score_yet(tmp_path: Path) -> None:
    records = [record("a"), record("b", End.INFRASTRUCTURE_FAULT)]
    run = StoredRun(saved(tmp_path / "run", records, manifest(task_ids=["a", "b", "c"])).path)
    assert (run.pending, run.complete, run.state) == (2, False, "stopped")
    with run.folder.lock() as log:
        assert run.state == "running"
        log.append(record("b", End.FAILED), record("c", End.AGENT_FAULT))
    assert run.pending == 2, "nothing is read until it is asked for"
    run.refresh()
    assert (run.pending, run.complete) == (1, False)
    with run.folder.lock() as log:
        log.append(record("c"))
    run.refresh()
    assert (run.pending, run.complete, run.state) == (0, True, "complete")
    assert repr(run).endswith("run: 2 of 3 episodes solved>")


def test_a_writer_leaves_rows_and_figures_behind(tmp_path: Path) -> None:
    folder = saved(tmp_path / "run", [record("a")], manifest(task_ids=["a", "b"]))
    run = StoredRun(folder.path, table=metrics_table(folder.manifest()), verify=True)
    with run.open_for_writing() as log:
        with pytest.raises(UserError, match="in use by another process"):
            folder.lock().__enter__()
        log.append(record("b", End.STEP_LIMIT))
        assert [row.key for row in run.rows] == ["a#0", "b#0"]
    reader = StoredRun(folder.path)
    assert [row.key for row in reader.rows] == ["a#0", "b#0"]
    lines = (folder.path / INDEX).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[-1])["figures"]["scored"] == 2


def test_a_writer_sees_what_another_process_played_before_it_had_the_lock(tmp_path: Path) -> None:
    folder = saved(tmp_path / "run", [record("a")])
    run = StoredRun(folder.path)
    assert len(run.rows) == 1
    with folder.lock() as log:
        log.append(record("b"))
    with run.open_for_writing() as writer:
        assert len(run.rows) == 2
        writer.append(record("c"))
    assert [one.key for one in run.records] == ["a#0", "b#0", "c#0"]


@pytest.mark.parametrize("same_length", [False, True])
def test_another_run_of_the_same_name_is_that_run_at_once(
    tmp_path: Path, same_length: bool
) -> None:
    path = tmp_path / "run"
    saved(path, [record("a"), record("b")], manifest(task_ids=["a", "b"]))
    run = StoredRun(path)
    assert run.report.overall.group.successes == 2
    shutil.rmtree(path)
    names = "ab" if same_length else "abcde"
    ends = [record(name, End.STEP_LIMIT) for name in names]
    saved(path, ends, manifest(task_ids=list(names), note="another"))
    run.refresh()
    assert run.manifest.note == "another"
    assert run.report.overall.group.successes == 0
    assert [one.end for one in run.records] == [End.STEP_LIMIT] * len(names)
    assert StoredRun(path).report.overall.group.successes == 0


def test_a_file_of_episodes_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    run = StoredRun(saved(tmp_path / "run", [record("a"), record("b")]).path)
    assert len(run.rows) == 2
    (run.path / EPISODES).unlink()
    with run.folder.lock() as log:
        log.append(record("c", End.FAILED), record("d", End.FAILED), record("e", End.FAILED))
    run.refresh()
    assert [row.key for row in run.rows] == ["c#0", "d#0", "e#0"]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_deleted_by_hand_is_noticed(tmp_path: Path, place: int) -> None:
    """All lines have one length, so that places in the file still look right."""
    run = StoredRun(saved(tmp_path / "run", [record(name) for name in "abcd"]).path)
    assert len(run.rows) == 4
    file = run.path / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    assert len({len(line) for line in lines}) == 1
    del lines[place]
    draft = file.with_name("draft")
    draft.write_bytes(b"".join(lines))
    draft.replace(file)
    remaining = [f"{name}#0" for number, name in enumerate("abcd") if number != place]
    for reader in (StoredRun(run.path), StoredRun(run.path, verify=True)):
        assert [row.key for row in reader.rows] == remaining
        assert [one.key for one in reader.records] == remaining
    run.refresh()
    assert [row.key for row in run.rows] == remaining


def test_a_record_of_before_is_not_read_from_another_file(tmp_path: Path) -> None:
    run = StoredRun(saved(tmp_path / "run", [record("a")]).path)
    assert len(run.rows) == 1
    shutil.rmtree(run.path)
    saved(run.path, [record("b")])
    with pytest.raises(DataError, match="no complete record"):
        run.record("a#0")


def test_own_metrics_are_read_from_their_file_and_from_no_index(tmp_path: Path) -> None:
    content = manifest(metrics=["report_runs:WORDS"])
    folder = saved(
        tmp_path / "run", [record("a", goal="look"), record("b", goal="go now")], content
    )
    assert "words" not in StoredRun(folder.path).to_rows()[0]
    StoredRun(folder.path, table=metrics_table(content)).save_results()
    run = StoredRun(folder.path)
    assert [row["words"] for row in run.to_rows()] == [4.0, 6.0]
    # The rows come from the index now, the values still from their own file.
    stored = folder.measured()
    changed = stored.metrics[0].model_copy(update={"values": {"a#0": 1.0}, "failed": {"b#0": "no"}})
    folder.write_measured(stored.model_copy(update={"metrics": [changed]}))
    run.refresh()
    assert [row["words"] for row in run.to_rows()] == [1.0, None]
    assert run.rows[1].failed == {"words": "no"}
    (folder.path / METRICS).unlink()
    run.refresh()
    assert "words" not in run.to_rows()[0]


def test_leftovers_of_other_versions_are_no_matter(tmp_path: Path) -> None:
    run = StoredRun(saved(tmp_path / "run", [record("a")]).path)
    expected = run.to_rows()
    for name in ("results.parts", "glance.json", ".glance.json.x"):
        (run.path / name).write_bytes(b'{"of": "long ago"}')
    (run.path / INDEX).write_bytes(b'{"rows": 3}\n00000000 {"at": 0}\n')
    again = StoredRun(run.path)
    assert again.to_rows() == expected
    assert StoredRun(run.path).to_rows() == expected


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is not a run directory"):
        StoredRun(tmp_path)
