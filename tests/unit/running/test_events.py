"""Every listener hears everything, whoever else listens."""

import inspect
from pathlib import Path
from typing import Any

from run_events import Recorder, a_record, a_spec, a_step

import agentquest
from agentquest.records.manifest import Manifest
from agentquest.running.events import Broadcast, RunEvents
from agentquest.running.sinks import Sink

EVENTS = [name for name, found in vars(RunEvents).items() if inspect.isfunction(found)]


async def _tell(events: RunEvents) -> None:
    spec = a_spec()
    events.playing(str)
    events.started(spec, "worker")
    events.introduced(spec, "put an apple away")
    events.stepped(spec, a_step(), ())
    await events.save(a_record(spec))
    events.finished(spec, a_record(spec))
    events.cut_short(spec, a_record(spec))
    events.noted("about the run")


async def test_a_broadcast_passes_on_every_event_as_it_was_told() -> None:
    alone, one, two = Recorder(), Recorder(), Recorder()
    await _tell(alone)
    await _tell(Broadcast([one, two]))
    assert sorted(alone.names) == sorted(EVENTS), "every event is told here"
    assert one.heard == two.heard == alone.heard


def test_a_broadcast_forgets_no_event_that_is_added_later() -> None:
    assert [name for name in EVENTS if name not in {*vars(Broadcast), *vars(Broadcast([]))}] == []


class Silent(Sink):
    def __init__(self, manifest: Manifest, folder: Path) -> None:
        super().__init__(manifest, folder)


def _events_of(folder: Path, **settings: Any) -> list[str]:
    heard = Recorder()
    agentquest.evaluate(
        benchmark="mastermind",
        agent="scripted",
        num_games=2,
        parallel=1,
        output_dir=folder,
        watcher=heard,
        **settings,
    )
    return heard.names


def test_with_sinks_a_watcher_sees_everything_that_it_sees_without(tmp_path: Path) -> None:
    without = _events_of(tmp_path / "without")
    assert _events_of(tmp_path / "with", sinks=[f"{__name__}:Silent"]) == without
    assert set(without) == {"playing", "started", "introduced", "stepped", "save", "finished"}
    assert inspect.iscoroutinefunction(RunEvents.save)
