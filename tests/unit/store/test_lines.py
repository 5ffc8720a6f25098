"""Sealed lines: every line once, none torn or damaged unnoticed, and synced to disk."""

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agentquest.errors import DataError
from agentquest.records.episode import SCHEMA_VERSION, EpisodeRecord
from agentquest.records.messages import Message, ToolCall
from agentquest.store.folder import EPISODES, RunFolder
from agentquest.store.lines import EpisodeReader, Span, has_lines, read_record, seal, unseal
from agentquest.store.stored_run import StoredRun
from report_runs import record as make_record
from report_runs import saved

SECTOR = 512


def a_record(key: str = "a#0") -> EpisodeRecord:
    return make_record(key.removesuffix("#0"))


def a_run(folder: Path, *records: EpisodeRecord) -> RunFolder:
    return saved(folder / "run", records)


def line_of(record: EpisodeRecord, packed: bool = False) -> bytes:
    return seal(record.model_dump_json().encode(), packed)


def line(key: str) -> bytes:
    return line_of(a_record(key))


def keys(reader: EpisodeReader) -> list[str]:
    return [record.key for _, record in reader.read_new()]


def test_each_line_is_given_once_when_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    reader = EpisodeReader(file)
    assert keys(reader) == []
    first, second = line("a#0"), line("b#0")
    file.write_bytes(first + second[:50])
    assert keys(reader) == ["a#0"]
    assert keys(reader) == []
    with file.open("ab") as growing:
        growing.write(second[50:])
    assert keys(reader) == ["b#0"]


def test_a_line_torn_and_cut_off_in_between_is_no_matter(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(line("a#0") + b'{"half')
    reader = EpisodeReader(file)
    assert keys(reader) == ["a#0"]
    file.write_bytes(line("a#0") + line("b#0"))
    assert keys(reader) == ["b#0"]


def test_a_damaged_line_is_passed_over_and_told_of(tmp_path: Path) -> None:
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(line("a#0"))
    reader = EpisodeReader(file)
    keys(reader)
    with file.open("ab") as growing:
        growing.write(line("b#0") + b"nonsense\n")
    assert keys(reader) == ["b#0"]
    assert reader.damaged == [3]


@pytest.mark.parametrize("damage", [b"not json\n", b"{}\n", b"\n", b'{"a": "\xff"}\n', b"\0" * 512])
def test_a_damaged_line_costs_its_own_episode_and_is_told_of(tmp_path: Path, damage: bytes) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"), a_record("c#0"))
    file = run.path / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + damage.rstrip(b"\n") + b"\n" + lines[2])
    assert [record.key for record in run.records()] == ["a#0", "c#0"]
    assert "episodes.jsonl: skipped 1 damaged line (2);" in StoredRun(run.path).damage


@pytest.mark.parametrize("packed", [False, True])
def test_any_single_changed_byte_is_noticed(packed: bool) -> None:
    line = line_of(a_record(), packed)
    assert unseal(line) is not None
    for place in range(0, len(line) - 1, 7):
        changed = bytearray(line)
        changed[place] ^= 1
        assert unseal(bytes(changed)) is None, place


