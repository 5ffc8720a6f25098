"""What is refused before an application sees it."""

import gzip
import secrets

import pytest
from http_server import app, rules, running

from agentquest.http.guard import (
    Names,
    Refused,
    guard_app,
    host_in,
    page_headers,
)


@pytest.fixture(scope="module")
def server():
    guard = rules(json_only=True, max_body=1000, token="s3cret", open_paths=("/open",))
    with running(guard_app(app(), guard)) as at:
        yield at


@pytest.fixture
def ask(server):
    def asking(*args, **headers):
        return server.ask(*args, **({"Authorization": "Bearer s3cret"} | headers))

    return asking


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1", "[::1]:{port}", "LOCALHOST."])
def test_a_server_answers_to_its_own_names(server, ask, host):
    assert ask(Host=host.format(port=server.port)).status == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("evil.example", 403),
        ("evil.example:{port}", 403),
        ("localhost.evil.example", 403),
        ("192.0.2.7:{port}", 403),
        ("user@localhost", 400),
        ("localhost/x", 400),
        ("localhost:port", 400),
        ("", 400),
    ],
)
def test_a_name_that_was_made_to_point_here_is_refused(server, ask, host, status):
    """Also with the Origin that goes with it, and also for reading."""
    host = host.format(port=server.port)
    refused = ask("GET", Host=host, Origin=f"http://{host}")
    assert refused.status == status
    assert b"error" in refused.content
    assert refused.getheader("X-Content-Type-Options") == "nosniff"


def test_names_can_be_given_and_all_addresses_take_numbers():
    named = Names("10.0.0.5", ["Shop.Example"])
    for host in ("10.0.0.5:80", "shop.example", "localhost:1", "[::1]"):
        named.check_host({"host": host})
    for host in ("10.0.0.6", "other.example"):
        with pytest.raises(Refused):
            named.check_host({"host": host})
    for bound in ("0.0.0.0", "::", ""):
        Names(bound).check_host({"host": "192.168.1.7:3000"})
        with pytest.raises(Refused, match="--allow-host"):
            Names(bound).check_host({"host": "evil.example"})
    with pytest.raises(Refused):  # some resolvers take it for an address, which allows no name
        Names("*").check_host({"host": "evil.example"})
    Names("127.0.0.1", ["*"]).check_host({"host": "any.example"})


def test_hosts_in_headers():
    assert host_in("A.example.:80") == "a.example"
    assert host_in("[::1]:80") == "::1"
    for malformed in ("", ":80", "a:b", "[::1", "a b@c", "a/b", "a?b"):
        assert host_in(malformed) is None


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:{port}", 200),
        ("http://127.0.0.1:1", 403),
        ("http://evil.example", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
    ],
)
def test_pages_of_other_sites_may_not_send(server, ask, origin, status):
    origin = origin.format(port=server.port)
    body, kind = b"{}", "application/json"
    assert ask("POST", "/", body, Origin=origin, Content_Type=kind).status == status
    assert ask("POST", "/", body, Referer=origin, Content_Type=kind).status == status
    assert ask("GET", Origin=origin).status == 200


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "json"])
def test_a_body_must_say_that_it_is_json(ask, kind):
    headers = {"Content_Type": kind} if kind else {}
    refused = ask("POST", "/", b"{}", **headers)
    assert (refused.status, b"application/json" in refused.content) == (415, True)


def test_what_says_json_is_taken(ask):
    for kind in ("application/json", "Application/JSON; charset=utf-8", "application/a2a+json"):
        assert ask("POST", "/", b"{}", Content_Type=kind).content == b"{}"
    assert ask("POST", "/", b"").status == 200  # nothing need not say what it is


def test_a_token_is_asked_for_except_where_all_may_look(server):
    for given in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic s3cret"}):
        refused = server.ask("GET", **given)
        assert (refused.status, refused.getheader("WWW-Authenticate")) == (401, "Bearer")
    assert server.ask("GET", **{"Authorization": "bearer s3cret"}).status == 200
    assert server.ask("GET", "/open").status == 200


def test_a_token_is_compared_in_constant_time(ask, monkeypatch):
    """How long it takes to refuse one tells nothing of how much of it is right."""
    compared = []
    monkeypatch.setattr(secrets, "compare_digest", lambda *both: compared.append(both) or True)
    assert ask("GET", Authorization="Bearer wrong").status == 200
    assert compared == [(b"wrong", b"s3cret")]


def test_a_token_is_not_shown():
    assert "s3cret" not in repr(rules(token="s3cret"))


def test_bodies_are_limited_and_never_unpacked(ask):
    kind = {"Content_Type": "application/json"}
    assert ask("POST", "/", bytes(1001), **kind).status == 413
    assert ask("POST", "/", bytes(1000), **kind).status == 200
    assert ask("POST", "/", b"{}", Content_Encoding="identity", **kind).status == 200
    bomb = gzip.compress(bytes(100_000))
    for encoding in ("gzip", "deflate", "br", "gzip, identity"):
        assert ask("POST", "/", bomb, Content_Encoding=encoding, **kind).status == 415


def test_a_body_in_pieces_is_counted_too(server):
    pieces = (b"x" * 100 for _ in range(50))
    headers = {"Authorization": "Bearer s3cret", "Content_Type": "application/json"}
    assert server.ask("POST", "/", pieces, **headers).status == 413


def test_pages_may_load_what_was_named_and_nothing_else():
    policy = page_headers(img_src="https:", script_src="'self'")["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "img-src 'self' https:" in policy
    assert "script-src 'self'" in policy
