"""Which Host and Origin headers are ours.

A web page can make a browser on this machine send requests here. Two things
give it away. Its own address, in the Origin header, is not the one that was
asked. Or, where the page's name was made to point to this machine after it was
loaded (DNS rebinding), both agree, but the name is not one of ours.
"""

import socket
from collections.abc import Collection, Mapping
from ipaddress import ip_address
from urllib.parse import urlsplit

from agentquest.http.answers import Refused

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_SHOWN = 100


class Names:
    """The names that a server answers to: the loopback's, that of its address, and those given.

    On all addresses at once (0.0.0.0) it also answers to any address in numbers, which
    no DNS can bend, and to the machine's own name. `origins` are web sites whose pages may
    send requests, written as `https://example.org`.
    """

    def __init__(self, bound: str, more: Collection[str] = (), origins: Collection[str] = ()):
        self.origins = frozenset(origin.rstrip("/").lower() for origin in origins)
        self.hosts = _LOOPBACK_NAMES | {_plain(name) for name in (bound, *more)}
        self.any_number = _is_unspecified(bound)
        if self.any_number:
            self.hosts |= {socket.gethostname().lower()}

    def check_host(self, headers: Mapping[str, str]) -> None:
        """Raise Refused unless the Host header is a name that this server answers to."""
        named = headers.get("host", "")
        host = host_in(named)
        if host is None:
            raise Refused(400, "the request has no valid Host header")
        if host not in self.hosts and not (self.any_number and _is_number(host)):
            shown = named[:_LONGEST_SHOWN]
            text = f"this server does not answer to the name {shown!r}; allow it"
            raise Refused(403, f"{text} with --allow-host")

    def check_origin(self, method: str, headers: Mapping[str, str]) -> None:
        """Browsers name the page's origin with every such request; programs name none."""
        if method in _READING:
            return
        origin = headers.get("origin", headers.get("referer"))
        if origin is None or origin.rstrip("/").lower() in self.origins:
            return
        try:
            asking = urlsplit(origin).netloc.lower()
        except ValueError:
            asking = ""
        if asking != headers.get("host", "").lower():
            raise Refused(403, "requests from pages of other web sites are refused")


def host_in(value: str) -> str | None:
    """The host in a Host header, without its port; None when it is malformed."""
    try:
        parts = urlsplit(f"//{value}")
        host = parts.hostname
        _ = parts.port  # raises if it is not a number
    except ValueError:
        return None
    if not host or parts.netloc != value or "@" in value or parts.path:
        return None
    return host.rstrip(".").lower()


def _plain(host: str) -> str:
    return host.strip("[]").rstrip(".").lower()


def _is_number(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_unspecified(host: str) -> bool:
    host = _plain(host)
    return not host or (_is_number(host) and ip_address(host).is_unspecified)
