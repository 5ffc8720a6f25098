"""What systems do differently: trees of processes, and a loop that knows no signals."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentquest.cli.terminal import StopSignals
from agentquest.files import write_atomically
from agentquest.http.serving import Served, Serving
from agentquest.http.sockets import listen
from agentquest.platform import Tree, can_wait_for, handle_signals, is_running, stop_signals
from simulated_windows import simulate

PIPE = asyncio.subprocess.PIPE
# Starts a process that has a session of its own, ignores signals and has lost its parent.
DAEMON = """
import os, signal, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(number, signal.SIG_IGN)
        open(sys.argv[1], "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
os.wait()
while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])):
    time.sleep(0.01)
"""


def is_alive(process: int) -> bool:
    """A zombie that nobody has collected is as dead as one that is gone."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def read_pid(file: Path) -> int:
    until = time.monotonic() + 60
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < until, f"nobody wrote {file}"
        time.sleep(0.02)
    return int(file.read_text())


def wait_for_end(process: int) -> None:
    until = time.monotonic() + 60
    while is_alive(process):
        assert time.monotonic() < until, "nobody ended it"
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the group ends")
@pytest.mark.parametrize("rest", ["time.sleep(600)", "sys.exit(3)"])
async def test_nothing_leaves_a_tree(tmp_path: Path, rest: str) -> None:
    """Not even what has a session of its own and no parent, whether the program stays or ends."""
    tree = await Tree.start([sys.executable, "-c", DAEMON + rest, str(tmp_path / "pid")])
    daemon = await asyncio.to_thread(read_pid, tmp_path / "pid")
    if rest.startswith("sys"):
        assert await tree.process.wait() == 3
    await tree.end()
    assert not is_alive(daemon)
    await tree.end()  # harmless


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the group ends")
@pytest.mark.parametrize("then", ["", "os.kill(os.getppid(), signal.SIGSTOP)\n"])
def test_a_tree_ends_with_whoever_started_it_however_that_ends(tmp_path: Path, then: str) -> None:
    """Also if the program has stopped the process that keeps it."""
    program = (
        "import asyncio, sys\n"
        "from agentquest.platform import Tree\n"
        "async def work():\n"
        "    tree = await Tree.start([sys.executable, '-c', sys.argv[1], sys.argv[2]])\n"
        "    await tree.process.wait()\n"
        "asyncio.run(work())\n"
    )
    rest = f"{then}open(sys.argv[1] + '.stopped', 'w').write('1')\ntime.sleep(600)"
    words = [sys.executable, "-c", program, DAEMON + rest, str(tmp_path / "pid")]
    with subprocess.Popen(words) as starter:
        daemon = read_pid(tmp_path / "pid")
        read_pid(tmp_path / "pid.stopped")
        starter.kill()
    wait_for_end(daemon)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere only the group ends")
@pytest.mark.parametrize("name", ["SIGSTOP", "SIGTERM", "SIGINT", "SIGHUP"])
async def test_no_signal_of_a_program_frees_what_it_has_started(tmp_path: Path, name: str) -> None:
    """It can send any to whoever keeps it; one that was stopped would be waited for for ever."""
    rest = (
        "while not (os.path.exists(sys.argv[1]) and os.path.getsize(sys.argv[1])):\n"
        "    time.sleep(0.01)\n"
        f"os.kill(os.getppid(), signal.{name})\n"
        "time.sleep(600)\n"
    )
    tree = await Tree.start([sys.executable, "-c", DAEMON + rest, str(tmp_path / "pid")])
    daemon = await asyncio.to_thread(read_pid, tmp_path / "pid")
    await asyncio.sleep(0.2)  # it sends the signal
    await asyncio.wait_for(tree.end(), 60)
    assert not is_alive(daemon)


@pytest.mark.skipif(os.name != "posix", reason="there are no signals to die of")
@pytest.mark.parametrize(
    ("program", "code"),
    [("raise SystemExit(0)", 0), ("raise SystemExit(7)", 7), ("os.kill(os.getpid(), 9)", -9)],
)
async def test_a_tree_ends_as_its_program_does(program: str, code: int) -> None:
    tree = await Tree.start([sys.executable, "-c", f"import os\n{program}"])
    assert await tree.process.wait() == code
    await tree.end()


async def test_a_tree_has_the_streams_of_its_program() -> None:
    words = [sys.executable, "-c", "print(input()[::-1])"]
    tree = await Tree.start(words, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    assert await tree.process.communicate(b"abc\n") == (b"cba\n", b"")
    await tree.end()


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    simulate(monkeypatch)


async def test_without_signals_in_the_loop_ctrl_c_still_stops(windows: None) -> None:
    before = signal.getsignal(signal.SIGINT)
    signals = StopSignals()
    with signals.listening() as stop:
        signal.raise_signal(signal.SIGINT)
        await asyncio.wait_for(stop.wait(), 60)
    assert signals.exit_code == 130
    assert signal.getsignal(signal.SIGINT) is before
    assert [each.name for each in stop_signals()] == ["SIGINT", "SIGTERM"]


async def test_without_signals_in_the_loop_a_server_stops(windows: None) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            while (await receive())["type"] != "lifespan.shutdown":
                await send({"type": "lifespan.startup.complete"})
            await send({"type": "lifespan.shutdown.complete"})

    serving = Serving([Served(app, listen())])
    running = asyncio.create_task(serving.run())
    for _ in range(6000):
        if serving.started:
            break
        await asyncio.sleep(0.01)
    signal.raise_signal(signal.SIGINT)
    await asyncio.wait_for(running, 60)
    with pytest.raises(SystemExit, match="130"):
        serving.exit_by_signal()


async def test_without_groups_a_program_itself_is_ended(windows: None) -> None:
    tree = await Tree.start([sys.executable, "-c", "import time; time.sleep(600)"])
    await tree.end()
    assert tree.process.returncode == -9


def test_without_syncing_folders_files_are_written(windows: None, tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", "text")
    assert (tmp_path / "file").read_text() == "text"


def test_whether_another_runs_is_not_asked_where_asking_interrupts_it(windows: None) -> None:
    assert is_running(os.getpid())


def test_who_runs_and_what_can_be_waited_for(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert [is_running(os.getpid()), is_running(ended.pid)] == [True, False]
    (tmp_path / "file").touch()
    reading, writing = os.pipe()
    with (tmp_path / "file").open() as file, os.fdopen(reading) as pipe, os.fdopen(writing, "w"):
        assert [can_wait_for(file), can_wait_for(pipe)] == [False, True]


async def test_handlers_are_given_back() -> None:
    before = {number: signal.getsignal(number) for number in stop_signals()}
    with handle_signals(stop_signals(), lambda number: None):
        assert signal.getsignal(signal.SIGTERM) is not before[signal.SIGTERM]
    assert {number: signal.getsignal(number) for number in stop_signals()} == before


def test_a_process_can_end_with_its_parent(tmp_path: Path) -> None:
    child = (
        "import time; from agentquest.platform import end_with_parent as e; e(); time.sleep(600)"
    )
    program = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', sys.argv[1]])\n"
        "open(sys.argv[2], 'w').write(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, child, str(tmp_path / "pid")]) as parent:
        pid = read_pid(tmp_path / "pid")
        until = time.monotonic() + 60
        while (
            Path(f"/proc/{pid}/task").exists() and len([*Path(f"/proc/{pid}/task").iterdir()]) < 2
        ):
            assert time.monotonic() < until, "it does not watch"
            time.sleep(0.05)
        parent.kill()
    wait_for_end(pid)
