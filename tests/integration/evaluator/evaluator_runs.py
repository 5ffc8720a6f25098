"""Real `agentquest` processes and what they left behind, for the evaluator's tests."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import warm_python
from agentquest.api import play_pending
from agentquest.config import load_config
from agentquest.records.episode import EpisodeRecord
from agentquest.running.events import RunEvents
from agentquest.running.run import Run
from agentquest.store.folder import EPISODES, RESULTS, RunFolder
from chat_server import server_process

HERE = Path(__file__).resolve().parent
# Bounds every wait below; only ever reached when something is broken.
PATIENCE_S = 240.0

# What two runs of the same games may differ in.
_OF_THE_RUN = ("run_id", "config_hash", "started_at", "seconds", "worker")
_OF_A_CALL = ("latency_s", "attempts")


@contextmanager
def rule_server(*arguments: str) -> Iterator[str]:
    """A chat server that plays by rules, in a process of its own."""
    known = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), *([known] if known else [])])
    try:
        with server_process("--answer", "explorer_answers:answer", *arguments) as url:
            yield url
    finally:
        if known is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = known


def model_at(url: str) -> list[str]:
    """Overrides for the rule server: patient, and with the whole history in the prompt."""
    return [
        "llm.model=rules",
        f"llm.base_url={url}",
        "llm.wait_interval=0.01",
        "llm.max_retries=40",
        "agent.history_length=60",
        "data_path=builtin",
    ]


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agentquest", *arguments]


def environment(**variables: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "error", **variables}


def agentquest(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end in `folder`."""
    return warm_python.agentquest(
        *arguments, cwd=folder, env=environment(**variables), timeout=PATIENCE_S
    )


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[warm_python.Process]:
    """A command under way; ended with the block if it has not ended by then."""
    process = warm_python.Process(
        ["-m", "agentquest", *arguments],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_S)


def wait_until(happened: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError(f"waited in vain for {what}")


def lines_in(run: Path) -> int:
    file = run / EPISODES
    return file.read_bytes().count(b"\n") if file.is_file() else 0


def scored_keys(run: Path) -> list[str]:
    """The key of every scored line, repeated where it is there twice."""
    return [record.key for record in RunFolder(run).tries() if record.scored]


def outcomes(run: Path) -> dict[str, dict[str, Any]]:
    """Every episode's record without what may differ between two runs of the same games."""
    return {record.key: _comparable(record) for record in RunFolder(run).records()}


def _comparable(record: EpisodeRecord) -> dict[str, Any]:
    content = record.model_dump(mode="json", exclude=set(_OF_THE_RUN))
    for step in content["steps"]:
        del step["seconds"]
        for call in step["calls"]:
            for name in _OF_A_CALL:
                del call[name]
    return content


def results(run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((run / RESULTS).read_text(encoding="utf-8"))
    return content


def comparable_results(run: Path) -> dict[str, Any]:
    return {k: v for k, v in results(run).items() if k not in ("timestamp", "run_id", "pace")}


async def evaluate(
    folder: Path,
    *overrides: str,
    stop: asyncio.Event | None = None,
    watcher: RunEvents | None = None,
) -> tuple[Run, str | None]:
    """A run in this process, into `folder`; gives why it stopped early, if it did."""
    config, _ = load_config(None, ["data_path=builtin", f"output_dir={folder}", *overrides])
    run = Run(config)
    result = await play_pending(run, run.prepare(), watcher, stop)
    return run, result.reason
