"""Sinks are told of every episode, and whatever they do costs the run nothing."""

import logging
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import agentquest
from agentquest.errors import UnknownName
from agentquest.records.episode import EpisodeRecord
from agentquest.records.manifest import Manifest
from agentquest.running import sinks
from agentquest.running.sinks import Sink

HEARD: list[Any] = []
HANGING = threading.Event()


class Listening(Sink):
    def finished(self, record: EpisodeRecord) -> None:
        HEARD.append(record.key)

    def close(self, summary: dict[str, Any]) -> None:
        HEARD.append(summary["total_games"])


class BrokenMaking(Sink):
    def __init__(self, manifest: Manifest, folder: Path) -> None:
        raise ConnectionError("no such server")


class BrokenHearing(Sink):
    def finished(self, record: EpisodeRecord) -> None:
        raise ValueError("not like this")


class BrokenClosing(Sink):
    def close(self, summary: dict[str, Any]) -> None:
        raise KeyError("gone")


class Exiting(Sink):
    def finished(self, record: EpisodeRecord) -> None:
        sys.exit("enough")


class Interrupting(Sink):
    def finished(self, record: EpisodeRecord) -> None:
        raise KeyboardInterrupt


class Hanging(Sink):
    def finished(self, record: EpisodeRecord) -> None:
        HANGING.wait()


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    HEARD.clear()
    HANGING.clear()
    yield
    HANGING.set()


def played(folder: Path, *names: str) -> agentquest.RunResult:
    return agentquest.evaluate(
        benchmark="mastermind", agent="scripted", num_games=3, output_dir=folder, sinks=names
    )


def test_a_sink_hears_every_episode_and_the_end(tmp_path: Path) -> None:
    result = played(tmp_path, f"{__name__}:Listening")
    assert sorted(HEARD[:-1]) == sorted(record.key for record in result.records)
    assert HEARD[-1] == 3
    played(tmp_path, f"{__name__}:Listening")
    assert len(HEARD) == 4, "nothing was owed, so nothing was told again"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("BrokenMaking", "ConnectionError: no such server"),
        ("BrokenHearing", "ValueError: not like this"),
        ("BrokenClosing", "KeyError: 'gone'"),
        ("Exiting", "SystemExit: enough"),
        ("Interrupting", "KeyboardInterrupt"),
    ],
)
def test_a_failing_sink_harms_nobody(
    tmp_path: Path, name: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        result = played(tmp_path, f"{__name__}:{name}", f"{__name__}:Listening")
    assert result.complete
    assert len(HEARD) == 4, "the other sink heard all of it"
    (warning,) = [record.getMessage() for record in caplog.records]
    assert warning.endswith(f"{said}; the run continues without it")


def test_a_hanging_sink_is_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks.QueuedSink.close, "__defaults__", (0.05,))
    with caplog.at_level(logging.WARNING):
        result = played(tmp_path, f"{__name__}:Hanging")
    assert result.complete
    assert "gave up waiting" in caplog.text


def test_a_slow_sink_does_not_fill_the_memory(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sinks, "_WAITING", 1)
    monkeypatch.setattr(sinks.QueuedSink.close, "__defaults__", (0.05,))
    with caplog.at_level(logging.WARNING):
        result = played(tmp_path, f"{__name__}:Hanging")
    assert result.complete
    assert "episodes not sent to it" in caplog.text


def test_an_unknown_sink_is_named_before_anything_is_played(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'wandb'"):
        played(tmp_path, "wandbb")
    assert not list(tmp_path.iterdir())
