"""Ports, and what is said when there is none."""

import asyncio
import errno
import socket

import pytest

from agentquest.errors import UserError
from agentquest.http import sockets
from agentquest.http.sockets import PortInUse, free_port, is_free, listen, url_of


async def test_answers_on_a_kept_connection_do_not_wait_for_more():
    """Nagle's algorithm is off on accepted connections."""
    delays = []

    async def note(reader, writer):
        accepted = writer.get_extra_info("socket")
        delays.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    sock = listen()
    server = await asyncio.start_server(note, sock=sock)
    reader, writer = await asyncio.open_connection(*sock.getsockname())
    await reader.read()
    writer.close()
    server.close()
    assert delays
    assert all(delays)


def test_a_taken_port_is_an_error_that_names_another():
    with listen() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            PortInUse, match=rf"port {port} on 127.0.0.1 is in use .*try --port \d+"
        ):
            listen(port=port)
        with pytest.raises(PortInUse, match="--site-port"):
            listen(port=port, option="--site-port")
        assert not is_free("127.0.0.1", port)
    assert is_free("127.0.0.1", port)
    assert free_port() > 0
    with pytest.raises(UserError, match=r"192\.0\.2\.1 is not an address of this machine"):
        free_port("192.0.2.1")


@pytest.mark.parametrize("number", [errno.EADDRINUSE, errno.EACCES])
def test_where_no_port_is_free_none_is_named(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def refuse(host: str, port: int) -> socket.socket:
        raise OSError(number, "no port is left")

    monkeypatch.setattr(sockets, "_bound", refuse)
    with pytest.raises(UserError, match=r"cannot listen on 127\.0\.0\.1 port 0: no port is left"):
        free_port()


@pytest.mark.parametrize(
    ("host", "port"),
    [
        ("192.0.2.1", 0),
        ("no such host.invalid", 0),
        ("a" * 300, 0),
        ("127.0.0.1", 70_000),
        ("fe80::1", 0),
        ("::ffff:127.0.0.1", 0),
    ],
)
def test_an_address_that_cannot_be_had_is_a_clear_error(host, port):
    with pytest.raises(UserError, match=r"cannot listen|not an address"):
        listen(host, port)


def test_an_address_is_written_for_clients_on_this_machine():
    with listen("localhost") as sock:
        assert url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"
    with listen("0.0.0.0") as sock:
        assert url_of(sock) == f"http://127.0.0.1:{sock.getsockname()[1]}"
