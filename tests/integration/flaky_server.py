"""A real HTTP server on loopback that can misbehave, request by request."""

import io
import socket
import threading
import zipfile
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agentquest.downloads import Retry

QUICK = Retry(failures=3, connections=30, first_wait=0.0, longest_wait=0.0, timeout=5.0)


@dataclass
class Site:
    """The files a server offers and what it does wrong with the next requests."""

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    faults: deque[Callable[["Handler", bytes], None]] = field(default_factory=deque)
    always: Callable[["Handler", bytes], None] | None = None
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    url: str = ""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        self.site.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
        self.close_connection = True
        body = self.site.files.get(self.path)
        if body is None:
            self.send_plain(404)
        elif self.site.faults:
            self.site.faults.popleft()(self, body)
        elif self.site.always is not None:
            self.site.always(self, body)
        else:
            self.serve(body)

    def wanted_start(self) -> int | None:
        """Where the requested range begins; None when the whole file is to be sent."""
        asked = self.headers.get("Range")
        if asked is None or not self.site.ranges:
            return None
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def serve(self, body: bytes, stop_after: int | None = None) -> None:
        """Answer as a good server does, then hang up after `stop_after` bytes of the body."""
        start = self.wanted_start()
        if start is not None and start >= len(body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(body)}")
            self.finish_headers(body, 0)
            return
        if start is None:
            self.send_response(200)
            rest = body
        else:
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(body) - 1}/{len(body)}")
            rest = body[start:]
        self.finish_headers(body, len(rest))
        self.wfile.write(rest if stop_after is None else rest[:stop_after])

    def finish_headers(self, body: bytes, length: int) -> None:
        self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()

    def send_plain(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Tests read `site.requests` instead."""


def drop_after(count: int) -> Callable[[Handler, bytes], None]:
    return lambda handler, body: handler.serve(body, stop_after=count)


def status(code: int, **headers: str) -> Callable[[Handler, bytes], None]:
    return lambda handler, body: handler.send_plain(code, **headers)


def announce(length: int) -> Callable[[Handler, bytes], None]:
    """Send the whole file under a wrong Content-Length."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.send_response(200)
        handler.finish_headers(body, length)
        handler.wfile.write(body[:length])

    return fault


def chunked(stop_after: int | None = None, end: bool = True) -> Callable[[Handler, bytes], None]:
    """Send without a length, in chunks; without `end` the last, empty chunk never comes."""

    def fault(handler: Handler, body: bytes) -> None:
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.send_header("Connection", "close")
        handler.end_headers()
        sent = body if stop_after is None else body[:stop_after]
        for at in range(0, len(sent), 1000):
            piece = sent[at : at + 1000]
            handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        if end:
            handler.wfile.write(b"0\r\n\r\n")

    return fault


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    handler = type("SiteHandler", (Handler,), {"site": site})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        site.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def leftovers(folder: Path) -> list[str]:
    """Drafts that a finished transfer or extraction should have removed."""
    return sorted(p.name for p in folder.rglob("*") if ".part" in p.name or p.suffix == ".tmp")


def zipped(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()