def resealed(content: dict[str, Any]) -> bytes:
    """A line that is whole, whatever it says."""
    body = json.dumps(content).encode()[:-1]
    return b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def test_a_whole_line_that_is_not_understood_costs_its_own_episode(tmp_path: Path) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"))
    file = run.path / EPISODES
    first, second = file.read_bytes().splitlines(keepends=True)
    content = json.loads(first)
    del content["crc32"]
    content["steps"][0]["progress"] = "a lot"
    file.write_bytes(resealed(content) + second)
    stored = StoredRun(run.path)
    assert [row.key for row in stored.rows] == ["b#0"]
    assert "skipped a line, " in stored.damage
    assert "episodes.jsonl:1: steps.0.progress: " in stored.damage
    assert StoredRun(run.path).damage == stored.damage, "the index has it too"
    # A newer version that happens to have the same fields is not to be guessed at either.
    for extra in ({}, {"new_field": 1}):
        newer = {**content, **extra, "schema_version": SCHEMA_VERSION + 1}
        file.write_bytes(resealed(newer) + second)
        with pytest.raises(
            DataError, match=r":1: written with schema 3, but this AgentQuest reads 2"
        ):
            run.records()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_whatever_sectors_a_power_loss_takes_synced_records_stay_and_none_is_invented(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    """An append that was never synced reaches the disk in any part, sector by sector."""
    synced = [a_record(f"s{number}#0") for number in range(data.draw(st.integers(0, 3)))]
    unsynced = [a_record(f"u{number}#0") for number in range(data.draw(st.integers(1, 4)))]
    run = a_run(tmp_path_factory.mktemp("run"), *synced)
    file = run.path / EPISODES
    before = file.read_bytes()
    after = before + b"".join(line_of(record, data.draw(st.booleans())) for record in unsynced)
    size = data.draw(st.integers(len(before), len(after)))
    disk = bytearray(before.ljust(size, b"\0"))
    for start in range(0, size, SECTOR):
        if data.draw(st.booleans()):
            disk[start : start + SECTOR] = after[start : min(start + SECTOR, size)]
    file.write_bytes(bytes(disk))
    written = {record.key: record for record in (*synced, *unsynced)}
    found = run.records()
    assert [record.key for record in found][: len(synced)] == [record.key for record in synced]
    assert all(record == written[record.key] for record in found)
    with run.lock() as log:
        log.append(a_record("later#0"))
    assert run.records()[-1].key == "later#0"


def test_a_packed_line_is_one_line_and_much_smaller(tmp_path: Path) -> None:
    record = make_record("b", steps=50)
    run = a_run(tmp_path, a_record("a#0"))
    with run.lock(packed=True) as log:
        ((_, place),) = log.append(record)
    assert run.records() == [a_record("a#0"), record]
    assert read_record(run.path / EPISODES, place) == record
    assert place.next == (run.path / EPISODES).stat().st_size
    plain, packed = line_of(record), line_of(record, packed=True)
    assert packed.count(b"\n") == 1
    assert len(packed) < len(plain) / 5
    content = json.loads(packed)
    assert json.loads(zlib.decompress(base64.b64decode(content["packed"])))["key"] == "b#0"


def test_what_is_sealed_but_cannot_be_unpacked_is_damaged() -> None:
    for text in ("####", "AAAA"):
        assert unseal(resealed({"packed": text}).replace(b'": "', b'":"', 1)) is None


@pytest.mark.parametrize("depth", [150, 400, 100_000])
def test_deep_nesting_costs_no_other_episode(tmp_path: Path, depth: int) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"))
    file = run.path / EPISODES
    first, second = file.read_bytes().splitlines(keepends=True)
    body = first.partition(b',"crc32"')[0].replace(
        b'"details":{}', b'"details":{"x":' + b"[" * depth + b"]" * depth + b"}"
    )
    file.write_bytes(b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body)) + second)
    assert "b#0" in [row.key for row in StoredRun(run.path).rows]


def test_a_packed_line_unpacks_to_no_more_than_it_may() -> None:
    for size, is_read in ((1 << 20, True), (8 << 20, False), (65 << 20, False)):
        text = base64.b64encode(zlib.compress(b"x" * size, 9))
        body = b'{"packed":"%b"' % text
        assert (unseal(b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))) is None) != is_read
    noise = os.urandom(1 << 16)
    for content in (b"{%b}" % (b"x" * (8 << 20)), b"{%b}" % (noise * 20)):
        assert unseal(seal(content, packed=True)) == content, "what is written is read again"


def test_a_bomb_costs_its_own_episode(tmp_path: Path) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"))
    file = run.path / EPISODES
    second = file.read_bytes().splitlines(keepends=True)[1]
    body = b'{"packed":"%b"' % base64.b64encode(zlib.compress(b"x" * (65 << 20), 9))
    file.write_bytes(b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body)) + second)
    stored = StoredRun(run.path, verify=True)
    assert [row.key for row in stored.rows] == ["b#0"]
    assert "it unpacks to too much" in stored.damage


