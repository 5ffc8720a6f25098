"""A server of ours in a process of its own, as its users start it."""

import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from warm_python import Process

_URL = re.compile(r"http://[\w.:\[\]]+")


@contextmanager
def served(*arguments: str, **environment: str) -> Iterator[str]:
    """Start `agentquest ARGUMENTS`; gives the address that it says it has."""
    process = Process(
        ["-m", "agentquest", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **environment},
    )
    assert process.stdout is not None
    said: list[str] = []
    url = None
    for line in process.stdout:
        said.append(line)
        if found := _URL.search(line):
            url = found.group()
            break
    drain = threading.Thread(target=lambda: said.extend(process.stdout or ()), daemon=True)
    drain.start()
    try:
        assert url is not None, "".join(said)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        drain.join(timeout=5)
