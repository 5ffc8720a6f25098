"""The three ALFWorld archives, from a local server, into one tree of games."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from flaky_server import QUICK, Site, closed_port, drop_after, serving, zipped

from agentquest.benchmarks.alfworld.download import (
    ARCHIVES,
    OFFICIAL_URL,
    Archive,
    default_data_folder,
    download_alfworld,
)
from agentquest.downloads import Progress
from agentquest.errors import DataError, NetworkError


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def alfworld_site(top_of_games: str = "json_2.1.3") -> Site:
    trial = "valid_seen/some_task-Thing-None-Place-1/trial_T1"
    contents: list[dict[str, bytes]] = [
        {"json_2.1.1/": b"", f"json_2.1.1/{trial}/traj_data.json": b"{}"},
        {f"json_2.1.1/{trial}/initial_state.pddl": b"(define)"},
        {f"{top_of_games}/{trial}/game.tw-pddl": b"{}"},
    ]
    return Site(
        files={
            f"/{archive.release}/{archive.name}": zipped(files)
            for archive, files in zip(ARCHIVES, contents, strict=True)
        }
    )


def tree(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def own_archives(site: Site) -> tuple[Archive, ...]:
    """The test's archives under the official names."""
    return tuple(
        replace(archive, sha256=hashlib.sha256(content).hexdigest())
        for archive, content in zip(ARCHIVES, site.files.values(), strict=True)
    )


TRIAL = "json_2.1.1/valid_seen/some_task-Thing-None-Place-1/trial_T1"
GAME_FILES = [f"{TRIAL}/{n}" for n in ("game.tw-pddl", "initial_state.pddl", "traj_data.json")]
LISTS = sorted(f".agentquest/{archive.name}.json" for archive in ARCHIVES)


def test_the_official_addresses() -> None:
    assert [archive.url(OFFICIAL_URL) for archive in ARCHIVES] == [
        "https://github.com/alfworld/alfworld/releases/download/0.2.2/json_2.1.1_json.zip",
        "https://github.com/alfworld/alfworld/releases/download/0.2.2/json_2.1.1_pddl.zip",
        "https://github.com/alfworld/alfworld/releases/download/0.4.2/json_2.1.3_tw-pddl.zip",
    ]


@pytest.mark.parametrize("top", ["json_2.1.1", "json_2.1.3", "json_2.1.3_tw-pddl"])
def test_three_archives_become_one_tree(tmp_path: Path, top: str) -> None:
    begun: list[str] = []

    def on_archive(name: str) -> Progress:
        begun.append(name)
        return lambda done, total: None

    with serving(alfworld_site(top)) as site:
        site.faults.append(drop_after(50))
        results = download_alfworld(
            tmp_path,
            base_url=site.url + "/",
            archives=own_archives(site),
            retry=QUICK,
            on_archive=on_archive,
        )
    assert tree(tmp_path) == LISTS + GAME_FILES
    assert begun == [archive.name for archive in ARCHIVES]
    assert [(r.written, r.kept, r.present) for r in results] == [(1, 0, False)] * 3


def test_a_second_call_needs_no_network_until_something_is_missing(tmp_path: Path) -> None:
    with serving(alfworld_site()) as site:
        download_alfworld(tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK)
        before = len(site.requests)
        again = download_alfworld(
            tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK
        )
        assert len(site.requests) == before
        assert all(r.present for r in again)
        (tmp_path / TRIAL / "game.tw-pddl").unlink()
        results = download_alfworld(
            tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK
        )
    assert [r.present for r in results] == [True, True, False]
    assert tree(tmp_path) == LISTS + GAME_FILES


def test_the_users_own_files_stay_unless_forced(tmp_path: Path) -> None:
    mine = tmp_path / TRIAL / "game.tw-pddl"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with serving(alfworld_site()) as site:
        results = download_alfworld(
            tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK
        )
        assert mine.read_text() == "mine"
        assert (results[2].written, results[2].kept) == (0, 1)
        download_alfworld(
            tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK, force=True
        )
    assert mine.read_text() == "{}"


def test_without_network_every_archive_is_named_and_files_put_by_hand_are_used(
    tmp_path: Path,
) -> None:
    base, site = f"http://127.0.0.1:{closed_port()}", alfworld_site()
    with pytest.raises(NetworkError) as caught:
        download_alfworld(tmp_path, base_url=base, archives=own_archives(site), retry=QUICK)
    for archive in ARCHIVES:
        assert archive.url(base) in str(caught.value)
        assert str(tmp_path / archive.name) in str(caught.value)
    for path, content in site.files.items():
        (tmp_path / Path(path).name).write_bytes(content)
    download_alfworld(tmp_path, base_url=base, archives=own_archives(site), retry=QUICK)
    names = [archive.name for archive in ARCHIVES]
    assert tree(tmp_path) == sorted(LISTS + GAME_FILES + names)


def test_only_the_published_bytes_are_taken(tmp_path: Path) -> None:
    with serving(alfworld_site()) as site, pytest.raises(NetworkError, match="its sha256 is"):
        download_alfworld(tmp_path, base_url=site.url, retry=QUICK)
    assert tree(tmp_path) == []


def test_an_archive_of_something_else_is_refused(tmp_path: Path) -> None:
    with serving(alfworld_site("other")) as site, pytest.raises(DataError, match="unexpected file"):
        download_alfworld(tmp_path, base_url=site.url, archives=own_archives(site), retry=QUICK)


def test_the_data_folder_is_where_alfworld_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALFWORLD_DATA", str(tmp_path))
    assert default_data_folder() == tmp_path
    monkeypatch.delenv("ALFWORLD_DATA")
    assert default_data_folder() == Path.home() / ".cache" / "alfworld"
