"""Records: what is written is what is read, whatever a model said, and damage is named."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agentquest.errors import DataError
from agentquest.lib import Task
from agentquest.records.episode import (
    Call,
    EpisodeRecord,
    Failure,
    Step,
    attempted_command,
    episode_key,
)
from agentquest.records.manifest import Manifest, Provenance
from agentquest.records.messages import Message, ToolCall, Usage
from agentquest.records.outcome import AgentFaults, End, is_scored
from agentquest.store.folder import EPISODES, RunFolder
from report_runs import manifest
from report_runs import record as hand_made

# Any text, halves of surrogate pairs too: servers send them as JSON escapes.
ANY = st.text(st.characters(), max_size=20)
SECTOR = 512
ODD = "half \ud83d"
NUMBER = st.floats(-1e12, 1e12)
AMOUNT = st.floats(0, 1e9)
COUNT = st.integers(0, 10**9)

CALLS = st.builds(
    Call,
    model=ANY,
    kind=ANY,
    usage=st.none() | st.builds(Usage, prompt_tokens=COUNT, completion_tokens=COUNT),
    cost=st.none() | AMOUNT,
    latency_s=st.none() | AMOUNT,
    attempts=st.integers(1, 9),
    cached=st.booleans(),
)
STEPS = st.builds(
    Step,
    index=st.integers(1, 50),
    prompt=st.lists(st.integers(0, 1), max_size=2),
    tool_calls=st.lists(st.builds(ToolCall, id=ANY, name=ANY, arguments=ANY), max_size=2),
    reply=ANY,
    reasoning=ANY,
    action=st.none() | ANY,
    how=ANY,
    valid=st.booleans(),
    observation=ANY,
    admissible=st.lists(ANY, max_size=2),
    reward=NUMBER,
    progress=NUMBER,
    reachable=st.booleans(),
    seconds=NUMBER,
    calls=st.lists(CALLS, max_size=2),
)
RECORDS = st.builds(
    EpisodeRecord,
    run_id=ANY,
    key=st.sampled_from(["a#0", "b#0", "c#1"]),
    benchmark=ANY,
    task_id=ANY,
    task_type=ANY,
    split=ANY,
    trial=st.integers(0, 9),
    seed=st.integers(0, 2**32),
    problem=ANY,
    data_hash=ANY,
    facts=st.dictionaries(ANY, ANY, max_size=2),
    messages=st.lists(
        st.builds(Message, role=ANY, content=ANY, reasoning=ANY), min_size=2, max_size=2
    ),
    goal=ANY,
    agent=ANY,
    model=st.none() | ANY,
    config_hash=ANY,
    versions=st.dictionaries(ANY, ANY, max_size=2),
    max_steps=st.integers(1, 99),
    first_observation=ANY,
    steps=st.lists(STEPS, max_size=2),
    end=st.sampled_from(End),
    scored=st.booleans(),
    success=st.booleans(),
    reward=NUMBER,
    progress=NUMBER,
    repetition_rate=NUMBER,
    error=st.none() | st.builds(Failure, source=st.just("model"), kind=ANY, message=ANY),
    started_at=ANY,
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


def a_run(tmp_path: Path, *records: EpisodeRecord) -> RunFolder:
    run = RunFolder(tmp_path / "run")
    run.create("seed: 1\n", a_manifest())
    with run.lock() as log:
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


def test_records_can_be_written_whatever_a_benchmark_is_called() -> None:
    about = {"benchmark_title": ODD, "versions": {ODD: ODD}, "metrics": [ODD], "data_hash": ODD}
    content = manifest(run_id=ODD, task_types=[ODD], task_ids=[ODD], **about).model_dump_json()
    assert Manifest.model_validate_json(content).task_ids == ["half \\ud83d"]
    names = dict.fromkeys(("run_id", "benchmark", "agent", "data_hash", "worker"), ODD)
    assert a_record(**names, versions={ODD: ODD}).model_dump_json().isascii()


@pytest.mark.parametrize("name", ["id", "task_type", "split"])
def test_a_task_whose_name_no_record_could_hold_is_refused(name: str) -> None:
    fields = {"id": "a", "task_type": "b", "split": "c", "problem": "half \udcff"}
    assert Task(**fields).problem == "half \udcff"
    with pytest.raises(DataError, match="'x\\\\udcff' has half a character in its name"):
        Task(**{**fields, name: "x\udcff"})
    with pytest.raises(DataError, match=r"the task 5 .* is no text"):
        Task(**{**fields, name: 5})  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_json_cannot_hold_is_refused_when_it_is_made(value: float) -> None:
    with pytest.raises(ValidationError, match="finite number"):
        a_step(progress=value)


@pytest.mark.parametrize("value", [-1e300, 1.7e308])
def test_a_reward_that_no_sum_could_hold_is_refused(value: float) -> None:
    with pytest.raises(ValidationError, match="than or equal"):
        a_step(reward=value)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0, 1.7e308, 10**400, "many", True])
def test_what_a_call_took_is_sensible_or_unknown(value: Any, tmp_path: Path) -> None:
    usage = {"prompt_tokens": value, "completion_tokens": 2}
    call = Call(model="m", kind="k", usage=usage, cost=value, latency_s=value)  # type: ignore[arg-type]
    assert (call.usage, call.cost, call.latency_s) == (None, None, None)
    (record,) = a_run(tmp_path, a_record(steps=[a_step(calls=[call, call])])).records()
    assert record.steps[0].calls == [call, call]


def test_a_record_of_others_with_a_senseless_number_can_be_read() -> None:
    steps = [a_step(calls=[Call(model="m", kind="k", cost=0.25)])]
    foreign = a_record(steps=steps).model_dump_json().replace('"cost":0.25', '"cost":1.7e308')
    assert EpisodeRecord.model_validate_json(foreign).steps[0].calls[0].cost is None


def test_what_a_provider_wants_back_stays_exact_and_is_escaped_only_on_disk(tmp_path: Path) -> None:
    message = Message(role="assistant", opaque={"thoughts": ["half \ud83d", {"\udc80": 1}]})
    assert message.opaque == {"thoughts": ["half \ud83d", {"\udc80": 1}]}
    (record,) = a_run(tmp_path, a_record(messages=[message])).records()
    assert record.messages[0].opaque == {"thoughts": ["half \\ud83d", {"\\udc80": 1}]}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": [value]}
    return value


def test_what_is_nested_too_deeply_for_readers_is_refused_or_left_out(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="nested more than 64 levels"):
        Message(role="assistant", opaque=nested(300))
    record = a_record(details={"kept": nested(3), "cut": nested(300)})
    (read,) = a_run(tmp_path, record).records()
    assert read.details["kept"] == nested(3)
    assert "(nested too deeply)" in json.dumps(read.details["cut"])


def test_a_benchmark_of_one_s_own_may_record_anything(tmp_path: Path) -> None:
    class Strange:
        def __str__(self) -> str:
            return "strange"

    details = {"set": {1}, "bytes": b"\xff", "large": 10**5000, 7: Strange(), "time": math.inf}
    details |= {"array": bytearray(b"\xff"), "inside": {b"\xff"}, "raises": (1 / 0 for _ in "1")}
    facts = {"number": 3, "nothing": None, "strange": Strange()}
    (read,) = a_run(tmp_path, a_record(details=details, facts=facts)).records()
    assert read.details["set"] == [1]
    assert read.details["bytes"] == "\\xff"
    assert read.details["array"] == "\\xff"
    assert read.details["inside"] == ["_w=="]
    assert read.details["raises"] == "(a generator)"
    assert read.details["large"] == "(too large a number)"
    assert read.details["7"] == "strange"
    assert read.facts == {"number": "3", "nothing": "None", "strange": "strange"}


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
    assert attempted_command(a_step()) == "look"
    assert attempted_command(a_step(valid=False, action="Fly  Away")) == "invalid:fly away"
    assert attempted_command(a_step(valid=False, action=None, reply="I\ndo not know")) == (
        "invalid:i do not know"
    )
    assert episode_key("valid/x", 3) == "valid/x#3"


def test_facts_of_a_plug_in_are_short_and_can_be_written() -> None:
    facts = {f"{number}\ud800": "x" * 10_000 for number in range(1000)}
    made = hand_made("a", facts=facts)
    assert len(made.facts) == 100
    assert max(map(len, made.facts.values())) == 1000
    assert EpisodeRecord.model_validate_json(made.model_dump_json()) == made
