"""The official WebShop files, fetched from where their authors keep them.

They are on a file host made for browsers: it may show a page that asks for
confirmation before a large file, and a page that refuses when too many ask for it. A
page is never taken for data, the confirmation is given, and a refusal is reported
with instructions for downloading by hand.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from urllib.parse import urlencode, urljoin

from agentquest.downloads import Progress, Retry, fetch
from agentquest.downloads.requests import AttemptFailed, DownloadFailed, request_file
from agentquest.errors import NetworkError

OFFICIAL_URL = "https://drive.usercontent.google.com"
_LONGEST_PAGE = 200_000
_PAGE_TIMEOUT_S = 30.0
_LONGEST_TAG = 2000
_LONGEST_NAME = 20
_ATTRIBUTE = re.compile(r"""([a-zA-Z-]{1,40})\s{0,9}=\s{0,9}(?:"([^"]*)"|'([^']*)')""")


@dataclass(frozen=True)
class OfficialFile:
    """One published file, by its name, its id on the file host, its size and its checksum."""

    name: str
    id: str
    size: int
    sha256: str

    def url(self, base: str) -> str:
        """The address that gives the file itself, below the file host's or a mirror's."""
        asked = urlencode({"id": self.id, "export": "download", "confirm": "t"})
        return f"{base.rstrip('/')}/download?{asked}"

    @property
    def by_hand(self) -> str:
        """The address for a browser."""
        return f"https://drive.google.com/uc?{urlencode({'export': 'download', 'id': self.id})}"


_HUMAN = OfficialFile(
    "items_human_ins.json",
    "14Kb5SPBk_jfdLZ_CDBNitW98QLDlKR5O",
    5_137_548,
    "cf78667548a71786e1d9049c24b802e48e1084ad4bb021cae56ce1f6d96954a3",
)
FILES = {
    "small": (
        OfficialFile(
            "items_shuffle_1000.json",
            "1EgHdxQ_YxqIQlvvq5iKlCrkEKR6-j0Ib",
            4_467_013,
            "30a4765c3a327af72d9a9a95a6b2486d516f0fa1d3ecd83681901ce82a21b269",
        ),
        OfficialFile(
            "items_ins_v2_1000.json",
            "1IduG0xl544V_A_jv3tHXC0kyFi7PnyBu",
            147_099,
            "f88a36314a397b53b3d9c3fa5878e5f7b26d35019a51ec83fbedeca61a948f6f",
        ),
        _HUMAN,
    ),
    "all": (
        OfficialFile(
            "items_shuffle.json",
            "1A2whVgOO0euk5O13n2iYDM0bQRkkRduB",
            5_479_720_229,
            "2ef591d65df3af89e972ab72468eb82cbf124d876552d9f3678667edd620a6c8",
        ),
        OfficialFile(
            "items_ins_v2.json",
            "1s2j6NgHljiZzQNL3veZaAiyW_qDEgBNi",
            186_295_270,
            "1d36af476bdb8f82a5da62bd8acdabe54cd8de2fa84010d37da5c4890feb447e",
        ),
        _HUMAN,
    ),
}


def download_webshop(
    folder: Path,
    files: tuple[OfficialFile, ...],
    *,
    base_url: str = OFFICIAL_URL,
    force: bool = False,
    retry: Retry | None = None,
    on_file: Callable[[str], Progress] = lambda name: lambda done, total: None,
) -> tuple[Path, ...]:
    """Have the files of a catalogue in the data folder, whole and checked.

    What is there and sound is not fetched again, unless `force`. `on_file` is called with the
    name of each file that has to be fetched, and gives the callback for its bytes.
    """
    for position, file in enumerate(files):
        target, url, progress = folder / file.name, file.url(base_url), None
        try:
            if force or not target.exists():
                progress = on_file(file.name)
                url = _confirm(url, file)
            fetch(  # checks what is there
                url, target, sha256=file.sha256, size=file.size, progress=progress, retry=retry,
                force=force,
            )  # fmt: skip
        except NetworkError as error:
            raise _by_hand(error, folder, files[position:]) from error
    return tuple(folder / file.name for file in files)


def _confirm(url: str, file: OfficialFile) -> str:
    """The address that gives the file: another one, if the host first shows a page to confirm."""
    page = _page_at(url)
    if page is None:
        return url
    if "confirm" in page.fields:
        asked = urljoin(url, page.action or url).split("?")[0]
        confirmed = f"{asked}?{urlencode(page.fields)}"
        if asked.startswith(("http://", "https://")) and _page_at(confirmed) is None:
            return confirmed
    title = f", titled {page.title.strip()[:100]!r}" if page.title.strip() else ""
    raise NetworkError(f"could not download {file.name}: the host answers with a web page{title}")


def _page_at(url: str) -> "_Page | None":
    """The web page at an address; None for a file, and where nothing can be had at all."""
    try:
        with request_file(url, 0, _PAGE_TIMEOUT_S) as answer:
            response = answer.response
            if response is None or response.headers.get_content_type() != "text/html":
                return None
            text = b""
            while len(text) < _LONGEST_PAGE and (chunk := answer.chunk(_LONGEST_PAGE)):
                text += chunk
            return _Page(text.decode("utf-8", "replace"))
    except (AttemptFailed, DownloadFailed, OSError):
        return None  # fetching meets the same, tries again, and says what is wrong


class _Page:
    """What matters of a page: its title, and the hidden fields of its form.

    Read tag by tag, each up to a bound: the standard library's parser takes time that
    grows with the square of what some pages are long.
    """

    def __init__(self, html: str) -> None:
        self.title = ""
        self.action = ""
        self.fields: dict[str, str] = {}
        for piece in html.split("<")[1:]:
            tag, _, text = piece[:_LONGEST_TAG].partition(">")
            name = tag[:_LONGEST_NAME].partition(" ")[0].lower()
            if name == "title":
                self.title += unescape(text)
            elif name in ("form", "input"):
                given = {key.lower(): unescape(a or b) for key, a, b in _ATTRIBUTE.findall(tag)}
                if name == "form":
                    self.action = given.get("action", "")
                elif given.get("name"):
                    self.fields[given["name"]] = given.get("value", "")


def _by_hand(error: NetworkError, folder: Path, missing: tuple[OfficialFile, ...]) -> NetworkError:
    """The failure, and what to do: which files, where from, where to, and how to check them."""
    reason = str(error).partition("\nTo do it by hand:")[0]
    lines = ["By hand: open each address in a browser, save the file, and run this again."]
    for file in missing:
        lines += [
            f"  {file.by_hand}",
            f"    as {folder / file.name} ({file.size:,} bytes, sha256 {file.sha256})",
        ]
    return NetworkError("\n".join([reason, *lines]))
