"""Request bodies within a bound, which counts what a body becomes and not how it was packed."""

import zlib
from collections.abc import Mapping

from starlette.types import Message, Receive, Scope

from agentquest.http.answers import Refused

MAX_BODY = 64 * 1024
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS  # finds out by itself which of the two


class Disconnected(Exception):
    """The client left before its request was complete: nobody waits for an answer."""


class Unpacker:
    """Bytes as they were before they were packed, never more than `limit` of them.

    `encoding` is a Content-Encoding. Raises Refused for one that is unknown, for more
    than the limit, and for damage; at most `limit` bytes are held at any time.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        kind = encoding.strip().lower()
        if kind not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise Refused(415, f"the encoding {kind[:50]!r} is not supported")
        self._packed = None if kind in ("", "identity") else zlib.decompressobj(_GZIP_OR_ZLIB)
        self._limit = limit
        self._body = bytearray()

    def feed(self, data: bytes) -> None:
        """Take the next piece of the body as it arrived."""
        if self._packed is not None:
            try:
                data = self._packed.decompress(data, self._limit - len(self._body) + 1)
            except zlib.error as error:
                raise Refused(400, "the body is not compressed as its header says") from error
        self._body += data
        if len(self._body) > self._limit:
            raise Refused(413, f"the body is larger than {self._limit} bytes")

    def whole(self) -> bytes:
        """The unpacked body; raises Refused if a packed one has not come to its end."""
        if self._packed is not None and not self._packed.eof:
            raise Refused(400, "the compressed body is incomplete")
        return bytes(self._body)


def has_body(headers: Mapping[str, str]) -> bool:
    """Whether the headers announce a body, of known length or not."""
    return headers.get("content-length", "0") != "0" or "transfer-encoding" in headers


async def read_body(headers: Mapping[str, str], receive: Receive, limit: int) -> bytes:
    """The whole body, unpacked."""
    announced = headers.get("content-length", "")
    if announced.isdigit() and (len(announced) > 15 or int(announced) > limit):
        raise Refused(413, f"the body is larger than {limit} bytes")
    unpacker = Unpacker(headers.get("content-encoding", "") if has_body(headers) else "", limit)
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise Disconnected
        unpacker.feed(message.get("body", b""))
        if not message.get("more_body", False):
            return unpacker.whole()


def with_body(scope: Scope, receive: Receive, body: bytes) -> tuple[Scope, Receive]:
    """The request again, with a body that is already here."""
    told = [
        (name, value)
        for name, value in scope["headers"]
        if name not in (b"content-length", b"content-encoding", b"transfer-encoding")
    ]
    told.append((b"content-length", str(len(body)).encode()))
    message: Message | None = {"type": "http.request", "body": body, "more_body": False}

    async def again() -> Message:
        nonlocal message
        if message is None:
            return await receive()
        given, message = message, None
        return given

    return {**scope, "headers": told}, again
