"""A run folder may come from anybody: whatever its files are, nobody is led away or waits."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentquest.cli.app import main
from agentquest.store.folder import CONFIG, EPISODES, LOG, MANIFEST, METRICS, RESULTS
from agentquest.store.index import INDEX
from agentquest.store.live import LIVE, read_live

LOCKS = (".lock", ".index.lock", ".heartbeat")
NAMES = (CONFIG, MANIFEST, EPISODES, METRICS, RESULTS, LOG, INDEX, LIVE, *LOCKS)
VICTIM = b"precious\n" * 10


def _socket(place: Path, victim: Path) -> None:
    here = Path.cwd()
    os.chdir(place.parent)  # such a name may not be long
    try:
        socket.socket(socket.AF_UNIX).bind(place.name)
    finally:
        os.chdir(here)


def _device(place: Path, victim: Path) -> None:
    try:
        os.mknod(place, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero, which never ends
        os.close(os.open(place, os.O_RDONLY))
    except PermissionError:
        place.unlink(missing_ok=True)
        pytest.skip("only root can make devices")


def _device_by_link(place: Path, victim: Path) -> None:
    place.symlink_to("/dev/zero")


def _holes(place: Path, victim: Path) -> None:
    """As large as any memory, on hardly any disk."""
    with place.open("wb") as file:
        file.truncate(1 << 42)


KINDS: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, victim: place.symlink_to(victim),
    "link to nothing": lambda place, victim: place.symlink_to(victim.with_name("made")),
    "link to a device": _device_by_link,
    "pipe": lambda place, victim: os.mkfifo(place),
    "folder": lambda place, victim: place.mkdir(),
    "socket": _socket,
    "device": _device,
    "holes": _holes,
}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two games, of which one is still to play."""
    folder = tmp_path_factory.mktemp("played")
    _run("eval", *_settings(folder), "num_games=2")
    run = folder / "run"
    lines = (run / EPISODES).read_bytes().splitlines(keepends=True)
    (run / EPISODES).write_bytes(lines[0])
    return run


def _settings(folder: Path) -> list[str]:
    return [
        "benchmark=mastermind",
        "agent=scripted",
        "metrics=[report_runs:WORDS]",
        f"output_dir={folder}",
        "run_name=run",
    ]


def _run(*words: str) -> int:
    try:
        main([*words])
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 1
    return 0


@pytest.fixture
def victim(tmp_path: Path) -> Iterator[Path]:
    """A file of the user's, which nothing may change, and no other may appear beside it."""
    place = tmp_path / "victim"
    place.mkdir()
    file = place / "mine"
    file.write_bytes(VICTIM)
    yield file
    assert file.read_bytes() == VICTIM
    assert [one.name for one in place.iterdir()] == ["mine"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_nothing_outside_is_changed_and_nobody_waits(
    name: str, kind: str, played: Path, victim: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    folder = tmp_path / "runs"
    run = folder / "run"
    shutil.copytree(played, run)
    shutil.copytree(played, folder / "other")
    (run / name).unlink(missing_ok=True)
    KINDS[kind](run / name, victim)
    for words in (
        ["runs", str(folder)],
        ["report", str(run)],
        ["report", str(run), "--format", "html", "-o", str(tmp_path / "html")],
        ["compare", str(run), str(folder / "other")],
        ["view", str(folder), "--export", str(tmp_path / "pages")],
        ["export", str(run), "--to", "csv", "-o", str(tmp_path / "csv")],
        ["export", str(run), "-o", str(tmp_path / "eval")],
        ["power", str(run), str(folder / "other")],
        ["rerun", str(run), "--dry-run"],
        ["eval", *_settings(folder), "num_games=2"],
    ):
        assert _run(*words) in (0, 2), words
        said = capsys.readouterr()
        assert "Traceback" not in said.err
    read_live(run)
