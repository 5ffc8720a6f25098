"""Addresses: which may be asked, which are one server's, and what of them is shown."""

import pytest

from agentquest.a2a.addresses import (
    AllowList,
    find_fault,
    origin_of,
    through,
    without_password,
)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:9002/",
        "http://127.0.0.1/",
        "http://127.3.4.5:1/",
        "http://[::1]:9/",
        "http://0.0.0.0:9002/",
    ],
)
def test_this_machine_may_always_be_asked(url):
    assert AllowList().allows(url)


@pytest.mark.parametrize(
    "url",
    [
        "http://169.254.169.254/latest/",
        "http://10.0.0.1/",
        "http://localhost.evil.example/",
        "http://localhost@evil.example/",
        "http://2130706433/",
        "http://127.1/",
        "http://0x7f000001/",
        "file:///etc/passwd",
        "ftp://localhost/",
        "localhost:9002",
    ],
)
def test_others_may_not(url):
    assert not AllowList(["agent.example"]).allows(url)


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        ("agent.example", "https://agent.example:8443/a", "https://other.example/"),
        ("agent.example:81", "http://agent.example:81/", "http://agent.example/"),
        ("https://agent.example/x", "https://agent.example/y", "http://agent.example/"),
        ("[2001:db8::1]:80", "http://[2001:db8::1]/", "http://[2001:db8::2]/"),
        ("*", "http://anything.example/", "gopher://anything.example/"),
    ],
)
def test_those_named_may(entry, allowed, refused):
    assert AllowList([entry]).allows(allowed)
    assert not AllowList([entry]).allows(refused)


def test_an_entry_must_name_a_host():
    with pytest.raises(ValueError, match="contains no host"):
        AllowList(["http://"])


def test_a_password_goes_into_a_header():
    address = without_password("http://me:p%40ss@localhost:1/x?y=1")
    assert address.url == "http://localhost:1/x?y=1"
    assert address.authorization == "Basic bWU6cEBzcw=="
    assert without_password("http://localhost/") == ("http://localhost/", None)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a/x", "http://a/y", True),
        ("http://a/", "http://a:80/", True),
        ("http://a/", "http://me:secret@A/", True),
        ("http://a/", "https://a/", False),
        ("https://a/", "http://a/", False),
        ("http://a:1/", "http://a:2/", False),
        ("http://a/", "http://b/", False),
        ("http://localhost/", "http://127.0.0.1/", False),
    ],
)
def test_one_server(one, other, same):
    assert (origin_of(one) == origin_of(other)) is same


def test_a_star_names_nobody():
    """Any agent may be tested then; where its card leads is another question."""
    assert not AllowList(["*"]).names("http://agent.example/")
    assert not AllowList().names("http://localhost:9002/")
    assert AllowList(["agent.example"]).names("https://agent.example:8443/a")
    assert not AllowList(["http://agent.example:443/"]).names("https://agent.example/")


@pytest.mark.parametrize("url", ["http://", "http://[", "http://a:99999/", "http://a:0/", ""])
def test_what_is_no_address(url):
    assert find_fault(url) == "must be an address like http://localhost:9002/"
    assert find_fault(url)


@pytest.mark.parametrize("sign", "\0\t\n\r\x1b\x7f\x85\xa0\u200b\u202e\u2028\ud800 \\")
def test_signs_that_cannot_be_seen_are_named(sign):
    for url in (f"http://localhost{sign}:9002/", f"http://localhost:9002/{sign}a"):
        assert find_fault(url) == f"must not contain the character U+{ord(sign):04X}"
    assert not AllowList(["*"]).allows(f"http://localhost{sign}/")


def test_this_machine_can_be_behind_a_proxy():
    assert through("http://proxy:20/", "http://127.0.0.1:8080/agent") == "http://proxy:20/agent"
    assert through("http://proxy:20/", "http://other:8080/agent") == "http://other:8080/agent"
