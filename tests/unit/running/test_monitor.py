"""When a run gives up, what it writes and when."""

import asyncio
import time
from pathlib import Path

import pytest
from run_events import a_failure, a_record, a_spec, a_step

from agentquest.records.episode import EpisodeRecord
from agentquest.records.outcome import End
from agentquest.running import monitor
from agentquest.running.monitor import EpisodeSaver, FailureWatch, LiveFile, Stopper
from agentquest.store.live import LiveLog, read_live

MOST = 25


def _watch(*records: EpisodeRecord) -> list[str]:
    """Why the run was given up, each time, after these episodes."""
    reasons: list[str] = []
    failures = FailureWatch(reasons.append)
    for record in records:
        failures.finished(a_spec(), record)
    return reasons


def test_a_model_that_fails_again_and_again_ends_the_run() -> None:
    assert _watch(*[a_failure()] * (MOST - 1)) == []
    assert _watch(*[a_failure()] * MOST) == [
        "the model failed 25 episodes in a row: the server failed"
    ]


@pytest.mark.parametrize(
    "between",
    [
        a_record(),
        a_record(end=End.SOLVED, success=True),
        a_record(end=End.AGENT_FAULT, scored=False),
    ],
)
def test_failures_that_are_scattered_do_not_add_up(between: EpisodeRecord) -> None:
    some = [a_failure()] * (MOST - 1)
    assert _watch(*some, between, *some, between, *some) == []


@pytest.mark.parametrize("kind", ["AuthenticationFailed", "QuotaExhausted", "ServerAway"])
def test_a_model_that_can_never_answer_ends_the_run_at_once(kind: str) -> None:
    assert _watch(a_failure(kind)) == ["the server failed"]


def test_the_first_reason_to_stop_is_the_one_that_is_given() -> None:
    stop = asyncio.Event()
    stopper = Stopper(stop)
    assert (stopper.reason, stop.is_set()) == (None, False)
    stopper.give_up("too dear")
    stopper.give_up("too slow")
    assert (stopper.reason, stop.is_set()) == ("too dear", True)


class Disk:
    """Takes its time, and says how many records came together."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []

    def append(self, *records: EpisodeRecord) -> None:
        time.sleep(0.001)  # a thread that is done at once lets its task go on before all others
        self.batches.append([record.key for record in records])

    @property
    def written(self) -> list[str]:
        return [key for batch in self.batches for key in batch]


def _saver(disk: Disk, checkpoints: list[int]) -> EpisodeSaver:
    return EpisodeSaver(
        disk,  # type: ignore[arg-type]
        lambda running: checkpoints.append(len(disk.written) if running else -1),
    )


async def test_records_that_finish_together_are_written_together() -> None:
    disk = Disk()
    saver = _saver(disk, [])
    records = [a_record(a_spec(f"test/{number}")) for number in range(40)]
    await asyncio.gather(*map(saver.save, records))
    keys = [record.key for record in records]
    assert disk.written == keys
    assert [len(batch) for batch in disk.batches] == [1, 16, 16, 7]


async def test_results_are_written_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(monitor.time, "monotonic", lambda: now)
    checkpoints: list[int] = []
    saver = _saver(Disk(), checkpoints)
    for number in range(60):
        now = float(number)
        await saver.save(a_record())
    # After 15 s, and then after twice as long.
    assert checkpoints == [17, 48]


async def test_the_live_file_says_where_each_episode_is(tmp_path: Path) -> None:
    log = LiveLog(tmp_path)
    live = LiveFile(log)
    one, two = a_spec("test/1"), a_spec("test/2")
    live.started(one, "left")
    live.started(two, "right")
    live.stepped(two, a_step(action="look"), ())
    live.stepped(one, a_step(action="wait"), ())
    live.finished(one, a_record(one, worker="left", end=End.SOLVED, success=True))
    log.flush()
    events, _ = read_live(tmp_path)
    told = [(event.event, event.task_id, event.worker) for event in events]
    assert told == [
        ("start", "test/1", "left"),
        ("start", "test/2", "right"),
        ("step", "test/2", "right"),
        ("step", "test/1", "left"),
        ("end", "test/1", "left"),
    ]
    assert [event.step.action for event in events if event.step] == ["look", "wait"]
    assert (events[-1].end, events[-1].success) == (End.SOLVED, True)
    log.close()


async def test_the_live_file_is_written_during_a_long_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(monitor, "_LIVE_FLUSH_S", 0.0)
    log = LiveLog(tmp_path)
    LiveFile(log).started(a_spec(), "")
    assert read_live(tmp_path)[0] == []
    for _ in range(5):
        await asyncio.sleep(0)
    assert len(read_live(tmp_path)[0]) == 1
    log.close()
