"""Talking to a WebShop server over HTTP: three routes, JSON in and out.

The client names its session in a header, so that several can share one of our
servers; the original server knows one shopper only and ignores the name.
"""

import json
import urllib.error
import urllib.request
import uuid
from typing import Any
from urllib.parse import urlsplit

from agentquest.errors import ConfigError, NetworkError

SESSION_HEADER = "X-Session"
TIMEOUT = 60.0


class ShopClient:
    """One shopper on a server at `base_url`."""

    def __init__(self, base_url: str, timeout: float = TIMEOUT) -> None:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ConfigError(f"base_url must be an http address, not {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self.timeout = timeout
        self.session = uuid.uuid4().hex
        self.data_hash = ""  # a server does not say what it sells

    def reset(self, session: int | str | None = None) -> dict[str, Any]:
        body = {} if session is None else {"session": session}
        return self._post("reset", body)

    def step(self, action: str) -> dict[str, Any]:
        return self._post("step", {"action": action})

    def _post(self, route: str, body: dict[str, Any]) -> dict[str, Any]:
        url = f"{self.base_url}/{route}"
        request = urllib.request.Request(  # the scheme was checked above
            url,
            json.dumps(body).encode(),
            {"Content-Type": "application/json", SESSION_HEADER: self.session},
            method="POST",
        )
        try:
            with urllib.request.urlopen(request, timeout=self.timeout) as response:
                answer = json.loads(response.read())
        except urllib.error.HTTPError as error:
            text = error.read().decode("utf-8", "replace")[:500]
            raise NetworkError(f"{url}: the server answered {error.code}: {text}") from error
        except (urllib.error.URLError, OSError) as error:
            reason = getattr(error, "reason", error)
            raise NetworkError(f"{url}: the WebShop server cannot be reached ({reason})") from error
        except ValueError as error:
            raise NetworkError(f"{url}: the server's answer is not JSON") from error
        return _checked(answer, url)


def _checked(answer: Any, url: str) -> dict[str, Any]:
    """The answer, if it is one of a WebShop server."""
    if not isinstance(answer, dict) or not isinstance(answer.get("obs"), str):
        raise NetworkError(f"{url}: the answer has no 'obs'; is this a WebShop server?")
    actions = answer.get("available_actions")
    if not isinstance(actions, dict) or not isinstance(actions.get("clickables"), list):
        raise NetworkError(f"{url}: the answer has no 'available_actions'")
    return answer
