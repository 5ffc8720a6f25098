"""Taking a port, and what to say when it cannot be had."""

import errno
import socket
from ipaddress import IPv4Address, IPv6Address, ip_address

from agentquest.errors import UserError
from agentquest.platform import IS_WINDOWS

LOOPBACK = "127.0.0.1"
BACKLOG = 2048
Socket = socket.socket
_LAST_PORT = 65_535


class PortInUse(UserError):
    """The port cannot be had; the text suggests one that can."""


def listen(host: str = LOOPBACK, port: int = 0, option: str = "--port") -> socket.socket:
    """A listening socket; port 0 takes any free one. `option` is how the user names the port.

    Bound before anything is served, so that a clash is an error at once.
    """
    if not 0 <= port <= _LAST_PORT:
        raise UserError(f"cannot listen on port {port}: ports are numbered 0 to {_LAST_PORT}")
    try:
        return _bound(host, port)
    except (OSError, UnicodeError) as error:
        number, reason = getattr(error, "errno", None), getattr(error, "strerror", None) or error
    if number == errno.EADDRNOTAVAIL:
        raise UserError(f"{host} is not an address of this machine: {reason}")
    problem = f"cannot listen on {host} port {port}: {reason}"
    if port == 0:  # there is no free one to name instead
        raise UserError(problem)
    if number == errno.EADDRINUSE:
        raise port_in_use(host, port, option)
    if number == errno.EACCES:
        raise PortInUse(f"{problem}; try {option} {free_port(host)}")
    raise UserError(problem)


def port_in_use(host: str, port: int, option: str, user: str = "another program") -> PortInUse:
    """The error that says who has the port, and names a free one."""
    return PortInUse(
        f"port {port} on {host} is in use by {user}; stop it, or try {option} {free_port(host)}"
    )


def free_port(host: str = LOOPBACK) -> int:
    """A port that was free a moment ago."""
    with listen(host) as probe:
        return int(probe.getsockname()[1])


def is_free(host: str, port: int) -> bool:
    """Whether the port could be taken just now; another program may take it the next moment."""
    try:
        listen(host, port).close()
    except PortInUse:
        return False
    return True


def url_of(sock: socket.socket) -> str:
    """The address that a client on this machine can use; no slash at its end."""
    host, port = sock.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else LOOPBACK
    return write_url(host, port)


def write_url(host: str, port: int) -> str:
    """The address of a host and a port; no slash at its end."""
    host = host.strip("[]")
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def is_loopback(sock: socket.socket) -> bool:
    """Whether what listens on this socket can be reached from this machine only."""
    return ip_address(sock.getsockname()[0]).is_loopback


def parse_address(host: str) -> IPv4Address | IPv6Address | None:
    """An address in numbers, also in brackets; None for a name."""
    try:
        return ip_address(host.strip("[]"))
    except ValueError:
        return None


def _bound(host: str, port: int) -> socket.socket:
    """Like `socket.create_server`, which leaves out the protocol.

    asyncio switches Nagle's algorithm off only for sockets that say they speak
    TCP. Without that, every answer on a kept connection waits 40 ms.
    """
    # `localhost` may mean two addresses; servers are on the one that all clients try.
    named = LOOPBACK if host == "localhost" else host.strip("[]")
    found = socket.getaddrinfo(named, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    family, _, _, _, address = found[0]
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if not IS_WINDOWS:  # there it would let two programs share the port
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except BaseException:
        sock.close()
        raise
    return sock
