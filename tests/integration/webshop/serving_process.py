"""A WebShop server as a process of its own, and plain HTTP to talk to it."""

import json
import os
import re
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from warm_python import Process

START = "from agentquest.cli import main; main()"
_URL = re.compile(r"WebShop for (agents|people|scrapers): (http://\S+)")


class ServerProcess:
    """`agentquest serve webshop`, on free ports of the loopback unless told otherwise."""

    def __init__(self, folder: Path, cache: Path, *options: str, port: int = 0) -> None:
        self.folder = folder
        environment = os.environ | {"AGENTQUEST_CACHE": str(cache), "NO_COLOR": "1"}
        if "--data" not in options:
            options = ("--data", "builtin", *options)
        command = ["-m", "agentquest", "serve", "webshop", "--port", port, *options]
        self.process = Process(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
        self.urls: dict[str, str] = {}
        wanted = {"agents"}
        if "--site" in options:
            wanted.add("people")
        if "--original-pages" in options:
            wanted.add("scrapers")
        assert self.process.stdout is not None
        for _ in range(20):
            line = self.process.stdout.readline()
            found = _URL.match(line)
            if found:
                self.urls[found.group(1)] = found.group(2)
            if wanted <= set(self.urls):
                return
        raise AssertionError(f"the server did not start: {self.urls}")

    @property
    def url(self) -> str:
        return self.urls["agents"]

    @property
    def site(self) -> str:
        return self.urls.get("people") or self.urls["scrapers"]

    @property
    def port(self) -> int:
        return int(self.url.rsplit(":", 1)[1])

    def kill(self) -> None:
        self.process.kill()
        self._ended()

    def stop(self) -> int:
        """Ask it to end in good order; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self._ended()

    def _ended(self) -> int:
        code = self.process.wait(timeout=60)
        if self.process.stdout is not None:
            self.process.stdout.close()
        return code

    def __enter__(self) -> "ServerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class Answer:
    def __init__(self, status: int, body: bytes, headers: Any) -> None:
        self.status = status
        self.body = body
        self.headers = headers

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def send(
    url: str, body: bytes | None = None, headers: dict[str, str] | None = None, method: str = ""
) -> Answer:
    """One request; a refusal is an answer too."""
    request = urllib.request.Request(url, body, headers or {}, method=method or None)
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return Answer(response.status, response.read(), response.headers)
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, error.read(), error.headers)


def post(url: str, fields: Any = None, headers: dict[str, str] | None = None) -> Answer:
    body = b"" if fields is None else json.dumps(fields).encode()
    return send(url, body, {"Content-Type": "application/json"} | (headers or {}))
