"""Downloads against a real server that breaks, lies, changes its mind or is not there."""

import hashlib
import random
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flaky_server import (
    QUICK,
    Handler,
    Site,
    announce,
    chunked,
    closed_port,
    drop_after,
    leftovers,
    serving,
    status,
)

from agentquest.downloads import Retry, fetch
from agentquest.errors import DataError, NetworkError, UserError

CONTENT = random.Random(7).randbytes(50_000)
OTHER = random.Random(8).randbytes(50_000)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving(Site(files={"/data.bin": CONTENT})) as running:
        yield running


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data.bin"


def published(content: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}


def fetch_data(site: Site, target: Path, **given: Any) -> Path:
    return fetch(f"{site.url}/data.bin", target, retry=QUICK, **{**published(CONTENT), **given})


def start_part(site: Site, target: Path, size: int) -> None:
    """Let a first call break off for good after `size` bytes."""
    site.faults.append(drop_after(size))
    once = Retry(failures=1, connections=1, first_wait=0.0)
    with pytest.raises(NetworkError):
        fetch(f"{site.url}/data.bin", target, retry=once, **published(CONTENT))
    assert target.with_name("data.bin.part").read_bytes() == CONTENT[:size]


def test_a_plain_download_leaves_the_file_and_nothing_else(site: Site, target: Path) -> None:
    seen: list[tuple[int, int | None]] = []
    fetch_data(site, target, progress=lambda n, t: seen.append((n, t)))
    assert target.read_bytes() == CONTENT
    assert leftovers(target.parent) == []
    assert seen[0] == (0, 50_000)
    assert seen[-1] == (50_000, 50_000)
    assert seen == sorted(seen)


def test_a_file_that_is_there_is_not_fetched_again_unless_forced(site: Site, target: Path) -> None:
    target.write_bytes(b"mine")
    fetch_data(site, target, **published(b"mine"))
    assert target.read_bytes() == b"mine"
    assert site.requests == []
    with pytest.raises(DataError, match="sha256"):
        fetch_data(site, target)
    fetch_data(site, target, force=True)
    assert target.read_bytes() == CONTENT


def test_dropped_connections_are_resumed_where_they_broke(site: Site, target: Path) -> None:
    site.faults.extend([drop_after(10_000), drop_after(0), drop_after(15_000), drop_after(1)])
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT
    ranges = [headers.get("range") for _, headers in site.requests]
    assert ranges == [None, "bytes=10000-", "bytes=10000-", "bytes=25000-", "bytes=25001-"]
    assert leftovers(target.parent) == []


def test_a_later_call_goes_on_from_the_part_of_an_earlier_one(site: Site, target: Path) -> None:
    start_part(site, target, 20_000)
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT
    assert site.requests[-1][1]["range"] == "bytes=20000-"


@pytest.mark.parametrize("size", [100, 50_000])
def test_a_part_of_another_file_is_noticed_and_discarded(
    site: Site, target: Path, size: int
) -> None:
    target.with_name("data.bin.part").write_bytes(b"x" * size)
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT


def test_a_server_that_ignores_ranges_sends_it_all_again(site: Site, target: Path) -> None:
    site.ranges = False
    site.faults.append(drop_after(30_000))
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT
    assert site.requests[1][1]["range"] == "bytes=30000-"


def test_a_server_that_ignores_ranges_and_always_breaks_is_given_up(
    site: Site, target: Path
) -> None:
    site.ranges = False
    site.always = drop_after(30_000)
    with pytest.raises(NetworkError, match="closed at 30000 of 50000 bytes"):
        fetch_data(site, target)
    assert len(site.requests) == 1 + QUICK.failures


@pytest.mark.parametrize("replacement", [OTHER, OTHER[:49_000], CONTENT + OTHER, OTHER[:9]])
def test_a_file_that_changed_meanwhile_is_never_mixed(
    site: Site, target: Path, replacement: bytes
) -> None:
    start_part(site, target, 20_000)
    site.files["/data.bin"] = replacement
    fetch_data(site, target, **published(replacement))
    assert target.read_bytes() == replacement


def test_a_complete_part_is_recognised_by_a_416(site: Site, target: Path) -> None:
    site.faults.append(chunked(end=False))
    fetch_data(site, target, size=60_000)
    assert target.read_bytes() == CONTENT
    assert [h.get("range") for _, h in site.requests] == [None, "bytes=50000-"]


def test_a_part_that_is_known_to_be_complete_needs_no_network(site: Site, target: Path) -> None:
    start_part(site, target, 20_000)
    target.with_name("data.bin.part").write_bytes(CONTENT)
    before = len(site.requests)
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT
    assert len(site.requests) == before


def test_a_416_about_another_file_means_starting_over(site: Site, target: Path) -> None:
    start_part(site, target, 20_000)
    site.faults.append(status(416, Content_Range="bytes */300"))
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize("content_range", ["bytes */40000", "bytes */*", "nonsense"])
def test_a_416_does_not_make_a_part_of_unknown_total_whole(
    site: Site, target: Path, content_range: str
) -> None:
    site.faults.append(chunked(stop_after=30_000, end=False))
    site.faults.append(status(416, Content_Range=content_range))
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT


def test_a_206_for_another_place_is_not_appended(site: Site, target: Path) -> None:
    start_part(site, target, 20_000)

    def elsewhere(handler, body):  # type: ignore[no-untyped-def]
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 0-99/{len(body)}")
        handler.finish_headers(body, 100)
        handler.wfile.write(body[:100])

    site.faults.append(elsewhere)
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT


