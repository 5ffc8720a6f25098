"""Archives that are damaged, hostile or simply there already."""

import io
import random
import stat
import zipfile
from contextlib import suppress
from pathlib import Path, PurePosixPath

import pytest
from flaky_server import leftovers, zipped

from agentquest.downloads import extract_zip
from agentquest.errors import DataError


def write_zip(tmp_path: Path, files: dict[str, bytes]) -> Path:
    path = tmp_path / "a.zip"
    path.write_bytes(zipped(files))
    return path


def corrupted(archive: bytes, needle: bytes) -> bytes:
    """One flipped byte inside stored content."""
    at = archive.index(needle)
    return archive[:at] + bytes([archive[at] ^ 1]) + archive[at + 1 :]


def stored_zip(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("json_2.1.1/train/x", content)
    return buffer.getvalue()


def test_extraction_keeps_what_the_user_has(tmp_path: Path) -> None:
    archive = write_zip(tmp_path, {"d/": b"", "d/one": b"1", "d/two": b"2"})
    out = tmp_path / "out"
    (out / "d").mkdir(parents=True)
    (out / "d" / "one").write_text("mine")
    done = extract_zip(archive, out)
    assert (done.written, done.kept) == (("d/two",), ("d/one",))
    assert (out / "d" / "one").read_text() == "mine"
    assert extract_zip(archive, out).written == ()
    assert extract_zip(archive, out, force=True).written == ("d/one", "d/two")
    assert (out / "d" / "one").read_text() == "1"
    assert leftovers(out) == []


@pytest.mark.parametrize(
    "name", ["../evil", "a/../../evil", "/evil", "a\\..\\evil", "C:evil", "..", "a/.."]
)
def test_a_name_that_leads_out_stops_everything(tmp_path: Path, name: str) -> None:
    archive = write_zip(tmp_path, {"good": b"1", name: b"2"})
    with pytest.raises(DataError, match="unsafe name"):
        extract_zip(archive, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_special_files_stop_everything(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("good", b"1")
        member = zipfile.ZipInfo("link")
        member.create_system = 3
        member.external_attr = (kind | 0o777) << 16
        archive.writestr(member, "/etc")
    with pytest.raises(DataError, match="link or a special file"):
        extract_zip(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_bomb_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    archive = write_zip(tmp_path, {"a": b"0" * 1_000, "b": b"0" * 1_000_000})
    with pytest.raises(DataError, match="more than the limit of 500000"):
        extract_zip(archive, tmp_path / "out", max_bytes=500_000)
    assert not (tmp_path / "out").exists()


def test_a_size_that_the_directory_understates_writes_no_file(tmp_path: Path) -> None:
    content = b"0" * 100_000
    raw = bytearray(zipped({"a": content}))
    at = raw.index(b"PK\x01\x02") + 24
    raw[at : at + 4] = (10).to_bytes(4, "little")
    path = tmp_path / "a.zip"
    path.write_bytes(raw)
    with pytest.raises(DataError, match="not a valid zip"):
        extract_zip(path, tmp_path / "out", max_bytes=50)
    assert not (tmp_path / "out" / "a").exists()


def test_damage_found_while_extracting_leaves_no_torn_file(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(corrupted(stored_zip(b"some stored content"), b"some stored"))
    with pytest.raises(DataError, match="not a valid zip"):
        extract_zip(path, tmp_path / "out")
    assert [p for p in (tmp_path / "out").rglob("*") if p.is_file()] == []


def test_two_members_for_one_place_are_refused(tmp_path: Path) -> None:
    archive = write_zip(tmp_path, {"v1/x": b"1", "v2/x": b"2"})
    with pytest.raises(DataError, match="two files for v/x"):
        extract_zip(archive, tmp_path / "out", place=lambda n: PurePosixPath("v", *n.parts[1:]))


@pytest.mark.parametrize(
    "content", [b"", b"not a zip", zipped({"a": b"1"})[:-5]], ids=["empty", "text", "cut off"]
)
def test_what_is_no_archive_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.zip is not a valid zip archive"):
        extract_zip(path, tmp_path / "out")
    with pytest.raises(DataError, match="cannot read the archive"):
        extract_zip(tmp_path / "absent.zip", tmp_path / "out")


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    raw = bytearray(zipped({"a": b"1"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    path = tmp_path / "a.zip"
    path.write_bytes(raw)
    with pytest.raises(DataError, match="encrypted"):
        extract_zip(path, tmp_path / "out")


def overlapping(copies: int) -> bytes:
    """Many entries of one content: the table of contents names the same bytes again."""
    whole = zipped({"a": b"some content " * 1000})
    start = whole.index(b"PK\x01\x02")
    end = whole.index(b"PK\x05\x06")
    entry = whole[start:end]
    entries = b"".join(entry[:-1] + bytes([97 + number]) for number in range(copies))
    tail = bytearray(whole[end:])
    tail[8:10] = tail[10:12] = copies.to_bytes(2, "little")
    tail[12:16] = len(entries).to_bytes(4, "little")
    return whole[:start] + entries + bytes(tail)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (overlapping(5), "share the same bytes"),
        (zipped({"a": b"0" * 40_000_000}), "times its size"),
    ],
    ids=["overlapping", "shrunk beyond belief"],
)
def test_what_was_made_to_harm_is_refused_unread(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    with pytest.raises(DataError, match=said):
        extract_zip(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_any_damage_to_an_archive_is_one_clear_error(tmp_path: Path) -> None:
    """Single bytes and cuts, in archives of each kind of packing that Python knows."""
    rng = random.Random(7)
    path = tmp_path / "a.zip"
    for packing in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", packing) as archive:
            archive.writestr("d/one", b"some content " * 50)
            archive.writestr("d/two", rng.randbytes(80))
        whole = buffer.getvalue()
        for at in range(len(whole)):
            hurt = bytearray(whole)
            hurt[at] ^= rng.randrange(1, 256)
            path.write_bytes(hurt if rng.random() < 0.8 else hurt[:at])
            with suppress(DataError):
                extract_zip(path, tmp_path / "out", force=True)
