"""The index beside the records: quick, never wrong, and nobody's loss when it is gone."""

import copy
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentquest.metrics.summary import summarise
from agentquest.metrics.table import Metric, built_in
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.store import lines as episode_lines
from agentquest.store.folder import EPISODES, RunFolder
from agentquest.store.index import INDEX, RowIndex
from agentquest.store.lines import read_record, seal, unseal
from report_runs import manifest, record

TABLE = built_in(manifest())


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    made = RunFolder(tmp_path / "run")
    made.create("seed: 1\n", manifest())
    with made.lock() as log:
        log.append(*(record(name) for name in "abc"))
    return made


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which lines were read as records."""
    found: list[str] = []
    parse = episode_lines._parse

    def counting(content: bytes, where: str) -> EpisodeRecord:
        found.append(where)
        return parse(content, where)

    monkeypatch.setattr(episode_lines, "_parse", counting)
    return found


def keys(run: RunFolder, verify: bool = False) -> list[str]:
    index = RowIndex(run.path, TABLE, verify=verify)
    index.refresh()
    return [one.key for one in index.rows]


def entries(run: RunFolder) -> list[str]:
    """The keys of the rows in the file, line by line."""
    _, *lines = (run.path / INDEX).read_text(encoding="utf-8").splitlines()
    return [entry["row"]["key"] for line in lines if "row" in (entry := json.loads(line))]


def test_records_are_read_once(run: RunFolder, read: list[str]) -> None:
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert len(read) == 3
    with run.lock() as log:
        log.append(record("d"))
    assert keys(run, verify=True) == ["a#0", "b#0", "c#0", "d#0"]
    assert len(read) == 4


def test_rows_from_the_index_are_the_rows_from_the_records(run: RunFolder) -> None:
    first, second = RowIndex(run.path, TABLE), RowIndex(run.path, TABLE)
    first.refresh()
    second.refresh()
    again = RowIndex(run.path, TABLE)
    assert again.rows == first.rows == second.rows
    assert again.replaced == first.replaced
    spans = [again.find(row.key) for row in again.rows]
    assert [read_record(run.path / EPISODES, span) for span in spans if span] == run.records()


@pytest.mark.parametrize("cut", [1, 7, 200])
def test_a_torn_index_is_mended_by_who_writes(run: RunFolder, read: list[str], cut: int) -> None:
    keys(run)
    file = run.path / INDEX
    file.write_bytes(file.read_bytes()[:-cut])
    writer = RowIndex(run.path, TABLE)
    writer.hold()
    writer.refresh()
    writer.release()
    read.clear()
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert read == []


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_a_changed_byte_never_changes_a_figure(run: RunFolder, data: st.DataObject) -> None:
    index = RowIndex(run.path, TABLE)
    index.refresh()
    expected = index.rows
    file = run.path / INDEX
    content = bytearray(file.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    file.write_bytes(content)
    damaged = RowIndex(run.path, TABLE)
    damaged.refresh()
    assert damaged.rows == expected
    file.unlink()


def test_an_index_that_somebody_made_is_believed_only_where_it_can_be(run: RunFolder) -> None:
    keys(run)
    file = run.path / INDEX
    head, line, *rest = file.read_bytes().splitlines(keepends=True)
    honest = json.loads(unseal(line) or b"")
    wrong = [None, "x", ["x"], {"x": ["x"]}, True, -1, 0.5, 1e308, 10**400, "NaN", "////"]
    for place in places_in(honest):
        for value in wrong:
            forged = copy.deepcopy(honest)
            *before, last = place
            inner = forged
            for name in before:
                inner = inner[name]
            inner[last] = value
            file.write_bytes(b"".join([head, seal(json.dumps(forged).encode()), *rest]))
            index = RowIndex(run.path, TABLE)
            index.refresh()
            summary = summarise(index.rows, TABLE)
            assert summary.overall.episodes in (3, 4), (place, value)
            json.dumps(asdict(summary.pace), allow_nan=False)


def test_no_more_is_verified_than_the_file_has(run: RunFolder) -> None:
    keys(run)
    file = run.path / INDEX
    head, line, *rest = file.read_bytes().splitlines(keepends=True)
    forged = {**json.loads(unseal(line) or b""), "next": 10**15}
    file.write_bytes(b"".join([head, seal(json.dumps(forged).encode()), *rest]))
    assert keys(run, verify=True) == ["a#0", "b#0", "c#0"]


def places_in(content: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where each value of a JSON document is."""
    inside = content.items() if isinstance(content, dict) else enumerate(content)
    for name, value in inside:
        yield (*before, name)
        if isinstance(value, dict | list):
            yield from places_in(value, (*before, name))


def test_a_line_damaged_later_is_found_by_who_decides_what_is_owed(run: RunFolder) -> None:
    keys(run)
    file = run.path / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1].replace(b"#0", b"#1")
    file.write_bytes(b"".join(lines))
    assert keys(run, verify=True) == ["a#0", "c#0"]
    index = RowIndex(run.path, TABLE, verify=True)
    index.refresh()
    assert "skipped 1 damaged line (2);" in index.damage
    assert [one.key for one in index.rows] == ["a#0", "c#0"]


def test_a_line_that_was_restored_is_not_owed(run: RunFolder) -> None:
    file = run.path / EPISODES
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"b#0", b"b#1"))
    assert keys(run) == ["a#0", "c#0"]
    file.write_bytes(whole)
    assert keys(run, verify=True) == ["a#0", "b#0", "c#0"]
    assert RowIndex(run.path, TABLE).damage == ""


def test_another_file_of_episodes_makes_the_index_worthless(run: RunFolder) -> None:
    keys(run)
    file = run.path / EPISODES
    file.unlink()
    with run.lock() as log:
        log.append(*(record(name, End.FAILED) for name in "xyz"), record("other"))
    assert keys(run) == ["x#0", "y#0", "z#0", "other#0"]


def test_readers_do_not_write_what_a_run_is_writing(run: RunFolder) -> None:
    writer = RowIndex(run.path, TABLE)
    writer.hold()
    assert keys(run) == ["a#0", "b#0", "c#0"]
    assert (run.path / INDEX).read_bytes() == b""
    writer.refresh()
    writer.release()
    assert entries(run) == ["a#0", "b#0", "c#0"]


def test_who_fell_behind_another_writer_leaves_the_index_alone(
    run: RunFolder, read: list[str]
) -> None:
    viewer = RowIndex(run.path, TABLE)
    viewer.refresh()
    for name in "de":
        with run.lock() as log:
            log.append(record(name))
        keys(run)
    viewer.refresh()
    assert [one.key for one in viewer.rows] == ["a#0", "b#0", "c#0", "d#0", "e#0"]
    assert entries(run) == ["a#0", "b#0", "c#0", "d#0", "e#0"]
    read.clear()
    assert len(keys(run)) == 5
    assert read == []


def test_what_the_user_measures_is_measured_anew(run: RunFolder, read: list[str]) -> None:
    mine = Metric("mine", "mine", "", "", lambda record: 1.0, path="my_metrics:MINE")
    for _ in range(2):
        RowIndex(run.path, [*TABLE, mine]).refresh()
    assert len(read) == 6


@pytest.mark.parametrize("place", [1, 2, 3])
def test_a_line_missing_from_the_index_hides_no_episode(run: RunFolder, place: int) -> None:
    keys(run)
    file = run.path / INDEX
    lines = file.read_bytes().splitlines(keepends=True)
    del lines[place]
    file.write_bytes(b"".join(lines))
    assert keys(run) == ["a#0", "b#0", "c#0"]
