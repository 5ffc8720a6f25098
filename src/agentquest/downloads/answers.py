"""One HTTP request for (the rest of) a file, and what its answer means.

Everything a server may do wrong is told apart here, so that the loop in
`fetching` knows three cases only: bytes to append, try again, give up.
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

from agentquest.downloads.partial import Version

_CONTENT_RANGE = re.compile(r"bytes (?:([0-9]{1,18})-([0-9]{1,18})|\*)/([0-9]{1,18}|\*)")
_MOST_DIGITS = 18
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


class Broken(Exception):
    """This attempt failed; another may succeed. `wait` is what the server asked for."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


class Hopeless(Exception):
    """No further attempt can succeed."""


class Outdated(Exception):
    """The part on disk belongs to another version of the file: start over."""


@dataclass
class Answer:
    """A body to append at `start`; `start` 0 means from the beginning."""

    start: int
    version: Version
    response: http.client.HTTPResponse | None

    def chunk(self, size: int) -> bytes:
        """The next bytes, as soon as there are any; empty at the end."""
        if self.response is None:
            return b""
        try:
            return self.response.read1(size)
        except (OSError, http.client.HTTPException) as error:
            raise Broken(f"the connection broke: {_said(error)}") from error


@contextmanager
def ask(url: str, have: int, known: Version | None, timeout: float) -> Iterator[Answer]:
    """Request `url` from byte `have` on, if the file is still the `known` one."""
    request = urllib.request.Request(url, headers=_headers(have, known))
    try:
        response = _opener().open(request, timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            if error.code == 416 and have:
                yield _already_whole(error.headers, have, known)
                return
            raise _refusal(error) from error
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(error) from error
    with response:
        yield _accepted(response, have, known)


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


def _headers(have: int, known: Version | None) -> dict[str, str]:
    headers = {"User-Agent": "agentquest", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if known is not None and known.validator:
            headers["If-Range"] = known.validator
    return headers


def _accepted(response: http.client.HTTPResponse, have: int, known: Version | None) -> Answer:
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise Hopeless(f"the server sends the file encoded as {encoding}, which was not requested")
    length = _number(response.headers.get("Content-Length"))
    if response.status == 200:
        return Answer(0, _version(response.headers, length), response)
    if response.status != 206 or not have:
        raise Hopeless(f"the server answers with status {response.status}")
    found = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if found is None or found[1] is None or int(found[1]) != have:
        raise Outdated("the server sent a different part of the file than requested")
    total = _number(found[3])
    if total is None and length is not None:
        total = have + length
    version = _version(response.headers, total)
    if known is not None and version.contradicts(known):
        raise Outdated("the file changed on the server")
    return Answer(have, version.completed_by(known), response)


def _already_whole(headers: Message, have: int, known: Version | None) -> Answer:
    """A 416: nothing comes after what we have, so either it is all, or it is something else."""
    found = _CONTENT_RANGE.fullmatch(headers.get("Content-Range", ""))
    known_total = known.total if known is not None else None
    version = _version(headers, _number(found[3]) if found else known_total)
    if version.total != have or (known is not None and version.contradicts(known)):
        raise Outdated("the file on the server is not the one that was partly downloaded")
    return Answer(have, version.completed_by(known), None)


def _version(headers: Message, total: int | None) -> Version:
    return Version(headers.get("ETag"), headers.get("Last-Modified"), total)


def _refusal(error: urllib.error.HTTPError) -> Exception:
    reason = f"the server answers {error.code} {error.reason}"
    if error.code in _WORTH_ANOTHER_TRY:
        return Broken(reason, wait=float(_number(error.headers.get("Retry-After")) or 0))
    return Hopeless(reason)


def _unreachable(error: OSError | http.client.HTTPException) -> Exception:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, http.client.InvalidURL):
        return Hopeless(f"the address is malformed: {reason}")
    if isinstance(reason, ssl.SSLCertVerificationError):
        return Hopeless(f"the server's certificate is not trusted: {reason}")
    return Broken(f"no connection: {_said(reason)}")


def _said(reason: BaseException | str) -> str:
    return str(reason) or type(reason).__name__


def _number(text: str | None) -> int | None:
    """A whole number of a header; one that no file can have is as good as none."""
    if text is None or not text.isascii() or not text.isdigit() or len(text) > _MOST_DIGITS:
        return None
    return int(text)
