"""Episodes in other processes: the same scores, and a dead worker costs nothing but time."""

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from evaluator_runs import (
    PATIENCE_S,
    agentquest,
    command,
    comparable_results,
    environment,
    evaluate,
    lines_in,
    model_at,
    outcomes,
    rule_server,
    scored_keys,
    wait_until,
)

from agentquest.errors import UserError
from agentquest.running.executors import pool
from agentquest.store.folder import RunFolder
from agentquest.store.live import read_live

TWO = ["executor=processes", "executor.workers=2"]
GAMES = 24
long = pytest.mark.long


@contextmanager
def in_a_session_of_its_own(folder: Path, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command whose process group a signal can be sent to, as a terminal does."""
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=PATIENCE_S)


def workers_of(pid: int) -> list[int]:
    """The worker processes of a run, without the tracker that Python starts beside them."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():
        pytest.skip("needs /proc to find the workers")
    found = [int(word) for word in children.read_text().split()]
    return [child for child in found if b"spawn_main" in _command_line(child)]


def _command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def under_way(run: Path) -> set[str]:
    """The episodes that have made a step and not ended."""
    events, _ = read_live(run)
    ended = {event.key for event in events if event.event == "end"}
    return {event.key for event in events if event.step} - ended


@long
def test_the_scores_are_those_of_one_process(tmp_path: Path) -> None:
    for name, more in (("local", []), ("processes", TWO)):
        arguments = ["data_path=builtin", f"num_games={GAMES}", f"run_name={name}", *more]
        done = agentquest(tmp_path, "eval", *arguments)
        assert done.returncode == 0, done.stderr
    local, processes = tmp_path / "runs" / "local", tmp_path / "runs" / "processes"
    assert len(outcomes(local)) == GAMES
    assert outcomes(processes) == outcomes(local)
    assert comparable_results(processes) == comparable_results(local)
    records = RunFolder(processes).records()
    assert {record.worker for record in records} == {"process-1", "process-2"}
    log = (processes / "run.log").read_text("utf-8")
    assert re.search(r"start \S+ on process-2", log)


async def test_where_it_is_played_does_not_name_the_run(tmp_path: Path) -> None:
    first, _ = await evaluate(tmp_path, "num_games=4", "agent=oracle")
    again, _ = await evaluate(tmp_path, "num_games=4", "agent=oracle", *TWO)
    assert first.directory.path == again.directory.path
    assert len(scored_keys(first.directory.path)) == 4


@long
def test_a_killed_worker_s_episodes_are_played_elsewhere(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.02") as url:
        arguments = ["eval", *model_at(url), f"num_games={GAMES}", "parallel=4", "run_name=r", *TWO]
        with in_a_session_of_its_own(tmp_path, *arguments) as process:
            wait_until(lambda: lines_in(run) >= 2, "two finished episodes")
            os.kill(workers_of(process.pid)[0], signal.SIGKILL)
            _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, told
        whole = agentquest(
            tmp_path, "eval", *model_at(url), f"num_games={GAMES}", "run_name=undisturbed"
        )
        assert whole.returncode == 0, whole.stderr
    keys = scored_keys(run)
    assert len(keys) == len(set(keys)) == GAMES
    assert outcomes(run) == outcomes(tmp_path / "runs" / "undisturbed")
    assert "process-3" in {record.worker for record in RunFolder(run).records()}


# While Python starts, while it reads our modules, and when it is about to be ready.
@long
@pytest.mark.parametrize("later", [0.0, 0.1, 0.2, 0.3])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_while_the_workers_start_is_no_traceback_of_theirs(
    tmp_path: Path, number: signal.Signals, later: float
) -> None:
    arguments = ["eval", "benchmark=mastermind", "num_games=400", *TWO]
    with in_a_session_of_its_own(tmp_path, *arguments) as process:
        wait_until(lambda: bool(workers_of(process.pid)), "a worker that starts")
        time.sleep(later)
        os.killpg(process.pid, number)
        _, told = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 128 + number, told
    assert "Traceback" not in told


@long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_a_signal_to_the_whole_group_drains_and_leaves_no_process(
    tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.1") as url:
        arguments = ["eval", *model_at(url), f"num_games={GAMES}", "parallel=4", "run_name=r", *TWO]
        with in_a_session_of_its_own(tmp_path, *arguments) as process:
            wait_until(lambda: lines_in(run) >= 2, "two finished episodes")
            wait_until(lambda: len(under_way(run)) >= 2, "two that have made a step")
            workers = workers_of(process.pid)
            assert len(workers) == 2
            os.killpg(process.pid, number)
            _, told = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 128 + number, told
        assert "Traceback" not in told
        wait_until(lambda: not any(map(_command_line, workers)), "the workers' end")
        records = RunFolder(run).records()
        # What was under way is kept with its calls, which were paid for.
        assert any(record.end.value == "cancelled" and record.calls for record in records)
        finished = scored_keys(run)
        done = agentquest(tmp_path, *arguments)
    assert done.returncode == 0, done.stderr
    assert f"resuming: {len(finished)} of {GAMES} episodes already played" in done.stderr
    keys = scored_keys(run)
    assert len(keys) == len(set(keys)) == GAMES


@long
def test_the_workers_of_a_killed_run_end_without_a_word(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "r"
    with rule_server("--latency", "0.1") as url:
        arguments = ["eval", *model_at(url), f"num_games={GAMES}", "parallel=4", "run_name=r", *TWO]
        with in_a_session_of_its_own(tmp_path, *arguments) as process:
            wait_until(lambda: len(under_way(run)) >= 2, "two that have made a step")
            process.kill()
            _, told = process.communicate(timeout=PATIENCE_S)  # returns when they have ended too
    assert "Traceback" not in told


@pytest.fixture
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[int]]:
    """Returns the processes that an agent holds."""
    folder = tmp_path / "held"
    folder.mkdir()
    monkeypatch.setenv("HELD", str(folder))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    return lambda: [int(file.name) for file in folder.iterdir()]


def test_workers_that_an_agent_holds_end_with_a_killed_run(
    tmp_path: Path, odd: str, held: Callable[[], list[int]]
) -> None:
    arguments = ["benchmark=mastermind", f"agent={odd}:HoldsItsProcess", "num_games=4", *TWO]
    with in_a_session_of_its_own(tmp_path, "eval", *arguments) as process:
        wait_until(lambda: len(held()) == 2, "two that are held")
        process.kill()
        process.communicate(timeout=PATIENCE_S)  # returns when they have ended too


async def test_workers_that_an_agent_holds_do_not_hold_the_run(
    tmp_path: Path, odd: str, held: Callable[[], list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_LAST_WORDS_S", 0.1)
    stop = asyncio.Event()
    arguments = [f"agent={odd}:HoldsItsProcess", "num_games=2", "parallel=2", *TWO]
    running = asyncio.create_task(evaluate(tmp_path, *arguments, stop=stop))
    await asyncio.to_thread(wait_until, lambda: len(held()) == 2, "two that are held")
    stop.set()
    await asyncio.wait_for(running, PATIENCE_S)
    assert not any(map(_command_line, held()))


def test_the_second_signal_ends_what_an_agent_holds(
    tmp_path: Path, odd: str, held: Callable[[], list[int]]
) -> None:
    arguments = ["benchmark=mastermind", f"agent={odd}:HoldsItsProcess", "num_games=4"]
    with in_a_session_of_its_own(tmp_path, "eval", *arguments) as process:
        wait_until(lambda: bool(held()), "one that is held")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
    assert process.returncode == 128 + signal.SIGINT


@long
async def test_an_episode_that_kills_its_workers_stays_owed(tmp_path: Path, odd: str) -> None:
    run, reason = await evaluate(
        tmp_path, "num_games=6", f"agent={odd}:KillsItsProcess", "parallel=2", *TWO
    )
    assert reason is None
    records = run.directory.records()
    assert len(records) == 5
    assert all(record.success for record in records)
    (owed,) = run.pending
    assert owed.task.task_type == "pick_heat_then_place_in_recep"


async def test_what_a_worker_cannot_make_ends_the_run_with_its_reason(
    tmp_path: Path, odd: str
) -> None:
    with pytest.raises(UserError, match="cannot be made: KeyError: 'no brain'"):
        await evaluate(tmp_path, "num_games=6", f"agent={odd}:CannotBeMade", *TWO)