def test_chunked_answers_work_and_their_breaks_are_noticed(site: Site, target: Path) -> None:
    seen: list[int | None] = []
    site.faults.append(chunked(stop_after=30_000, end=False))
    fetch_data(site, target, progress=lambda n, t: seen.append(t))
    assert target.read_bytes() == CONTENT
    assert seen[0] is None
    assert seen[-1] == 50_000


def test_an_announced_length_that_never_comes_is_an_error(site: Site, target: Path) -> None:
    site.always = announce(60_000)
    with pytest.raises(NetworkError, match="of 60000 bytes"):
        fetch_data(site, target, size=60_000)
    assert not target.exists()


def test_an_announced_length_that_is_too_small_is_caught_by_the_checksum(
    site: Site, target: Path
) -> None:
    site.always = announce(40_000)
    with pytest.raises(NetworkError, match="sha256"):
        fetch_data(site, target)
    assert not target.exists()
    assert leftovers(target.parent) == []


def test_the_wrong_content_is_fetched_once_more_and_then_refused(site: Site, target: Path) -> None:
    with pytest.raises(NetworkError, match="damaged every time"):
        fetch_data(site, target, sha256="0" * 64)
    assert len(site.requests) == 2
    assert not target.exists()


@pytest.mark.parametrize("code", [400, 401, 403, 404, 410])
def test_a_refusal_is_final(site: Site, target: Path, code: int) -> None:
    site.always = status(code)
    with pytest.raises(NetworkError, match=f"answers {code}"):
        fetch_data(site, target)
    assert len(site.requests) == 1


@pytest.mark.parametrize("code", [429, 500, 502, 503])
def test_a_passing_fault_of_the_server_is_tried_again(site: Site, target: Path, code: int) -> None:
    site.faults.extend([status(code, Retry_After="0"), status(code)])
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT


def test_a_lasting_fault_of_the_server_is_given_up(site: Site, target: Path) -> None:
    site.always = status(500)
    with pytest.raises(NetworkError, match="answers 500"):
        fetch_data(site, target)
    assert len(site.requests) == QUICK.failures


def test_redirects_are_followed_with_the_range(site: Site, target: Path) -> None:
    start_part(site, target, 20_000)
    site.files["/old.bin"] = CONTENT
    site.faults.append(status(302, Location="/data.bin"))
    fetch(f"{site.url}/old.bin", target, retry=QUICK, **published(CONTENT))
    assert target.read_bytes() == CONTENT
    assert site.requests[-1][0] == "/data.bin"
    assert site.requests[-1][1]["range"] == "bytes=20000-"


def test_an_answer_in_another_encoding_is_refused(site: Site, target: Path) -> None:
    def encoded(handler, body):  # type: ignore[no-untyped-def]
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.finish_headers(body, 0)

    site.always = encoded
    with pytest.raises(NetworkError, match="gzip"):
        fetch_data(site, target)


def test_an_empty_file_is_a_file(site: Site, target: Path) -> None:
    site.files["/data.bin"] = b""
    assert fetch_data(site, target, **published(b"")).read_bytes() == b""


def test_no_server_at_all_says_what_to_do_by_hand(target: Path) -> None:
    url = f"http://127.0.0.1:{closed_port()}/data.bin"
    with pytest.raises(NetworkError) as caught:
        fetch(url, target, retry=QUICK, **published(CONTENT))
    text = str(caught.value)
    assert url in text
    assert f"save the file as {target}" in text
    assert "no connection" in text
    assert "kept" not in text


def test_a_transfer_given_up_says_what_is_kept(site: Site, target: Path) -> None:
    site.faults.append(drop_after(20_000))
    site.always = drop_after(0)
    with pytest.raises(NetworkError, match=r"20000 bytes received are kept in .*\.part"):
        fetch_data(site, target)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://host/x", "data.bin", "http://", "http://[x", "http://a:b/"]
)
def test_only_web_addresses_are_fetched(target: Path, url: str) -> None:
    with pytest.raises(UserError, match="not an http"):
        fetch(url, target, retry=QUICK, **published(CONTENT))


def test_a_folder_that_cannot_be_made_is_no_network_error(site: Site, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write"):
        fetch_data(site, tmp_path / "file" / "data.bin")


@pytest.mark.parametrize("told", [True, False], ids=["announced", "in pieces"])
def test_a_file_larger_than_it_may_be_is_not_taken(site: Site, target: Path, told: bool) -> None:
    if not told:
        site.always = chunked()
    with pytest.raises(NetworkError, match="larger than the limit of 30000 bytes"):
        fetch_data(site, target, size=30_000)
    assert leftovers(target.parent) == []
    assert len(site.requests) == 1


def test_a_disk_that_takes_no_more_is_one_clear_error(site: Site, target: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, before[1]))
    try:
        with pytest.raises(DataError, match=r"cannot write .*data\.bin"):
            fetch_data(site, target)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("number", ["9" * 5000, "\u00b2"])
def test_a_length_that_no_file_has_is_none(site: Site, target: Path, number: str) -> None:
    def fault(handler: Handler, body: bytes) -> None:
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes 20000-{number}/{number}")
        handler.finish_headers(body, 0)

    start_part(site, target, 20_000)
    site.faults.append(fault)
    fetch_data(site, target)
    assert target.read_bytes() == CONTENT
