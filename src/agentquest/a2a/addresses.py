"""Addresses of agents: which are valid, what may be shown, and which may be called."""

import base64
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

from agentquest.http.sockets import parse_address
from agentquest.words import is_web_address

_PORTS = {"http": 80, "https": 443}


def find_fault(value: str) -> str:
    """What keeps a text from being a web address, in words; empty if it is one.

    Signs that nobody can see are refused by name: some programs drop them, others end there, and
    what was checked would not be what is called.
    """
    unseen = next((sign for sign in value if not sign.isprintable() or sign in " \\"), None)
    if unseen is not None:
        return f"must not contain the character U+{ord(unseen):04X}"
    return "" if is_web_address(value) else "must be an address like http://localhost:9002/"


class Address(NamedTuple):
    """An address that can be shown, and the Authorization header made from its password."""

    url: str
    authorization: str | None


def without_password(url: str) -> Address:
    """Split `http://user:password@host/`, so that the password is never shown or saved."""
    parts = urlsplit(url)
    credentials, at, host = parts.netloc.rpartition("@")
    if not at:
        return Address(url, None)
    plain = unquote(credentials).encode()
    return Address(
        urlunsplit(parts._replace(netloc=host)), f"Basic {base64.b64encode(plain).decode()}"
    )


def is_here(parts: SplitResult) -> bool:
    """Whether the address is on this machine."""
    host = parts.hostname or ""
    address = parse_address(host)
    if address is None:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def origin_of(url: str) -> tuple[str, str, int]:
    """Scheme, host and port: what two addresses of one server have in common."""
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 0)


def through(proxy: str, url: str) -> str:
    """Send an address on this machine through a proxy; others stay as they are."""
    parts, gateway = urlsplit(url), urlsplit(proxy)
    if not is_here(parts):
        return url
    return urlunsplit(parts._replace(scheme=gateway.scheme, netloc=gateway.netloc))


class AllowList:
    """The addresses that may be called: those on this machine, and those listed.

    An entry is a host, a host and port, an address, or `*` for all.
    """

    def __init__(self, entries: Iterable[str] = ()) -> None:
        # Scheme, host and port; None where an entry says nothing.
        self._named: list[tuple[str | None, str, int | None]] = []
        self._all = False
        for entry in entries:
            if entry.strip() == "*":
                self._all = True
            else:
                self._named.append(_parse_entry(entry.strip()))

    def allows(self, url: str) -> bool:
        """Whether the agent at this address may be called; never if it is not an address."""
        if find_fault(url):
            return False
        return self._all or is_here(urlsplit(url)) or self.names(url)

    def names(self, url: str) -> bool:
        """Whether an entry names this address, by its host at least; `*` names none."""
        origin = origin_of(url)
        return any(
            all(part is None or part == here for part, here in zip(entry, origin, strict=True))
            for entry in self._named
        )


def _parse_entry(text: str) -> tuple[str | None, str, int | None]:
    """Raises ValueError if it contains no host."""
    parts = urlsplit(text if "://" in text else f"//{text}")
    if not parts.hostname:
        raise ValueError(f"{text!r} contains no host")
    if "://" in text:
        return origin_of(text)
    return None, parts.hostname, parts.port
