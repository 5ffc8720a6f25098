"""On which addresses a server needs a token: decided once, by what the socket is bound to."""

import socket

import pytest

from agentquest.errors import ConfigError, UserError
from agentquest.http.access import Access


@pytest.fixture
def names(monkeypatch):
    """Names that stand for addresses, as a resolver would say."""
    known = {"here.example": "127.0.0.1", "sixth.example": "::1", "outside.example": "0.0.0.0"}
    real = socket.getaddrinfo

    def resolve(host, *more, **named):
        return real(known.get(host, host), *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)


HERE = ["127.0.0.1", "127.1", "2130706433", "127.9.9.9", "localhost", "::1", "[::1]"]
ELSEWHERE = ["0.0.0.0", "::", "0", "outside.example"]


@pytest.mark.parametrize("host", [*HERE, "here.example", "sixth.example"])
def test_on_this_machine_none_is_needed(names, host):
    Access(host).listen().close()


@pytest.mark.parametrize("host", ELSEWHERE)
def test_elsewhere_one_is(names, host):
    with pytest.raises(ConfigError, match="set AGENTQUEST_TOKEN, or use --insecure-no-token"):
        Access(host).listen()
    Access(host, token="s3cret").listen().close()
    Access(host, insecure=True).listen().close()


@pytest.mark.parametrize(
    "host", ["::ffff:127.0.0.1", "[::ffff:0.0.0.0]", "", "/tmp/a.sock", "unix:/tmp/a.sock"]
)
def test_no_address_goes_round_the_decision(host):
    """An IPv4 address within an IPv6 one would be two kinds at once; the others are none."""
    with pytest.raises(UserError, match="cannot listen on"):
        Access(host, token="s3cret").listen()


def test_pages_that_ask_for_none_are_served_elsewhere_only_if_that_is_said():
    with pytest.raises(ConfigError, match=r"ask for no token.* --insecure-no-token"):
        Access("0.0.0.0", token="s3cret").listen(asks_token=False)
    Access("0.0.0.0", insecure=True).listen(asks_token=False).close()
    Access().listen(asks_token=False).close()


def test_a_refused_server_leaves_its_port_free():
    with pytest.raises(ConfigError):
        Access("0.0.0.0").listen(port := _free())
    Access("0.0.0.0", token="s3cret").listen(port).close()


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_empty_variable_is_no_token(monkeypatch):
    monkeypatch.setenv("AGENTQUEST_TOKEN", "")
    assert Access.read("127.0.0.1", None, False).token is None
    monkeypatch.setenv("AGENTQUEST_TOKEN", "s3cret")
    access = Access.read("127.0.0.1", None, False)
    assert access.token == "s3cret"
    assert "s3cret" not in repr(access)


def test_a_token_that_no_header_can_carry_is_refused_and_not_served(monkeypatch):
    """The server would run and turn everybody away."""
    monkeypatch.setenv("AGENTQUEST_TOKEN", " s3cret\n")
    assert Access.read("127.0.0.1", None, False).token == "s3cret"
    for token in ("schlüssel", "s3\ncret", "s3\x1bcret"):
        monkeypatch.setenv("AGENTQUEST_TOKEN", token)
        with pytest.raises(ConfigError, match="visible ASCII characters"):
            Access.read("127.0.0.1", None, False)


def test_the_environment_may_permit_other_machines_as_the_option_does(monkeypatch) -> None:
    assert not Access.read("127.0.0.1").insecure
    monkeypatch.setenv("AGENTQUEST_INSECURE_NO_TOKEN", "1")
    assert Access.read("127.0.0.1").insecure
