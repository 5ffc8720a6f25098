"""`agentquest eval`, with one call to the operating system that fails: which is the argument.

    python faulty_disk.py FOLDER KIND

For each number from 1 on a run is played in a process of its own whose so-manieth call
of that kind, on a file of the run, fails; then once more without fault. A line of JSON
says what came of it, until there are no more calls to fail.
"""

import errno
import json
import os
import shutil
import sys
from pathlib import Path

from agentquest.cli.app import main
from agentquest.store.folder import RunFolder

ERRORS = {
    "open": errno.EMFILE,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.ENOSPC,
    "read-only": errno.EROFS,
}
GAMES = 3


class Fault:
    """Counts calls of one kind and fails the wanted one."""

    def __init__(self, folder: Path, kind: str, wanted: int) -> None:
        self.folder, self.kind, self.wanted, self.seen = str(folder), kind, wanted, 0

    def install(self) -> None:
        sys.addaudithook(self._audit)  # for good: hence a process for each fault
        if self.kind in ("write", "fsync"):
            real = getattr(os, self.kind)
            setattr(os, self.kind, lambda number, *more: self._counted(real, number, *more))

    def _audit(self, event: str, arguments: tuple[object, ...]) -> None:
        if event == "open" and self.kind in ("open", "read-only"):
            path, _, flags = arguments
            writes = isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR)
            if self._mine(path) and (writes or self.kind == "open"):
                self._hit(str(path))
        elif event == "os.rename" and self.kind == "rename" and self._mine(arguments[1]):
            self._hit(str(arguments[1]))

    def _mine(self, path: object) -> bool:
        return str(path).startswith(self.folder + os.sep)

    def _counted(self, real, number, *more):  # type: ignore[no-untyped-def]
        if self._mine(os.path.realpath(f"/proc/self/fd/{number}")):
            self._hit(None)
        return real(number, *more)

    def _hit(self, path: str | None) -> None:
        self.seen += 1
        if self.seen == self.wanted or self.kind == "read-only":
            code = ERRORS[self.kind]
            raise OSError(code, os.strerror(code), path)


def play(folder: Path, fault: Fault | None) -> tuple[int, str, bool]:
    """Exit code, what was said, and whether the fault came to pass."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = folder.with_name(f"{folder.name}.said")
        os.dup2(os.open(said, os.O_RDWR | os.O_CREAT | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if fault is not None:
            fault.install()
        code: object = 0
        try:
            main(["eval", "benchmark=mastermind", "agent=random", "max_steps=3", "seed=4",
                  f"num_games={GAMES}", f"output_dir={folder}", "run_name=run"])  # fmt: skip
        except SystemExit as stopped:
            code = stopped.code
        except BaseException as error:
            code = f"{type(error).__name__}: {error}"
        hit = fault is not None and fault.seen >= fault.wanted
        os.write(writing, json.dumps([code, said.read_text("utf-8")[-2000:], hit]).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        content = pipe.read()
    os.waitpid(child, 0)
    return tuple(json.loads(content))  # type: ignore[return-value]


def lines(folder: Path) -> list[tuple[str, str]]:
    return [(r.key, r.started_at) for r in RunFolder(folder / "run").tries()]


if __name__ == "__main__":
    folder, kind = Path(sys.argv[1]).resolve(), sys.argv[2]
    for number in range(1, 1000):
        here = folder / f"{kind}-{number}"
        if kind == "read-only":
            play(here, Fault(here, "write", 2))  # so that something is owed
        code, said, hit = play(here, Fault(here, kind, number))
        if not hit:
            break
        kept = lines(here)
        drafts = [file.name for file in here.rglob(".*") if not file.name.endswith(".lock")]
        again, said_again, _ = play(here, None)
        print(json.dumps({"number": number, "code": code, "said": said, "kept": kept,
                          "drafts": drafts, "again": again, "said_again": said_again,
                          "in_all": lines(here)}))  # fmt: skip
        shutil.rmtree(here)
        if kind == "read-only":
            break
