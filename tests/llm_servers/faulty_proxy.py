"""A proxy on loopback that spoils answers on their way from a sound model server.

It knows no provider: a fault takes the sound answer's body and gives the bytes that are sent
instead. So all wire formats, whole and streamed, meet the same kinds of faults.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from email.utils import formatdate
from typing import Any

import aiohttp

# The whole answer, head included; None: nothing ever comes.
Fault = Callable[[bytes], bytes | None]
_DEEP = 300
_WORDS = "This exceeds the maximum context length; prompt is too long."
_SAID = ("content", "text", "delta", "partial_json", "arguments", "input", "args", "thinking")
_COUNTS = ("usage", "usageMetadata")


def http(status: int, body: bytes = b"", *more: str, length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status} X", "Connection: close", *more]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return "\r\n".join([*lines, "", ""]).encode() + body


def _status(status: int, *more: str, body: object = None) -> Fault:
    content = b"" if body is None else json.dumps(body).encode()
    return lambda sound: http(status, content, *more)


def _error(status: int, message: str) -> dict[str, Any]:
    return {"error": {"code": status, "type": "overloaded_error", "message": message}}


def _body(spoil: Callable[[bytes], bytes], *more: str) -> Fault:
    return lambda sound: http(200, spoil(sound), *more)


def _parsed(change: Callable[[Any], Any]) -> Fault:
    """Change the object, or each event of the stream."""

    def spoil(sound: bytes) -> bytes:
        if not sound.startswith((b"data:", b"event:")):
            return json.dumps(change(json.loads(sound))).encode()
        return b"".join(
            b"data: " + json.dumps(change(event)).encode() + b"\n\n" for event in _events(sound)
        )

    return _body(spoil)


def _events(sound: bytes) -> list[Any]:
    lines = [line for line in sound.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line.removeprefix(b"data: ")) for line in lines]


def _replaced(names: tuple[str, ...], value: Any, only: type = object) -> Fault:
    def change(node: Any) -> Any:
        if isinstance(node, list):
            return [change(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {
            name: value if name in names and isinstance(old, only) else change(old)
            for name, old in node.items()
        }

    return _parsed(change)


def _counted(value: Any) -> Fault:
    """Every count and the cost are this."""

    def change(node: Any) -> Any:
        if not isinstance(node, dict):
            return node
        return {
            name: {**dict.fromkeys(old, value), "cost": value}
            if name in _COUNTS and isinstance(old, dict)
            else change(old)
            for name, old in node.items()
        }

    return _parsed(change)


def _added(value: Any) -> Fault:
    return _parsed(lambda node: {**node, "metadata": value})


def _with_error(sound: bytes) -> bytes:
    """In a stream it comes after the model's words; else it comes instead of them."""
    error = json.dumps(_error(503, _WORDS)).encode()
    if not sound.startswith((b"data:", b"event:")):
        return error
    return sound[: len(sound) // 2].rpartition(b"\n\n")[0] + b"\n\ndata: " + error + b"\n\n"


def _nested(levels: int) -> Any:
    deep: Any = []
    for _ in range(levels):
        deep = [deep]
    return deep


FAULTS: dict[str, Fault] = {
    # Who is asked to wait waits, but not for ever.
    "429": _status(429, body=_error(429, "Too many requests.")),
    "429, seconds": _status(429, "Retry-After: 0.01"),
    "429, milliseconds": _status(429, "retry-after-ms: 10"),
    "429, date": lambda sound: http(429, b"", f"Retry-After: {formatdate(usegmt=True)}"),
    "429, 1e9 seconds": _status(429, "Retry-After: 1e9"),
    "429, year 9999": _status(429, "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"),
    "429, negative": _status(429, "Retry-After: -5"),
    "429, NaN": _status(429, "Retry-After: NaN"),
    "429, many digits": _status(429, f"Retry-After: {'9' * 5000}"),
    "429, no date": _status(429, "Retry-After: 99 Foo 99999999999 99:99:99"),
    "429, absurd words": _status(429, body=_error(429, f"try again in {'9' * 400}m1s")),
    **{str(status): _status(status) for status in (408, 409, 425, 500, 502, 503, 504, 529)},
    "500, words of a context": _status(500, body=_error(500, _WORDS)),
    "503, words of a context": _status(503, body=_error(503, _WORDS)),
    **{str(status): _status(status) for status in (101, 204, 206, 301, 302, 304, 307)},
    # What is no answer.
    "closed at once": lambda sound: b"",
    "silence": lambda sound: None,
    "no HTTP": lambda sound: b"hello\r\n\r\n" + sound,
    "endless header": lambda sound: b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
    "length that is none": lambda sound: b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" + sound,
    "chunk that is none": lambda sound: (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" + sound
    ),
    "shorter than announced": lambda sound: http(200, sound[:-9], length=len(sound)),
    "not the announced packing": _body(lambda sound: sound, "Content-Encoding: gzip"),
    "half": _body(lambda sound: sound[: len(sound) // 2]),
    "empty": _body(lambda sound: b""),
    "too large": _body(lambda sound: sound + b" " * 300_000),
    "null": _body(lambda sound: b"null"),
    "list": _body(lambda sound: b"[]"),
    "text": _body(lambda sound: b'"look"'),
    "page": _body(lambda sound: b"<html><body>Welcome</body></html>", "Content-Type: text/html"),
    "no UTF-8": _body(lambda sound: sound.replace(b'"', b'"\xff', 9)),
    "twice": _body(lambda sound: sound + b"{}" if sound[:1] == b"{" else sound[:60] + sound),
    "deep": _body(lambda sound: b"[" * 100_000),
    # An answer, but not a reply.
    "error in 200": _status(200, body=_error(503, "Overloaded")),
    "error after words": _body(_with_error),
    "no choice": _replaced(("choices", "candidates"), [], list),
    "number for text": _replaced(_SAID, 5, str),
    "list for text": _replaced(_SAID, ["look"], str),
    "object for text": _replaced(_SAID, {"a": 1}, str),
    "text for parts": _replaced(("choices", "content", "output", "candidates"), "look", list),
    "text for an object": _replaced(
        ("message", "content", "delta", "content_block", "response"), "look", dict
    ),
    # A reply all the same.
    "no counts": _replaced(_COUNTS, None),
    "counts as text": _replaced(_COUNTS, "many"),
    **{
        f"counts of {str(value)[:9]}": _counted(value)
        for value in (10**400, 1.7e308, -1, float("nan"), True, "7", [1], 1e19)
    },
    "half a surrogate": _added("\ud800"),
    "deep metadata": _added(_nested(_DEEP)),
    "old line ends": _body(lambda sound: sound.replace(b"\n", b"\r")),
}


class FaultyProxy:
    """`async with FaultyProxy(origin) as proxy:` spoils every `nth` answer, each kind in turn."""

    def __init__(
        self, origin: str, faults: Mapping[str, Fault] = FAULTS, nth: int = 4, most: int = 10_000
    ) -> None:
        self._origin = origin
        self._faults = faults
        self._nth = nth
        self._most = most
        self._count = 0
        self.served: Counter[str] = Counter()

    async def __aenter__(self) -> "FaultyProxy":
        self._session = aiohttp.ClientSession()
        self._server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._server.close()
        await self._session.close()

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = int(head.lower().partition("content-length:")[2].partition("\r\n")[0])
            body = await reader.readexactly(length)
            address = self._origin + head.split(" ")[1]
            async with self._session.post(address, data=body) as response:
                sound = await response.read()
                assert response.status == 200, sound
            answer = self._spoil(sound)
            if answer is None:
                await reader.read()  # until the client has had enough
            else:
                writer.write(answer)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client is gone
        finally:
            writer.close()

    def _spoil(self, sound: bytes) -> bytes | None:
        self._count += 1
        if self._count % self._nth or self.served.total() >= self._most:
            return http(200, sound)
        name = list(self._faults)[self.served.total() % len(self._faults)]
        self.served[name] += 1
        return self._faults[name](sound)
