"""One HTTP request for (the rest of) a file, and what its response means.

Everything that a server may do wrong is sorted out here, so that the loop in `fetching` has
only three cases: append bytes, try again, give up.
"""

import http.client
import re
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message

from agentquest.words import parse_whole_number

_CONTENT_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-[0-9]{1,18}|\*)/([0-9]{1,18}|\*)")
_MOST_DIGITS = 18
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class AttemptFailed(Exception):
    """This attempt failed; another may succeed. `wait` is what the server asked for.

    `starts_over` says that the server does not continue the part on disk.
    """

    def __init__(self, reason: str, wait: float = 0.0, starts_over: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.starts_over = starts_over


class DownloadFailed(Exception):
    """No further attempt can succeed."""


@dataclass
class FileResponse:
    """A body to append at `start`, and the size of the whole file if the server says it.

    `start` 0 means from the beginning; without a `response` nothing is missing.
    """

    start: int
    total: int | None
    response: http.client.HTTPResponse | None

    def chunk(self, size: int) -> bytes:
        """The next bytes, as soon as there are any; empty at the end."""
        if self.response is None:
            return b""
        try:
            return self.response.read1(size)
        except (OSError, http.client.HTTPException) as error:
            raise AttemptFailed(f"the connection broke: {_describe(error)}") from error


@contextmanager
def request_file(url: str, have: int, timeout: float) -> Iterator[FileResponse]:
    """Request `url` from byte `have` on."""
    headers = {"User-Agent": "agentquest", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    request = urllib.request.Request(url, headers=headers)
    try:
        response = _opener().open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:
                yield _already_whole(error.headers, have)
                return
            raise _refusal(error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(error) from error
    with response:
        yield _read_response(response, have)


def _opener() -> urllib.request.OpenerDirector:
    """HTTP and HTTPS through the user's proxies, and no other scheme, not even by redirect."""
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        urllib.request.HTTPRedirectHandler(),
        urllib.request.HTTPErrorProcessor(),
    ):
        opener.add_handler(handler)
    return opener


def _read_response(response: http.client.HTTPResponse, have: int) -> FileResponse:
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise DownloadFailed(
            f"the server sends the file encoded as {encoding}, which was not requested"
        )
    length = _number(response.headers.get("Content-Length"))
    if response.status == 200:
        return FileResponse(0, length, response)
    if response.status != 206 or not have:
        raise DownloadFailed(f"the server answers with status {response.status}")
    found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if found is None or found[1] is None or int(found[1]) != have:
        reason = "the server sent a different part of the file than requested"
        raise AttemptFailed(reason, starts_over=True)
    total = _number(found[2])
    if total is None and length is not None:
        total = have + length
    return FileResponse(have, total, response)


def _already_whole(headers: Message, have: int) -> FileResponse:
    """A 416: nothing follows what we have, so it is either complete or another file."""
    found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
    if found is None or _number(found[2]) != have:
        reason = "the file on the server is not the one that was partly downloaded"
        raise AttemptFailed(reason, starts_over=True)
    return FileResponse(have, have, None)


def _refusal(error: urllib.error.HTTPError) -> Exception:
    reason = f"the server answers {error.code} {error.reason}"
    if error.code in _WORTH_ANOTHER_TRY:
        return AttemptFailed(reason, wait=float(_number(error.headers.get("Retry-After")) or 0))
    return DownloadFailed(reason)


def _unreachable(error: OSError | http.client.HTTPException) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, http.client.InvalidURL):
        return DownloadFailed(f"the address is malformed: {reason}")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return DownloadFailed(f"the server's certificate is not trusted: {reason}")
    return AttemptFailed(f"no connection: {_describe(reason)}")


def _describe(reason: BaseException | str) -> str:
    return str(reason) or type(reason).__name__


def _number(text: str | None) -> int | None:
    """A whole number of a header, or None if it is missing or no possible file size."""
    return None if text is None else parse_whole_number(text, _MOST_DIGITS)
