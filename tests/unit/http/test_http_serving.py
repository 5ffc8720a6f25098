"""Servers end when told to, and half a request holds nobody up."""

import asyncio
import contextlib
import os
import resource
import signal
import socket
import subprocess
import sys
import time

import pytest
from http_server import app, process, rules, running

from agentquest.http.connections import ConnectionLimits
from agentquest.http.guard import guard_app
from agentquest.http.serving import Served, Serving, serve
from agentquest.http.sockets import listen

HALF_HEAD = b"POST / HTTP/1.1\r\nHost: localhost\r\nConte"
HALF_BODY = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
STREAM = b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n"


def connect(at):
    return socket.create_connection((at.host, at.port), timeout=60)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_half_sent_requests_neither_delay_an_end_nor_make_noise(number):
    """Ten minutes are allowed for answers under way; none is."""
    server, at = process()
    held = [connect(at) for _ in range(3)]
    for sock, sent in zip(held, (b"", HALF_HEAD, HALF_BODY), strict=True):
        sock.sendall(sent)
    assert at.ask().status == 200
    server.send_signal(number)
    _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (128 + number, "")
    for sock in held:
        sock.close()


def test_a_signal_before_the_event_loop_is_made_waits_for_it(monkeypatch):
    make = asyncio.events.new_event_loop

    def interrupted():
        os.kill(os.getpid(), signal.SIGINT)
        return make()

    monkeypatch.setattr("asyncio.events.new_event_loop", interrupted)
    try:
        with pytest.raises(SystemExit) as left:
            serve(Served(app(), listen()))
    except KeyboardInterrupt:
        pytest.fail("it was interrupted in the middle")
    assert left.value.code == 130


def test_an_answer_that_never_ends_is_cut_off_without_a_traceback():
    server, at = process(GRACE_S="0.2")
    with connect(at) as sock:
        sock.sendall(STREAM)
        assert b"200 OK" in sock.recv(1000)
        server.send_signal(signal.SIGTERM)
        _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (143, "")


def test_a_second_signal_does_not_wait_for_answers():
    server, at = process()
    with connect(at) as sock:
        sock.sendall(STREAM)
        sock.recv(1000)
        server.send_signal(signal.SIGINT)
        time.sleep(0.5)  # two signals at once are one
        assert server.poll() is None
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (130, "")


@pytest.mark.parametrize("sent", [b"", HALF_HEAD, HALF_BODY])
def test_half_a_request_is_given_up_in_time(sent):
    limits = ConnectionLimits(head_s=0.3, body_s=0.3)
    with running(guard_app(app(), rules()), limits) as at, connect(at) as sock:
        sock.sendall(sent)
        answer = b"".join(iter(lambda: _received(sock), b""))
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")


def test_a_trickle_does_not_extend_the_time():
    with (
        running(guard_app(app(), rules()), ConnectionLimits(head_s=0.5)) as at,
        connect(at) as sock,
    ):
        sock.settimeout(0.05)
        for byte in HALF_HEAD * 100:
            try:
                sock.sendall(bytes([byte]))
                if sock.recv(100) is not None:
                    return  # 408, or the end
            except TimeoutError:
                continue
            except OSError:
                return
    raise AssertionError("the server listened on and on")


def test_a_kept_connection_gets_the_same_time_for_its_next_request():
    with (
        running(guard_app(app(), rules()), ConnectionLimits(head_s=0.3)) as at,
        connect(at) as sock,
    ):
        sock.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert b"200 OK" in sock.recv(1000)
        sock.sendall(HALF_HEAD)
        while _received(sock):
            pass  # ends, or the test does by its time limit


def test_a_slow_answer_is_no_slow_request():
    """Time limits are for what clients send."""
    limits = ConnectionLimits(head_s=0.2, body_s=0.2)
    with running(guard_app(app(), rules()), limits) as at, connect(at) as sock:
        sock.sendall(STREAM)
        got = b""
        while got.count(b"tick") < 20:
            got += sock.recv(1000)


def test_when_all_places_are_taken_the_slowest_makes_room():
    limits = ConnectionLimits(connections=4, head_s=600, body_s=600)
    with running(guard_app(app(), rules()), limits) as at:
        held = [connect(at) for _ in range(30)]
        for sock in held:
            sock.sendall(HALF_HEAD)
        for _ in range(5):
            assert at.ask().status == 200
        for sock in held:
            sock.close()


def test_a_low_limit_of_files_does_not_end_the_service_or_fill_the_log():
    """More half-open connections than files: clients that ask are answered, and little is said."""
    script = (
        "import resource, runpy; resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40));"
        "runpy.run_path({!r}, run_name='__main__')"
    )
    import http_server

    server = subprocess.Popen(
        [sys.executable, "-c", script.format(http_server.__file__)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert server.stdout is not None
    at = http_server._At(server.stdout.readline().strip())
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 200
    held = [connect(at) for _ in range(150)]
    for _ in range(3):
        for sock in held:
            try:
                sock.sendall(b"GET / HTTP/1.1\r\nX")
            except OSError:
                continue  # had to make room
        assert at.ask().status == 200
        time.sleep(1.1)  # asyncio tries again, and complains again, each second
    for sock in held:
        sock.close()
    server.send_signal(signal.SIGTERM)
    _, errors = server.communicate(timeout=60)
    assert server.returncode == 143
    assert len(errors) < 2000, errors[:3000]


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n bad\r\n\r\n",
        b"GET /" + b"a" * 100_000,
        b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        STREAM + b"garbage\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    ],
)
def test_what_is_not_http_is_answered_without_a_word_in_the_log(sent):
    server, at = process(GRACE_S="0.1")
    for _ in range(3):
        with connect(at) as sock:
            try:
                sock.sendall(sent)
                sock.recv(1000)
            except OSError:
                pass  # it may hang up on us
    assert at.ask().status == 200
    server.send_signal(signal.SIGTERM)
    _, errors = server.communicate(timeout=60)
    assert (server.returncode, errors) == (143, "")


async def test_cancelling_ends_the_servers_and_their_applications():
    ended = []

    async def application(scope, receive, send):
        assert scope["type"] == "lifespan"
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        ended.append(True)
        await send({"type": "lifespan.shutdown.complete"})

    serving = Serving([Served(application, listen()), Served(application, listen())])
    task = asyncio.create_task(serving.run())
    for _ in range(1000):
        if serving.started:
            break
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended == [True, True]


async def test_an_application_that_cannot_start_ends_all(capfd):
    from agentquest.errors import UserError

    async def broken(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.failed", "message": "no disk"})

    serving = Serving([Served(guard_app(app(), rules()), listen()), Served(broken, listen())])
    with pytest.raises(UserError, match="could not start"):
        await serving.run()


def test_what_cannot_be_opened_says_why_and_nothing_else(capfd):
    from agentquest.errors import UserError

    @contextlib.asynccontextmanager
    async def broken():
        raise UserError("no disk")
        yield

    with listen() as sock, pytest.raises(UserError, match=r"^no disk$"):
        Serving([Served(app(), sock)]).run_to_end(broken())
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("length", [b"", b"Content-Length: 0\r\n"])
def test_an_application_that_reads_no_body_has_its_time(length):
    """Without a guard around it, which would read the body first."""
    ask = b"GET /endless HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n"
    with running(app(), ConnectionLimits(head_s=0.1, body_s=0.1)) as at, connect(at) as sock:
        sock.sendall(ask)
        got = b""
        while got.count(b"tick") < 20:
            got += sock.recv(1000)
            assert got


def _received(sock):
    try:
        return sock.recv(1000)
    except ConnectionResetError:
        return b""
