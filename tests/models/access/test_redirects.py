"""Redirect addresses: a browser is only sent to the client that asked."""

import pytest

from models.access.rules.oauth import RefusedRedirect, check_redirect, host_of, is_loopback, matches_redirect

GOOD = [
    "https://agent.example/callback",
    "https://agent.example:8443/callback?fixed=1",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:33418/callback",
    "http://[::1]:1234/callback",
    "http://localhost:1234/callback",
    "com.example.agent:/callback",
]
BAD = [
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "cursor://callback",
    "http://agent.example/callback",
    "http://127.0.0.1.evil.example/",
    "http://localhost.evil.example/",
    "http://2130706433/",
    "https://user:secret@agent.example/",
    "https://agent.example@evil.example/",
    "https://agent.example/#part",
    "https://agent.example/#",
    "https://*.example/callback",
    "https://agent.example/*",
    "https:///callback",
    "https:callback",
    "//agent.example/callback",
    "/callback",
    "https://agent.example\\@evil.example/",
    "https://agent.example/a b",
    "https://agent.example/\r\nSet-Cookie: a=b",
    "https://agent.example:99999/",
    "https://ägent.example/",
    "https://agent.example/" + "x" * 3000,
    "",
]


@pytest.mark.parametrize("uri", GOOD)
def test_addresses_that_a_client_may_have(uri: str) -> None:
    check_redirect(uri)
    assert matches_redirect(uri, uri)


@pytest.mark.parametrize("uri", BAD)
def test_addresses_that_are_never_redirected_to(uri: str) -> None:
    with pytest.raises(RefusedRedirect):
        check_redirect(uri)


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:5/cb"),
        ("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1:2/cb?a=b"),
        ("http://[::1]:1/cb", "http://[::1]/cb"),
        ("http://localhost:1/cb", "http://localhost:2/cb"),
    ],
)
def test_loopback_ports_do_not_matter(registered: str, asked: str) -> None:
    assert matches_redirect(registered, asked)
    assert is_loopback(asked)


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        ("http://127.0.0.1/cb", "http://127.0.0.1:5/other"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5/cb?x=1"),
        ("http://127.0.0.1/cb", "http://localhost:5/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:5@evil.example/cb"),
        ("http://127.0.0.1/cb", "http://user@127.0.0.1:5/cb"),
        ("http://127.0.0.1/cb", "http://127.0.0.1:99999/cb"),
        ("http://127.0.0.1/cb", "https://127.0.0.1:5/cb"),
        ("https://agent.example/cb", "https://agent.example:444/cb"),
        ("https://agent.example/cb", "https://AGENT.example/cb"),
        ("https://agent.example/cb", "https://agent.example/cb/../evil"),
        ("https://agent.example/cb", "https://agent.example/cb/"),
        ("com.example.agent:/cb", "com.example.agent:/cb2"),
    ],
)
def test_everything_else_does(registered: str, asked: str) -> None:
    assert not matches_redirect(registered, asked)


@pytest.mark.parametrize(
    ("uri", "host"),
    [
        ("https://agent.example:8443/cb", "agent.example"),
        ("http://[::1]:1/cb", "::1"),
        ("com.example.agent:/cb", "com.example.agent:"),
    ],
)
def test_what_a_person_reads_of_an_address(uri: str, host: str) -> None:
    assert host_of(uri) == host
