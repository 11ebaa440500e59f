"""Proofs: the verifier of RFC 7636, the audience, scopes, and words for each of them."""

import pytest

from models.access.rules import oauth
from models.access.rules.keys import Scope

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"


def test_the_example_of_the_rfc() -> None:
    assert oauth.verifies_challenge(VERIFIER, CHALLENGE)


@pytest.mark.parametrize(
    "verifier", [VERIFIER[:-1] + "l", VERIFIER[:-1], CHALLENGE, "", "x" * 129, VERIFIER + "\n", VERIFIER[:-1] + "é"]
)
def test_no_other_verifier_fits(verifier: str) -> None:
    assert not oauth.verifies_challenge(verifier, CHALLENGE)


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("https://h.example/mcp", "https://h.example/mcp"),
        ("https://H.example:443/mcp/", "https://h.example/mcp"),
        ("https://h.example/api/mcp?toolsets=all", "https://h.example/api/mcp"),
        ("http://h.example/mcp", None),
        ("https://h.example:444/mcp", None),
        ("https://h.example", None),
        ("https://h.example/mcp//", None),
        ("https://h.example/MCP", None),
        ("https://h.example/mcp#x", None),
        ("https://h.example@evil.example/mcp", None),
        ("https://a@h.example/mcp", None),
        ("https://h.example:x/mcp", None),
        ("https://[/mcp", None),
        ("", None),
    ],
)
def test_resources(asked: str, found: str | None) -> None:
    assert oauth.resource_of("https://h.example/", asked) == found


def test_a_service_below_a_path() -> None:
    assert oauth.resource_of("https://h.example/svc", "https://h.example/svc/mcp") == "https://h.example/svc/mcp"
    assert oauth.resource_of("https://h.example/svc", "https://h.example/mcp") is None


def test_scopes() -> None:
    assert oauth.scopes_of("account:read offline_access") == frozenset({Scope.ACCOUNT_READ})
    assert oauth.scopes_of(None) == frozenset(set(Scope) - {Scope.ACCOUNT_WRITE})
    assert oauth.scopes_of("account:read root") is None
    assert oauth.scopes_text(frozenset({Scope.ACCOUNT_READ, Scope.SOURCING_READ})) == "sourcing:read account:read"
    assert set(oauth.MEANING) == set(Scope)