def test_a_record_of_any_length_is_cut_with_a_mark_until_it_can_be_read(tmp_path: Path) -> None:
    long = "y" * 9_000_000
    message = Message(role="assistant", content=long, opaque={"a": [1] * 4_000_000})
    calls = [ToolCall(id="c", name="act", arguments="{}")] * 30_000
    whole = make_record("b", steps=6)
    steps = [
        step.model_copy(
            update={"reply": long + str(place % 2), "action": long, "tool_calls": calls}
        )
        for place, step in enumerate(whole.steps)
    ]
    more = {"steps": steps, "messages": [message], "details": {"a": [long]}, "explanation": long}
    run = a_run(tmp_path, a_record("a#0"))
    for packed in (False, True):
        with run.lock(packed=packed) as log:
            ((kept, place),) = log.append(whole.model_copy(update=more))
        assert place.size < 64 << 20
        assert read_record(run.path / EPISODES, place) == kept
        replies = [step.reply for step in kept.steps]
        assert replies[0].startswith("yyy")
        assert "… (8,000,001 more characters, " in replies[0]
        # What was equal or different is so still.
        assert (replies[0] == replies[2], replies[0] == replies[1]) == (True, False)
        assert kept.steps[0].tool_calls[-1].name == "(29,000 more calls)"
        assert kept.messages[0].opaque == {"left_out": "12,000,007 characters"}
        assert list(kept.details) == ["left_out"]
        assert (kept.success, kept.calls, kept.end) == (whole.success, whole.calls, whole.end)
    assert [record.key for record in run.records()] == ["a#0", "b#0"]


def test_no_file_is_no_episodes(tmp_path: Path) -> None:
    assert list(RunFolder(tmp_path).tries()) == []


def test_a_record_is_on_disk_before_append_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "run" / EPISODES
    run = a_run(tmp_path)
    synced: list[bytes] = []
    sync = os.fsync

    def fsync(number: int) -> None:
        sync(number)
        if os.fstat(number).st_ino == file.stat().st_ino:
            synced.append(file.read_bytes())

    with run.lock() as log:
        monkeypatch.setattr(os, "fsync", fsync)
        log.append(a_record("a#0"), a_record("b#0"))
        assert synced == [line("a#0") + line("b#0")]
        log.append(a_record("c#0"))
    assert len(synced) == 2
    assert synced[-1] == file.read_bytes()


def test_lines_are_known_by_their_ends(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    with run.lock() as log:
        (_, first), (_, second) = log.append(a_record("a#0"), a_record("b#0"))
    file = run.path / EPISODES
    assert has_lines(file, [first, second])
    assert not has_lines(file, [first, Span(second.at, second.next, first.checksum)])
    assert not has_lines(file, [Span(first.at, first.next - 1, first.checksum)])
    assert not has_lines(file, [Span(first.at, 3, first.checksum)])
    assert not has_lines(file, [second, first]), "each line is read once"
    assert not has_lines(file, [first, first])
    assert not has_lines(tmp_path / "nothing", [first])
    file.write_bytes(file.read_bytes()[: first.next])
    assert has_lines(file, [first])
    assert not has_lines(file, [second])


def test_a_record_is_not_read_from_a_line_that_is_another_now(tmp_path: Path) -> None:
    run = a_run(tmp_path)
    with run.lock() as log:
        ((_, span),) = log.append(a_record("a#0"))
    (run.path / EPISODES).write_bytes(line("b#0"))
    with pytest.raises(DataError, match="no complete record at byte 0"):
        read_record(run.path / EPISODES, span)


def test_a_line_of_nothing_but_mistakes_is_skipped_in_little_memory(tmp_path: Path) -> None:
    """Each mistake that is told takes a hundred times the room of the one that is made."""
    honest = make_record("a").model_dump_json()
    many = {"steps": "{}", "first_admissible": "1", "messages": "{}", "milestones": "{}"}
    for field, mistake in many.items():
        listed = ",".join([mistake] * 300_000)
        wrong = {**json.loads(honest), field: "LISTED"}
        content = json.dumps(wrong).replace('"LISTED"', f"[{listed}]").encode()
        with pytest.raises(ValidationError) as found:
            EpisodeRecord.model_validate_json(content)
        assert found.value.error_count() < 20, field
    unknown = json.loads(honest) | {f"unknown-{number}": 0 for number in range(5000)}
    file = tmp_path / "episodes.jsonl"
    file.write_bytes(seal(json.dumps(unknown).encode()) + seal(honest.encode()))
    reader = EpisodeReader(file)
    assert [one.key for _, one in reader.read_new()] == ["a#0"]
    assert reader.skipped[1].endswith("5,000 fields are wrong")


def test_details_that_nobody_could_look_through_are_left_out() -> None:
    honest = make_record("a").model_dump(mode="json")
    many: dict[str, Any] = {"of a plug-in": [[] for _ in range(1_100_000)], "more": {}}
    few = {"a": [1, {"b": [None]}]}
    left_out = {"left_out": "more than 1,000,000 values"}
    for details, kept in ((many, left_out), (few, few)):
        assert EpisodeRecord.model_validate(honest | {"details": details}).details == kept
