"""The official WebShop files, from a local server that can refuse as the real host does."""

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from flaky_server import QUICK, Handler, Site, closed_port, drop_after, serving

from agentquest.benchmarks.webshop.download import (
    FILES,
    OFFICIAL_URL,
    OfficialFile,
    _Page,
    download_webshop,
)
from agentquest.downloads import Progress
from agentquest.errors import DataError, NetworkError
from growth import MOST, growth, repeated
from warm_python import agentquest

CONTENT = {"items_shuffle_1000.json": b"[1, 2, 3]" * 50_000, "items_ins_v2_1000.json": b"{}"}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")


def official(name: str, content: bytes) -> OfficialFile:
    return OfficialFile(name, f"id-{name}", len(content), hashlib.sha256(content).hexdigest())


OURS = tuple(official(name, content) for name, content in CONTENT.items())


def site_with(content: dict[str, bytes]) -> Site:
    return Site(files={official(name, body).url(""): body for name, body in content.items()})


def html(text: str) -> Callable[[Handler, bytes], None]:
    def answer(handler: Handler, body: bytes) -> None:
        page = text.encode()
        handler.send_response(200)
        handler.send_header("Content-Type", "text/html; charset=utf-8")
        handler.send_header("Content-Length", str(len(page)))
        handler.end_headers()
        handler.wfile.write(page)

    return answer


def test_the_official_files_by_address_and_checksum() -> None:
    small, everything = FILES["small"], FILES["all"]
    assert [file.name for file in small] == [
        "items_shuffle_1000.json",
        "items_ins_v2_1000.json",
        "items_human_ins.json",
    ]
    assert [file.size for file in everything] == [5_479_720_229, 186_295_270, 5_137_548]
    for file in (*small, *everything):
        assert re.fullmatch("[0-9a-f]{64}", file.sha256)
        assert file.url(OFFICIAL_URL) == (
            f"https://drive.usercontent.google.com/download?id={file.id}&export=download&confirm=t"
        )


def test_files_arrive_with_progress_and_are_not_fetched_again(tmp_path: Path) -> None:
    told: dict[str, list[tuple[int, int | None]]] = {}

    def on_file(name: str) -> Progress:
        steps = told.setdefault(name, [])
        return lambda done, total: steps.append((done, total))

    with serving(site_with(CONTENT)) as site:
        for _ in range(2):
            paths = download_webshop(
                tmp_path, base_url=site.url, files=OURS, retry=QUICK, on_file=on_file
            )
        asked = len(site.requests)
    assert [path.read_bytes() for path in paths] == list(CONTENT.values())
    assert {name: steps[-1] for name, steps in told.items()} == {
        name: (len(body), len(body)) for name, body in CONTENT.items()
    }
    assert asked == 2 * len(OURS), "once to see that it is no page, once for the bytes"


def test_a_broken_transfer_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with serving(site_with(CONTENT)) as site:
        site.faults.extend([lambda handler, body: handler.serve(body), drop_after(100_000)])
        download_webshop(tmp_path, base_url=site.url, files=OURS[:1], retry=QUICK)
        ranges = [headers.get("range") for _, headers in site.requests]
    assert (tmp_path / OURS[0].name).read_bytes() == CONTENT[OURS[0].name]
    assert any(asked is not None and asked != "bytes=0-" for asked in ranges)


def test_a_page_that_asks_for_confirmation_is_confirmed(tmp_path: Path) -> None:
    file, body = OURS[0], CONTENT[OURS[0].name]
    confirmed = f"/really?id={file.id}&confirm=yes&uuid=1-2"
    form = (
        '<html><head><title>Virus scan warning</title></head><body><form action="/really">'
        f'<input type="hidden" name="id" value="{file.id}"><input name="confirm" value="yes">'
        '<input type="hidden" name="uuid" value="1-2"><input type="submit"></form></body></html>'
    )
    site = site_with(CONTENT)
    site.files[confirmed] = body
    with serving(site):
        site.faults.append(html(form))
        download_webshop(tmp_path, base_url=site.url, files=(file,), retry=QUICK)
    assert (tmp_path / file.name).read_bytes() == body
    assert site.requests[-1][0] == confirmed


def test_a_page_instead_of_the_file_is_refused_and_says_what_to_do(tmp_path: Path) -> None:
    with serving(site_with(CONTENT)) as site:
        site.always = html("<title>Quota exceeded</title><p>Too many users</p>")
        with pytest.raises(NetworkError) as error:
            download_webshop(tmp_path, base_url=site.url, files=OURS, retry=QUICK)
    text = str(error.value)
    assert "answers with a web page, titled 'Quota exceeded'" in text
    for file in OURS:
        assert f"https://drive.google.com/uc?export=download&id={file.id}" in text
        assert f"{tmp_path / file.name} ({file.size:,} bytes, sha256 {file.sha256})" in text
    assert list(tmp_path.iterdir()) == []


def test_an_unreachable_host_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=r"(?s)no connection.*By hand.*sha256"):
        download_webshop(
            tmp_path, base_url=f"http://127.0.0.1:{closed_port()}", files=OURS, retry=QUICK
        )


def test_what_was_put_there_by_hand_is_checked_and_used(tmp_path: Path) -> None:
    for name, body in CONTENT.items():
        (tmp_path / name).write_bytes(body)
    nowhere = f"http://127.0.0.1:{closed_port()}"
    download_webshop(tmp_path, base_url=nowhere, files=OURS, retry=QUICK)
    (tmp_path / OURS[1].name).write_bytes(b"another file")
    with pytest.raises(DataError, match=r"items_ins_v2_1000\.json exists but is damaged"):
        download_webshop(tmp_path, base_url=nowhere, files=OURS, retry=QUICK)


def test_a_damaged_file_is_never_kept(tmp_path: Path) -> None:
    wrong = {OURS[0].name: b"x" * 1000}
    with (
        serving(site_with(wrong)) as site,
        pytest.raises(NetworkError, match=r"(?s)damaged every time.*By hand"),
    ):
        download_webshop(tmp_path, base_url=site.url, files=OURS[:1], retry=QUICK)
    assert list(tmp_path.iterdir()) == []


def test_the_command_refuses_what_does_not_fit_and_reports_a_refusal(tmp_path: Path) -> None:
    refused = agentquest("download", "webshop", "--size", "huge")
    assert refused.returncode == 2
    assert "'small', 'all'" in refused.stderr
    refused = agentquest("download", "alfworld", "--size", "small")
    assert "there is no option --size" in refused.stderr
    site = Site(files={file.url(""): b"x" for file in FILES["small"]})
    site.always = html("<title>Sign in</title>")
    with serving(site):
        here = ("--data-path", tmp_path, "--base-url", site.url)
        done = agentquest("download", "webshop", *here)
    assert done.returncode == 2
    assert "titled 'Sign in'" in done.stderr
    assert "By hand" in done.stderr


@pytest.mark.parametrize("piece", ["<!", "<a ", "<input name=", "<input name='", "</", "<title"])
def test_reading_a_page_costs_no_more_than_its_length(piece: str) -> None:
    assert growth(_Page, repeated(piece)) < MOST
