"""What operating systems do differently, in one place: signals, processes, limits and syncing.

Everybody else asks here and never the system itself, so that a system without `SIGHUP`, process
groups or `fork` is one more branch here. A program that was started with everything it starts
is a `Tree`: on Linux nothing leaves it, on other Unix systems a process that makes a session of
its own does, on Windows only the program itself is ended.
"""

import os
import signal
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio.subprocess import Process

IS_WINDOWS = os.name == "nt"
UNLIMITED = 1 << 20
_PARENT_POLL_S = 1.0
_KEEPER = Path(__file__).with_name("keeper.py")
_NEW_GROUP = 0x200  # CREATE_NEW_PROCESS_GROUP, which only Windows has a name for


def stop_signals() -> list[signal.Signals]:
    """The signals that ask a command to stop: Ctrl-C, SIGTERM and, where it is heard, SIGHUP.

    Under `nohup` a closed terminal is ignored; on Windows Ctrl-Break is the second key.
    """
    names = ("SIGINT", "SIGTERM", "SIGBREAK" if IS_WINDOWS else "SIGHUP")
    numbers = [getattr(signal, name) for name in names if hasattr(signal, name)]
    return [each for each in numbers if signal.getsignal(each) is not signal.SIG_IGN]


@contextmanager
def handle_signals(
    numbers: Sequence[signal.Signals],
    handler: Callable[[signal.Signals], None],
    leave: Callable[[int, FrameType | None], None] | None = None,
) -> Iterator[None]:
    """While this is open, signals call `handler` in the running event loop. With `leave` only the
    first does, and every other calls that at once, also where foreign code holds the loop.

    These are plain handlers: an event loop on Windows cannot listen to signals, and no loop hears
    them while foreign code holds it. Nothing happens outside the main thread, which alone gets
    signals.
    """
    import asyncio  # here, because files are written without it

    loop = asyncio.get_running_loop()
    before: dict[signal.Signals, Any] = {}

    def wake(number: int, frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(handler, signal.Signals(number))
        for each in before if leave is not None else ():
            signal.signal(each, leave)

    with suppress(ValueError):  # not the main thread
        for each in numbers:
            before[each] = signal.signal(each, wake)
    try:
        yield
    finally:
        for each, previous in before.items():
            signal.signal(each, previous or signal.SIG_DFL)


@contextmanager
def keep_handlers() -> Iterator[None]:
    """Signals are handled afterwards as before, whatever a library has done to them."""
    before = {number: signal.getsignal(number) for number in stop_signals()}
    try:
        yield
    finally:
        with suppress(ValueError):  # not the main thread: nothing was changed either
            for number, handler in before.items():
                signal.signal(number, handler)


def block_signals(numbers: Sequence[signal.Signals]) -> set[int] | None:
    """Let signals wait; returns those that waited before, None where none can."""
    if not hasattr(signal, "pthread_sigmask"):
        return None
    return {int(each) for each in signal.pthread_sigmask(signal.SIG_BLOCK, numbers)}


def unblock_signals(numbers: Sequence[signal.Signals], except_for: set[int] | None = None) -> None:
    """Let signals through that were blocked here or by whoever started this process."""
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {*numbers} - (except_for or set()))


def own_group() -> dict[str, Any]:
    """How `subprocess` starts a process that gets no Ctrl-C of ours and can be ended as a group."""
    return {"creationflags": _NEW_GROUP} if IS_WINDOWS else {"start_new_session": True}


def end_group(pid: int, at_once: bool = False) -> None:
    """Ask a process and its group to stop, or stop them; harmless when they are gone."""
    with suppress(ProcessLookupError, PermissionError):
        if IS_WINDOWS:
            os.kill(pid, signal.SIGTERM)
        else:
            os.killpg(pid, signal.SIGKILL if at_once else signal.SIGTERM)


def is_running(pid: int) -> bool:
    """Whether there is such a process; True on Windows, where asking would interrupt it."""
    if IS_WINDOWS:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's
    return True


def can_wait_for(stream: IO[Any]) -> bool:
    """Whether an event loop can wait for what is read here: from a pipe, a socket or a terminal.

    Files and /dev/null are just read, and so is everything on Windows.
    """
    if IS_WINDOWS:
        return False
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stream.isatty()


class Tree:
    """A program and everything that it has started, which end together.

    They also end with this process, however that ends. Where there is `fork`, a small process
    (keeper.py) stands between: it reads the other end of a pipe that only we hold.
    """

    def __init__(self, process: "Process", leash: int | None) -> None:
        self.process = process
        self._leash = leash

    @classmethod
    async def start(cls, command: Sequence[str], **streams: Any) -> "Tree":
        """Start a command, without a shell; raises OSError if there is no such program."""
        import asyncio

        if IS_WINDOWS or not sys.executable:
            program, *rest = command
            options = {**streams, **own_group()}
            process = await asyncio.create_subprocess_exec(program, *rest, **options)
            return cls(process, None)
        theirs, ours = os.pipe()
        try:
            words = ["-I", "-S", str(_KEEPER), str(theirs), *command]
            options = {**streams, **own_group(), "pass_fds": [theirs]}
            process = await asyncio.create_subprocess_exec(sys.executable, *words, **options)
        except BaseException:
            os.close(ours)
            raise
        finally:
            os.close(theirs)
        return cls(process, ours)

    async def end(self) -> None:
        """End everything at once; harmless when it has ended."""
        if self._leash is not None:
            os.close(self._leash)  # the keeper ends all and then itself
            self._leash = None
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGCONT)  # the program may have stopped it
        elif self.process.returncode is None:
            end_group(self.process.pid, at_once=True)
        await self.process.wait()


def end_with_parent() -> None:
    """From now on this process ends when the one that started it has ended."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL_S)
        os._exit(1)

    if not IS_WINDOWS:
        threading.Thread(target=watch, name="end-with-parent", daemon=True).start()


def count_files() -> int:
    """How many files this process may open at once."""
    try:
        import resource
    except ImportError:  # a system without such a limit
        return UNLIMITED
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return UNLIMITED if soft == resource.RLIM_INFINITY else soft


def allow_files(wanted: int) -> int:
    """Raise the number of files as far as needed and possible; returns what is allowed."""
    allowed = count_files()
    if allowed < wanted:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        allowed = max(allowed, wanted if hard == resource.RLIM_INFINITY else min(wanted, hard))
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return allowed


def sync_file(file: Path) -> None:
    """Wait until a file's content is on disk; opened for writing, as Windows asks for."""
    _sync(file, os.O_RDWR)


def sync_folder(folder: Path) -> None:
    """Have a new or renamed file's name on disk too; nothing where a system cannot."""
    with suppress(OSError):  # some systems cannot open or sync folders
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    number = os.open(path, flags)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def shared_file(name: str) -> Path:
    """A file of this user's processes on this machine, as for a lock between them."""
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    return Path(tempfile.gettempdir()) / f"agentquest-{name}-{user}"
