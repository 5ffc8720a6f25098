"""Getting the reference engine: an environment of its own, and its logic files.

The reference is the published `alfworld` package. It is never installed beside
AgentQuest: it lives in `.reference-venv`, made here on first use, and is only
ever run as a child process. Building its planner takes a few minutes and needs
a C++ compiler and cmake.
"""

import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import NamedTuple

from agentquest.errors import UserError
from agentquest.safe_text import say

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".reference-venv"
RELEASE = "0.4.2"
OLD_RELEASE = "0.3.5"
_PROGRESS_SECONDS = 15.0
_LOG_TAIL = 15


class Logic(NamedTuple):
    """The rules and the texts that a game file carries."""

    domain: str
    grammar: str


def reference_python(given: str | None, install: bool = True) -> Path | None:
    """The interpreter that has the reference; None when there is none and none is wanted."""
    if given is not None:
        python = Path(given).absolute()
        if not python.is_file():
            raise UserError(f"--reference-python: there is no {python}")
        missing = _missing(python)
        if missing:
            raise UserError(f"--reference-python: {python} cannot run the reference: {missing}")
        return python
    python = _python_of(FOLDER)
    if python.is_file() and not _missing(python):
        return python
    if not install:
        return None
    _install(python)
    return python


def reference_versions(python: Path) -> str:
    """What the reference is, by name and version."""
    said = "import importlib.metadata as m; print(*(f'{n} {m.version(n)}' for n in %r), sep=', ')"
    return _output([str(python), "-c", said % (("alfworld", "textworld"),)]).strip()


def reference_logic(python: Path, dialect: str) -> Logic:
    """The logic files of the release that speaks a dialect."""
    if dialect == "0.4":
        found = _output([str(python), "-c", "import alfworld; print(alfworld.__file__)"])
        return _read_logic(Path(found.strip().splitlines()[-1]).parent / "data")
    return _old_logic(python)


def _old_logic(python: Path) -> Logic:
    """Those of 0.3: only two text files of that release are needed, so it is not installed."""
    cache = Path(_output([str(python), "-c", "import sys; print(sys.prefix)"]).strip())
    data = cache / f"alfworld-{OLD_RELEASE}" / "alfworld" / "data"
    if not data.is_dir():
        say(f"fetching the logic files of alfworld {OLD_RELEASE} …")
        download = [str(python), "-m", "pip", "download", "--quiet", "--no-deps"]
        _output([*download, "--dest", str(cache), f"alfworld=={OLD_RELEASE}"])
        wheel = next(cache.glob(f"alfworld-{OLD_RELEASE}-*.whl"), None)
        if wheel is None:
            raise UserError(f"pip downloaded alfworld {OLD_RELEASE}, but no wheel is in {cache}")
        with zipfile.ZipFile(wheel) as archive:
            for name in ("alfred.pddl", "alfred.twl2"):
                archive.extract(f"alfworld/data/{name}", cache / f"alfworld-{OLD_RELEASE}")
    return _read_logic(data)


def _read_logic(folder: Path) -> Logic:
    try:
        return Logic(
            (folder / "alfred.pddl").read_text(encoding="utf-8"),
            (folder / "alfred.twl2").read_text(encoding="utf-8"),
        )
    except OSError as error:
        raise UserError(f"the reference's logic files cannot be read: {error}") from None


def _install(python: Path) -> None:
    say(f"installing alfworld {RELEASE} into {FOLDER.name}/ (once; it compiles for some minutes)")
    if not python.is_file():
        _output([sys.executable, "-m", "venv", str(FOLDER)])
    log = FOLDER / "install.log"
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    with log.open("w", encoding="utf-8") as file:
        pip = subprocess.Popen(
            [*command, f"alfworld=={RELEASE}"], stdout=file, stderr=subprocess.STDOUT
        )
        try:
            _watch(pip)
        finally:
            if pip.poll() is None:
                pip.kill()
                pip.wait()
    missing = _missing(python)
    if pip.returncode != 0 or missing:
        tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LOG_TAIL:]
        raise UserError(
            f"the reference could not be installed (pip ended with {pip.returncode}; {missing}).\n"
            "It needs a network, a C++ compiler, make and cmake. "
            f"The end of {log}:\n  " + "\n  ".join(tail)
        )


def _watch(pip: "subprocess.Popen[bytes]") -> None:
    start = time.monotonic()
    while True:
        try:
            pip.wait(timeout=_PROGRESS_SECONDS)
            return
        except subprocess.TimeoutExpired:
            say(f"  … still installing after {time.monotonic() - start:.0f} s")


def _python_of(folder: Path) -> Path:
    return folder / "bin" / "python"


def _missing(python: Path) -> str:
    """Why an environment cannot run the reference; empty when it can."""
    check = "import fast_downward, textworld.envs.pddl, alfworld.agents.environment.alfred_tw_env"
    done = subprocess.run([str(python), "-c", check], capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["no reason"])[-1]


def _output(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        reason = "\n  ".join(done.stderr.strip().splitlines()[-_LOG_TAIL:])
        raise UserError(f"failed: {' '.join(command[:5])} …\n  {reason}")
    return done.stdout
