"""A damaged cache is noticed, said and made again; no page ever changes by it."""

import hashlib
import json
import logging
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from agentquest.benchmarks.webshop.catalogue import integrity
from agentquest.benchmarks.webshop.catalogue.catalogue import open_catalogue
from agentquest.benchmarks.webshop.shop import goals as goals_module
from agentquest.benchmarks.webshop.shop.shop import Shop
from agentquest.errors import DataError

QUERIES = ("red case", "soft cotton shirt for men", "tea", "lamp <q>", "gift set natural")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A cache with one catalogue, and what it shows."""
    cache = tmp_path_factory.mktemp("made")
    return cache, shown(open_catalogue(cache=cache))


@pytest.fixture
def cache(made, tmp_path):
    return shutil.copytree(made[0], tmp_path / "cache")


def folder_of(cache):
    (folder,) = (path for path in cache.iterdir() if path.is_dir())
    return folder


def shown(catalogue):
    """All that a catalogue can show, as one digest."""
    digest = hashlib.sha256()
    for number in range(len(catalogue)):
        digest.update(catalogue.product(number).to_row())
        digest.update(str(catalogue.number(catalogue.product(number).asin)).encode())
    for query in QUERIES:
        digest.update(str(catalogue.index.search(query)).encode())
    for kind in ("synthetic", "human"):
        goals = Shop(catalogue, goals=kind).goals
        digest.update(str([goals[n] for n in range(0, len(goals), 97)]).encode())
    digest.update(str(catalogue.in_category("beauty") + catalogue.with_query("tea")).encode())
    return digest.hexdigest()


def truncated(path):
    size = path.stat().st_size
    os.truncate(path, size // 2)


def flipped(path):
    """One bit, with the times put back as they were."""
    content = bytearray(path.read_bytes())
    content[len(content) * 2 // 3] ^= 16
    stat = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def zeroed(path):
    path.write_bytes(bytes(path.stat().st_size))


def lengthened(path):
    with path.open("ab") as file:
        file.write(b"\0" * 512)


def removed(path):
    path.unlink()


@pytest.mark.parametrize("harm", [truncated, flipped, zeroed, lengthened, removed])
def test_every_damage_of_every_file_is_noticed(made, cache, harm):
    sound, folder = folder_of(made[0]), folder_of(cache)
    names = sorted(path.name for path in folder.iterdir())
    assert len(names) > 20
    for name in names:
        assert integrity.damage(folder) is None
        harm(folder / name)
        assert name in str(integrity.damage(folder))
        shutil.copy2(sound / name, folder / name)


def test_a_damaged_catalogue_is_made_again_and_that_is_said(made, cache, caplog):
    flipped(folder_of(cache) / "rows.bin")
    with caplog.at_level(logging.WARNING):
        catalogue = open_catalogue(cache=cache)
    assert "rows.bin has changed" in caplog.text
    assert "is rebuilt" in caplog.text
    assert shown(catalogue) == made[1]
    caplog.clear()
    assert shown(open_catalogue(cache=cache)) == made[1]
    assert not caplog.text


def test_a_sound_cache_is_opened_without_a_word(made, cache, caplog):
    assert shown(open_catalogue(cache=cache)) == made[1]
    assert not caplog.text


def test_a_process_reads_an_unchanged_catalogue_once(cache, monkeypatch):
    read = []
    digest = integrity.hash_file
    monkeypatch.setattr(integrity, "hash_file", lambda path: read.append(path) or digest(path))
    for _ in range(3):
        open_catalogue(cache=cache)
    assert len(read) == len(set(read)) > 20


def test_a_large_catalogue_is_read_once_by_all_processes(made, cache, monkeypatch):
    monkeypatch.setattr(integrity, "_LARGE", 0)
    open_catalogue(cache=cache)
    integrity._sound.clear()  # as in another process
    monkeypatch.setattr(integrity, "hash_file", lambda path: pytest.fail("was read again"))
    open_catalogue(cache=cache)
    monkeypatch.undo()
    monkeypatch.setattr(integrity, "_LARGE", 0)
    flipped(folder_of(cache) / "rows.bin")
    integrity._sound.clear()
    assert shown(open_catalogue(cache=cache)) == made[1]


def test_what_was_built_is_synced(tmp_path, monkeypatch):
    synced = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(_name(number)) or fsync(number))
    folder = open_catalogue(cache=tmp_path).folder
    names = {name.name for name in synced}
    assert {path.name for path in folder.iterdir()} <= names
    assert tmp_path.name in names, "the folder's own name"


def _name(number):
    return Path(f"/proc/self/fd/{number}").readlink()


def test_a_damaged_cache_that_cannot_be_removed_is_an_error(cache, monkeypatch):
    truncated(folder_of(cache) / "rows.bin")

    def refuse(self, target):
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr("pathlib.Path.rename", refuse)
    with pytest.raises(DataError, match="cannot be removed"):
        open_catalogue(cache=cache)


@pytest.mark.parametrize("harm", [truncated, flipped, zeroed, removed])
def test_a_damaged_order_of_goals_is_made_again(tmp_path, monkeypatch, harm):
    monkeypatch.setattr(goals_module, "WORTH_KEEPING", 10)
    order, state = goals_module.shuffle_goals(500, tmp_path)
    (path,) = tmp_path.glob("order-*.npz")
    harm(path)
    again, state_again = goals_module.shuffle_goals(500, tmp_path)
    assert np.array_equal(order, again)
    assert state == state_again


def test_a_note_of_another_digest_is_not_believed(tmp_path):
    """One changed letter in it would otherwise be another data set in all records."""
    data = tmp_path / "data"
    data.mkdir()
    from agentquest.benchmarks.webshop.catalogue.builtin import official_files

    for name, content in official_files().items():
        (data / name).write_bytes(content)
    cache = tmp_path / "cache"
    digest = open_catalogue(data, cache=cache).digest
    for note in (cache / "digests").iterdir():
        content = json.loads(note.read_text())
        content["sha256"] = "0" * 64
        note.write_text(json.dumps(content))
    assert open_catalogue(data, cache=cache).digest == digest
