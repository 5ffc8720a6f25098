"""The folder of a run: whole lines only, one writer, and the attempt that counts."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentquest.errors import DataError, UserError
from agentquest.files import write_atomically
from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import AgentFaults, End, is_scored
from agentquest.store.folder import (
    CONFIG,
    EPISODES,
    MANIFEST,
    RESULTS,
    RunFolder,
)
from agentquest.store.lines import cut_torn_line
from report_runs import manifest, record, saved


def a_record(key: str = "a#0", end: End = End.SOLVED) -> EpisodeRecord:
    return record(key.removesuffix("#0"), end)


def a_run(folder: Path, *records: EpisodeRecord) -> RunFolder:
    return saved(folder / "run", records)


def test_a_run_is_made_in_no_folder_of_something_else(tmp_path: Path) -> None:
    mine, away = tmp_path / "mine", tmp_path / "away"
    mine.mkdir()
    (mine / CONFIG).write_text("my: own")
    away.mkdir()
    (tmp_path / "link").symlink_to(away)
    for place in (mine, tmp_path / "link"):
        with pytest.raises(UserError, match=r"is not a run directory; use another run_name"):
            RunFolder(place).create("benchmark: x", manifest())
    assert (mine / CONFIG).read_text() == "my: own"
    assert list(away.iterdir()) == []
    (away / ".manifest.json.half").touch()  # as a process leaves it that was killed just then
    RunFolder(away).create("benchmark: x", manifest())
    assert RunFolder(away).exists


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 0.99])
def test_a_torn_last_line_is_passed_over_and_then_cut(tmp_path: Path, share: float) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"))
    file = run.path / EPISODES
    first, second = file.read_bytes().splitlines(keepends=True)
    torn = second[: int(len(second) * share)]
    file.write_bytes(first + torn)
    assert [record.key for record in run.records()] == ["a#0"]
    with run.lock() as log:
        assert file.read_bytes() == first
        log.append(a_record("b#0"))
    assert [record.key for record in run.records()] == ["a#0", "b#0"]


def test_a_line_that_lacks_only_its_end_is_torn_too(tmp_path: Path) -> None:
    run = a_run(tmp_path, a_record("a#0"))
    file = run.path / EPISODES
    file.write_bytes(file.read_bytes()[:-1])
    assert run.records() == []
    with run.lock():
        assert file.read_bytes() == b""


@settings(max_examples=50)
@given(st.binary(max_size=300))
def test_cutting_leaves_all_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    file = tmp_path_factory.mktemp("cut") / EPISODES
    file.write_bytes(content)
    whole = content[: content.rfind(b"\n") + 1]
    assert cut_torn_line(file) == len(content) - len(whole)
    assert file.read_bytes() == whole


ENDS = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(End)), max_size=8)


@settings(max_examples=50)
@given(ENDS)
def test_the_newest_score_counts_else_the_newest_attempt(
    tmp_path_factory: pytest.TempPathFactory, ends: list[tuple[str, End]]
) -> None:
    run = a_run(tmp_path_factory.mktemp("run"), *(a_record(f"{name}#0", end) for name, end in ends))
    found = {record.key: record for record in run.records()}
    assert len(found) == len({name for name, _ in ends})
    for key, newest in found.items():
        tries = [end for name, end in ends if f"{name}#0" == key]
        best = [end for end in tries if is_scored(end, AgentFaults.OWE)] or tries
        assert newest.end is best[-1]


def test_a_second_writer_is_refused_until_the_first_is_done(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    with run.lock(), pytest.raises(UserError, match="is in use by another process"):
        run.lock().__enter__()
    with run.lock():
        pass


def test_reading_needs_no_lock(tmp_path: Path) -> None:
    run = a_run(tmp_path, a_record())
    with run.lock():
        assert len(run.records()) == 1


def test_a_full_disk_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = a_run(tmp_path, a_record("a#0"))
    before = (run.path / EPISODES).read_bytes()
    write = os.write
    room = [100, 30]

    def nearly_full(number: int, data: memoryview) -> int:
        if not room:
            raise OSError(28, "No space left on device")
        return write(number, data[: room.pop(0)])

    with run.lock() as log:
        monkeypatch.setattr(os, "write", nearly_full)
        with pytest.raises(DataError, match=r"cannot write .*episodes\.jsonl: No space left"):
            log.append(a_record("b#0"))
        monkeypatch.undo()
        assert (run.path / EPISODES).read_bytes() == before
        log.append(a_record("c#0"))
    assert [record.key for record in run.records()] == ["a#0", "c#0"]


def test_a_write_in_pieces_is_still_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = a_run(tmp_path)
    write = os.write
    monkeypatch.setattr(os, "write", lambda number, data: write(number, data[:7]))
    with run.lock() as log:
        log.append(a_record())
    assert run.records() == [a_record()]


def test_drafts_that_a_killed_process_left_are_removed(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    draft = run.path / f".{RESULTS}.abc123"
    draft.write_text("{", encoding="utf-8")
    with run.lock():
        assert not draft.exists()


def test_a_file_is_replaced_at_once_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file.json"
    write_atomically(file, "old")

    def fails(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, "new")
    assert file.read_text(encoding="utf-8") == "old"
    monkeypatch.undo()
    write_atomically(file, "new ✓")
    assert file.read_text(encoding="utf-8") == "new ✓"


def test_a_folder_that_is_no_run_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"is not a run directory: it has no manifest\.json"):
        RunFolder(tmp_path).manifest()


@pytest.mark.parametrize("content", ["{", "[]", ""])
def test_a_damaged_manifest_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / MANIFEST).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"manifest\.json"):
        RunFolder(tmp_path).manifest()


def test_a_place_where_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match=r"cannot make .*file"):
        RunFolder(tmp_path / "file" / "run").create("", manifest())
