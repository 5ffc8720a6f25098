"""Records: what is written is what is read, whatever a model said, and damage is named."""

import base64
import json
import math
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agentquest.errors import DataError
from agentquest.records.episode import (
    SCHEMA_VERSION,
    Call,
    EpisodeRecord,
    Failure,
    Step,
    attempted,
    episode_key,
)
from agentquest.records.episode_lines import sealed, unsealed
from agentquest.records.manifest import Manifest, Provenance
from agentquest.records.messages import Message, ToolCall, Usage
from agentquest.records.outcome import AgentFaults, End, is_scored
from agentquest.records.run_directory import EPISODES, RunDirectory, read_episodes

# Any text, halves of surrogate pairs too: servers send them as JSON escapes.
ANY = st.text(st.characters(), max_size=20)
SECTOR = 512
CLEAN = st.text(max_size=20)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
COUNT = st.integers(0, 10**9)

CALLS = st.builds(
    Call,
    model=ANY,
    kind=ANY,
    usage=st.none() | st.builds(Usage, prompt_tokens=COUNT, completion_tokens=COUNT),
    cost=st.none() | NUMBER,
    latency_s=NUMBER,
    attempts=st.integers(1, 9),
    cached=st.booleans(),
)
STEPS = st.builds(
    Step,
    index=st.integers(1, 50),
    prompt=st.lists(st.integers(0, 5), max_size=2),
    tool_calls=st.lists(st.builds(ToolCall, id=ANY, name=ANY, arguments=ANY), max_size=2),
    reply=ANY,
    reasoning=ANY,
    action=st.none() | ANY,
    how=ANY,
    valid=st.booleans(),
    observation=ANY,
    admissible=st.lists(CLEAN, max_size=2),
    reward=NUMBER,
    progress=NUMBER,
    reachable=st.booleans(),
    seconds=NUMBER,
    calls=st.lists(CALLS, max_size=2),
)
RECORDS = st.builds(
    EpisodeRecord,
    run_id=CLEAN,
    key=st.sampled_from(["a#0", "b#0", "c#1"]),
    benchmark=CLEAN,
    task_id=CLEAN,
    task_type=CLEAN,
    split=CLEAN,
    trial=st.integers(0, 9),
    seed=st.integers(0, 2**32),
    problem=CLEAN,
    data_hash=CLEAN,
    facts=st.dictionaries(CLEAN, ANY, max_size=2),
    messages=st.lists(st.builds(Message, role=ANY, content=ANY, reasoning=ANY), max_size=2),
    goal=CLEAN,
    agent=CLEAN,
    model=st.none() | ANY,
    config_hash=CLEAN,
    versions=st.dictionaries(CLEAN, CLEAN, max_size=2),
    max_steps=st.integers(1, 99),
    first_observation=CLEAN,
    steps=st.lists(STEPS, max_size=2),
    end=st.sampled_from(End),
    scored=st.booleans(),
    success=st.booleans(),
    reward=NUMBER,
    progress=NUMBER,
    repetition_rate=NUMBER,
    error=st.none() | st.builds(Failure, source=st.just("model"), kind=ANY, message=ANY),
    started_at=CLEAN,
    seconds=NUMBER,
)


def a_step(**fields: Any) -> Step:
    known = {"index": 1, "action": "look", "how": "exact", "valid": True, "observation": "."}
    return Step(**{**known, **fields})


def a_record(key: str = "a#0", end: End = End.SOLVED, **fields: Any) -> EpisodeRecord:
    known: dict[str, Any] = {
        "run_id": "r",
        "key": key,
        "benchmark": "alfworld",
        "task_id": key.partition("#")[0],
        "task_type": "pick_and_place_simple",
        "split": "valid_unseen",
        "trial": 0,
        "seed": 1,
        "problem": "builtin:a",
        "data_hash": "d",
        "facts": {"dialect": "0.4"},
        "goal": "put a book on the desk",
        "agent": "react",
        "config_hash": "c",
        "versions": {},
        "max_steps": 50,
        "first_observation": "You are.",
        "steps": [a_step()],
        "end": end,
        "scored": is_scored(end, AgentFaults.OWE),
        "success": end is End.SOLVED,
        "reward": 1.0,
        "progress": 1.0,
        "repetition_rate": 0.0,
        "started_at": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
    }
    return EpisodeRecord(**{**known, **fields})


def a_manifest(**fields: Any) -> Manifest:
    known: dict[str, Any] = {
        "run_id": "r",
        "created_at": "2026-01-01T00:00:00+00:00",
        "benchmark": "alfworld",
        "provenance": Provenance(data="builtin", split="valid_unseen"),
        "agent": "react",
        "agent_faults": AgentFaults.OWE,
        "max_steps": 50,
        "trials": 1,
        "task_types": ["pick_and_place_simple"],
        "task_ids": ["a", "b"],
        "versions": {},
        "config_hash": "c",
        "data_hash": "d",
    }
    return Manifest(**{**known, **fields})


def a_run(tmp_path: Path, *records: EpisodeRecord) -> RunDirectory:
    run = RunDirectory(tmp_path / "run")
    run.create("seed: 1\n", a_manifest())
    with run.locked() as log:
        for record in records:
            log.append(record)
    return run


@settings(max_examples=50)
@given(st.lists(RECORDS, max_size=4))
def test_what_is_written_is_what_is_read(
    tmp_path_factory: pytest.TempPathFactory, records: list[EpisodeRecord]
) -> None:
    run = a_run(tmp_path_factory.mktemp("run"), *records)
    assert list(run.tries()) == records
    lines = (run.path / EPISODES).read_bytes().split(b"\n")
    assert [json.loads(line)["key"] for line in lines[:-1]] == [record.key for record in records]
    assert lines[-1] == b""


