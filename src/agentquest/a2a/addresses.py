"""Addresses of agents: which are valid, what may be shown, and which may be called."""

import base64
import ipaddress
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit, urlunsplit

_PORTS = {"http": 80, "https": 443}


def is_address(value: str) -> bool:
    """Whether it is a web address with a host."""
    try:
        parts = urlsplit(value)
        return (
            parts.scheme in _PORTS
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
        )
    except ValueError:
        return False


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
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return address.is_loopback or address.is_unspecified


def same_place(one: str, other: str) -> bool:
    """Whether two addresses are on one server; a change from http to https is allowed."""
    first, second = urlsplit(one), urlsplit(other)
    places = [(parts.scheme, _port(parts)) for parts in (first, second)]
    is_upgrade = places == [("http", 80), ("https", 443)]
    return first.hostname == second.hostname and (places[0] == places[1] or is_upgrade)


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
        self._hosts: set[tuple[str, int | None]] = set()
        self._all = False
        for entry in entries:
            if entry.strip() == "*":
                self._all = True
            else:
                self._hosts.add(_parse_entry(entry.strip()))

    def allows(self, url: str) -> bool:
        """Whether the agent at this address may be called; never if it is not an address."""
        if not is_address(url):
            return False
        parts = urlsplit(url)
        host = parts.hostname or ""
        known = {(host, None), (host, _port(parts))} & self._hosts
        return self._all or is_here(parts) or bool(known)


def _parse_entry(text: str) -> tuple[str, int | None]:
    """Raises ValueError if it contains no host."""
    parts = urlsplit(text if "://" in text else f"//{text}")
    if not parts.hostname:
        raise ValueError(f"{text!r} contains no host")
    if "://" in text:
        return parts.hostname, _port(parts)
    return parts.hostname, parts.port


def _port(parts: SplitResult) -> int:
    return parts.port or _PORTS.get(parts.scheme, 0)
