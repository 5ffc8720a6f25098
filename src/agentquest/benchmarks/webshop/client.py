"""Talking to a WebShop server over HTTP: three routes, JSON in and out.

The client names its session in a header, so that several can share one of our
servers; the original server has a single session and ignores the name. An answer is
checked completely before it is used, and is bounded in size and time.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
import uuid
from typing import Any

from agentquest.errors import ConfigError, NetworkError
from agentquest.records.usage import read_number
from agentquest.words import is_web_address

SESSION_HEADER = "X-Session"
TIMEOUT = 60.0
LONGEST_ANSWER = 16 << 20
_PIECE = 1 << 16
_LONGEST_REFUSAL = 500  # characters of a refusal


class ShopClient:
    """One shopper on a server at `base_url`; `token` is for servers that ask for one."""

    def __init__(self, base_url: str, token: str | None = None) -> None:
        if not is_web_address(base_url):
            raise ConfigError(f"base_url must be an http address, not {base_url!r}")
        self.base_url = base_url.rstrip("/")
        self.session = uuid.uuid4().hex
        self.data_hash = ""  # a server need not say what it sells
        self.valid = True  # nor whether it carried out the last action
        self._token = token
        self._about: dict[str, Any] | None = None

    def reset(self, session: int | str | None = None) -> dict[str, Any]:
        """Begin a task: that of a number, or one that the server draws. Returns the checked answer.

        Raises NetworkError when the server cannot be reached, or answers like no shop.
        """
        body = {} if session is None else {"session": session}
        return _check_answer(*self._ask("reset", body))

    def step(self, action: str) -> dict[str, Any]:
        """Take one action; returns and raises as `reset` does."""
        return _check_answer(*self._ask("step", {"action": action}))

    def about(self) -> dict[str, Any]:
        """What the server says of itself; the original says nothing."""
        if self._about is None:
            try:
                answer, _ = self._ask("healthz", None)
            except NetworkError:
                answer = None
            self._about = answer if isinstance(answer, dict) else {}
        return self._about

    def _ask(self, route: str, body: dict[str, Any] | None) -> tuple[Any, str]:
        """What a route answers, and its address."""
        url = f"{self.base_url}/{route}"
        headers = {"Content-Type": "application/json", SESSION_HEADER: self.session}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        content = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, content, headers)  # the scheme was checked above
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                text = _read_body(response, url)
        except urllib.error.HTTPError as error:
            with error:
                reason = error.read(_LONGEST_REFUSAL).decode("utf-8", "replace")
            raise NetworkError(f"{url}: the server answered {error.code}: {reason}") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or str(error) or type(error).__name__
            raise NetworkError(f"{url}: the WebShop server cannot be reached ({reason})") from error
        try:
            return json.loads(text), url
        except (ValueError, RecursionError) as error:
            raise NetworkError(f"{url}: the server's answer is not JSON") from error


def _read_body(response: http.client.HTTPResponse, url: str) -> bytes:
    deadline = time.monotonic() + TIMEOUT
    received = bytearray()
    while piece := response.read1(_PIECE):
        received += piece
        if len(received) > LONGEST_ANSWER:
            raise NetworkError(f"{url}: the answer is larger than {LONGEST_ANSWER} bytes")
        if time.monotonic() > deadline:
            raise NetworkError(f"{url}: the answer took longer than {TIMEOUT:g} seconds")
    return bytes(received)


def _check_answer(answer: Any, url: str) -> dict[str, Any]:
    """The answer, if it is one of a WebShop server."""
    if not isinstance(answer, dict) or not isinstance(answer.get("obs"), str):
        raise NetworkError(f"{url}: the answer has no 'obs'; is this a WebShop server?")
    actions = answer.get("available_actions")
    if not isinstance(actions, dict) or not _are_texts(actions.get("clickables")):
        raise NetworkError(f"{url}: the answer has no 'available_actions'")
    if not isinstance(actions.get("has_search_bar"), bool):
        raise NetworkError(f"{url}: the answer does not say whether there is a search bar")
    reward = read_number(answer.get("reward", 0.0), "the reward of a WebShop server", most=1)
    if reward is None or not isinstance(answer.get("done", False), bool):
        raise NetworkError(f"{url}: 'reward' must be a number from 0 to 1, 'done' true or false")
    return answer


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
