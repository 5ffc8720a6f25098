"""Replies cached on disk, so that a run can be repeated without asking the model again.

One file per entry, named by the SHA-256 of the whole request. It holds the reply and its
checksum, never the request or the key. A damaged entry counts as absent and is rewritten.
Only complete replies are cached.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

from agentquest.files import write_atomically
from agentquest.llms.types import Reply, ReplyKind

VERSION = 2


def request_key(url: str, body: bytes, seed: int | None = None) -> str:
    """The name of a request: where it goes and every byte of it.

    And the seed of the call, as not every API takes one: trials must not share replies.
    """
    return hashlib.sha256(url.encode() + b"\n%r\n" % (seed,) + body).hexdigest()


class ResponseCache:
    """Replies in files below `directory`."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def path(self, key: str) -> Path:
        """The file of an entry, whether it exists or not."""
        return self._directory / key[:2] / f"{key}.json"

    def get(self, key: str) -> Reply | None:
        """The reply kept under a key, marked as cached; None if there is no sound one."""
        try:
            entry = json.loads(self.path(key).read_bytes())
            if entry["version"] != VERSION or entry["checksum"] != _checksum(entry["reply"]):
                return None
            return Reply.model_validate({**entry["reply"], "cached": True})
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply, if it is complete and did not come from here."""
        if reply.kind is not ReplyKind.COMPLETE or reply.cached:
            return
        data = reply.model_dump(mode="json")
        entry = {"version": VERSION, "checksum": _checksum(data), "reply": data}
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(entry))


def _checksum(data: Any) -> str:
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()