@pytest.mark.parametrize("text", ["half \ud83d pair", "\udc80", "\ud800\ud800", "a\x00b\u2028c"])
def test_half_a_surrogate_pair_is_shown_as_its_escape(text: str, tmp_path: Path) -> None:
    shown = text.encode("utf-8", "backslashreplace").decode()
    call = Call(model=text, kind="complete")
    step = a_step(reply=text, reasoning=text, action=text, how=text, observation=text, calls=[call])
    failure = Failure(source="model", kind="E", message=text)
    run = a_run(tmp_path, a_record(steps=[step], error=failure, model=text))
    (record,) = run.records()
    (read,) = record.steps
    found = {read.reply, read.reasoning, read.action, read.how, read.observation, record.model}
    assert found == {shown}
    assert read.calls[0].model == shown
    assert record.error is not None
    assert record.error.message == shown


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_hold_is_refused_when_it_is_made(value: float) -> None:
    with pytest.raises(ValidationError, match="finite number"):
        Call(model="m", kind="k", latency_s=value)
    with pytest.raises(ValidationError, match="finite number"):
        a_step(progress=value)


def test_records_do_not_change_and_have_no_other_fields() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        a_record().success = False  # type: ignore[misc]
    with pytest.raises(ValidationError, match="Extra inputs"):
        a_record(sucess=True)


def test_a_slim_record_lacks_only_what_nobody_counts() -> None:
    said = Message(role="user", content="x")
    step = a_step(prompt=[0], admissible=["look"], reply="r")
    record = a_record(steps=[step], first_admissible=["look"], messages=[said])
    slim = record.slim()
    assert slim.steps[0] == step.model_copy(update={"prompt": [], "admissible": []})
    restored = slim.model_copy(
        update={"steps": record.steps, "first_admissible": ["look"], "messages": [said]}
    )
    assert restored == record


def test_what_was_attempted() -> None:
    assert attempted(a_step()) == "look"
    assert attempted(a_step(valid=False, action="Fly  Away")) == "invalid:fly away"
    assert attempted(a_step(valid=False, action=None, reply="I\ndo not know")) == (
        "invalid:i do not know"
    )
    assert episode_key("valid/x", 3) == "valid/x#3"


@pytest.mark.parametrize("damage", [b"not json\n", b"{}\n", b"\n", b'{"a": "\xff"}\n', b"\0" * 512])
def test_a_damaged_line_costs_its_own_episode_and_is_told_of(tmp_path: Path, damage: bytes) -> None:
    run = a_run(tmp_path, a_record("a#0"), a_record("b#0"), a_record("c#0"))
    file = run.path / EPISODES
    lines = file.read_bytes().splitlines(keepends=True)
    assert run.damage() is None
    file.write_bytes(lines[0] + damage.rstrip(b"\n") + b"\n" + lines[2])
    assert [record.key for record in run.records()] == ["a#0", "c#0"]
    assert run.owed(["a#0", "b#0", "c#0"]) == ["b#0"]
    assert "episodes.jsonl: skipped 1 damaged line (2);" in str(run.damage())


@pytest.mark.parametrize("packed", [False, True])
def test_any_single_changed_byte_is_noticed(packed: bool) -> None:
    line = sealed(a_record(), packed)
    assert unsealed(line) is not None
    for place in range(0, len(line) - 1, 7):
        changed = bytearray(line)
        changed[place] ^= 1
        assert unsealed(bytes(changed)) is None, place


def resealed(content: dict[str, Any]) -> bytes:
    """A line that is whole, whatever it says."""
    body = json.dumps(content).encode()[:-1]
    return b'%b,"crc32":"%08x"}\n' % (body, zlib.crc32(body))


def test_a_whole_line_that_is_not_understood_is_an_error(tmp_path: Path) -> None:
    run = a_run(tmp_path, a_record())
    file = run.path / EPISODES
    content = json.loads(file.read_bytes())
    del content["crc32"]
    content["steps"][0]["progress"] = "a lot"
    file.write_bytes(resealed(content))
    with pytest.raises(DataError, match=r"episodes\.jsonl:1: steps\.0\.progress: "):
        run.records()
    # A newer version that happens to have the same fields is not to be guessed at either.
    for extra in ({}, {"new_field": 1}):
        newer = {**content, **extra, "schema_version": SCHEMA_VERSION + 1}
        file.write_bytes(resealed(newer))
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
    after = before + b"".join(sealed(record, data.draw(st.booleans())) for record in unsynced)
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
    with run.locked() as log:
        log.append(a_record("later#0"))
    assert run.records()[-1].key == "later#0"


def test_a_packed_line_is_one_line_and_much_smaller(tmp_path: Path) -> None:
    record = a_record("b#0", steps=[a_step(index=n) for n in range(1, 51)])
    run = a_run(tmp_path, a_record("a#0"))
    with run.locked(packed=True) as log:
        (place,) = log.append(record)
    assert run.records() == [a_record("a#0"), record]
    assert run.record_at(place.at) == record
    assert place.next == (run.path / EPISODES).stat().st_size
    plain, packed = sealed(record), sealed(record, packed=True)
    assert packed.count(b"\n") == 1
    assert len(packed) < len(plain) / 5
    content = json.loads(packed)
    assert json.loads(zlib.decompress(base64.b64decode(content["packed"])))["key"] == "b#0"


def test_what_is_sealed_but_cannot_be_unpacked_is_damaged() -> None:
    for text in ("####", "AAAA"):
        assert unsealed(resealed({"packed": text}).replace(b'": "', b'":"', 1)) is None


def test_no_file_is_no_episodes(tmp_path: Path) -> None:
    assert list(read_episodes(tmp_path / "nothing.jsonl")) == []
