"""The index beside the records: quick, never wrong, and nobody's loss when it is gone."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentquest.metrics.row_index import RowIndex
from agentquest.metrics.table import Metric, built_in
from agentquest.records import episode_lines
from agentquest.records.episode import EpisodeRecord
from agentquest.records.index import INDEX
from agentquest.records.manifest import Verbs
from agentquest.records.outcome import End
from agentquest.records.run_directory import EPISODES, RunDirectory
from report_runs import manifest, record

TABLE = built_in(Verbs())


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    made = RunDirectory(tmp_path / "run")
    made.create("seed: 1\n", manifest())
    with made.locked() as log:
        log.append(*(record(name) for name in "abc"))
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which lines were read as records."""
    found: list[str] = []
    parse = episode_lines._parsed

    def counting(content: bytes, where: str) -> EpisodeRecord:
        found.append(where)
        return parse(content, where)

    monkeypatch.setattr(episode_lines, "_parsed", counting)
    return found


def keys(run: RunDirectory, thorough: bool = False) -> list[str]:
    index = RowIndex(run, TABLE, thorough=thorough)
    index.refresh()
    return [one.key for one in index.rows]


def test_records_are_read_once(run: RunDirectory, read: list[str]) -> None:
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert len(read) == 3
    with run.locked() as log:
        log.append(record("d"))
    assert keys(run, thorough=True) == ["a#0", "b#0", "c#0", "d#0"]
    assert len(read) == 4


def test_rows_from_the_index_are_the_rows_from_the_records(run: RunDirectory) -> None:
    first, second = RowIndex(run, TABLE), RowIndex(run, TABLE)
    first.refresh()
    second.refresh()
    again = RowIndex(run, TABLE)
    assert again.rows == first.rows == second.rows
    assert again.cost == first.cost
    assert [again.record(one) for one in again.rows] == run.records()


@pytest.mark.parametrize("cut", [1, 7, 200])
def test_a_torn_index_is_mended_by_who_writes(run: RunDirectory, read: list[str], cut: int) -> None:
    keys(run)
    file = run.path / INDEX
    file.write_bytes(file.read_bytes()[:-cut])
    writer = RowIndex(run, TABLE)
    writer.hold()
    writer.refresh()
    writer.release()
    read.clear()
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert read == []


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_changed_byte_never_changes_a_figure(run: RunDirectory, data: st.DataObject) -> None:
    index = RowIndex(run, TABLE)
    index.refresh()
    expected = [one.row for one in index.rows]
    file = run.path / INDEX
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    damaged = RowIndex(run, TABLE)
    damaged.refresh()
    assert [one.row for one in damaged.rows] == expected
    file.unlink()


def test_a_line_damaged_later_is_found_by_who_decides_what_is_owed(run: RunDirectory) -> None:
    keys(run)
    file = run.path / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"#0", b"#1")
    file.write_bytes(b"".join(lines))
    assert keys(run, thorough=True) == ["a#0", "c#0"]
    index = RowIndex(run, TABLE, thorough=True)
    assert index.damaged == [2]
    assert [one.key for one in index.rows] == ["a#0", "c#0"]


def test_another_file_of_episodes_makes_the_index_worthless(run: RunDirectory) -> None:
    keys(run)
    file = run.path / EPISODES
    file.unlink()
    with run.locked() as log:
        log.append(*(record(name, End.FAILED) for name in "xyz"), record("other"))
    assert keys(run) == ["x#0", "y#0", "z#0", "other#0"]


def test_readers_do_not_write_what_a_run_is_writing(run: RunDirectory) -> None:
    writer = RowIndex(run, TABLE)
    writer.hold()
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert (run.path / INDEX).read_bytes() == b""
    writer.refresh()
    writer.release()
    entries = (run.path / INDEX).read_text(encoding="utf-8").splitlines()[1:]
    assert [json.loads(entry[9:])["row"][0] for entry in entries] == ["a#0", "b#0", "c#0"]


def test_who_fell_behind_another_writer_leaves_the_index_alone(
    run: RunDirectory, read: list[str]
) -> None:
    viewer = RowIndex(run, TABLE)
    viewer.refresh()
    for name in "de":
        with run.locked() as log:
            log.append(record(name))
        keys(run)
    viewer.refresh()
    assert [one.key for one in viewer.rows] == ["a#0", "b#0", "c#0", "d#0", "e#0"]
    read.clear()
    assert len(keys(run)) == 5
    assert read == []


def test_what_the_user_measures_is_measured_anew(run: RunDirectory, read: list[str]) -> None:
    mine = Metric("mine", "mine", "", "", lambda record: 1.0, path="my_metrics:MINE")
    for _ in range(2):
        RowIndex(run, [*TABLE, mine]).refresh()
    assert len(read) == 6
