"""What a request proves: PKCE (RFC 7636, S256 alone), the audience (RFC 8707), scopes, and the form of tokens."""

import base64
import hashlib
import hmac
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

from models.rules.access import ALL_SCOPES, Scope

CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
S256 = "S256"
OFFLINE = "offline_access"
"""Asks for a refresh token, which there is anyway."""
FIRST_SCOPES = tuple(scope for scope in Scope if scope is not Scope.ACCOUNT_WRITE)
"""What a client asks for that is told nothing else."""
PATHS = ("/mcp", "/api/mcp")
"""The protected resources, by their paths."""
ACCESS_PREFIX = "svc_access_"
REFRESH_PREFIX = "svc_refresh_"


def verifies(verifier: str, challenge: str) -> bool:
    """Whether a verifier is the one of a challenge."""
    if not VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return hmac.compare_digest(made, challenge)


def resource_at(public_url: str, path: str) -> str:
    """The canonical address of a protected resource."""
    return public_url.rstrip("/") + path


def resource_of(public_url: str, asked: str) -> str | None:
    """The protected resource that an address means, null when it is none of ours.

    Letter case of scheme and host, a slash at the end and a query (it chooses toolsets) make no other resource.
    """
    try:
        own, parts = urlsplit(public_url), urlsplit(asked)
        same = (own.scheme, own.hostname, _port(own.port, own.scheme)) == (
            parts.scheme,
            parts.hostname,
            _port(parts.port, parts.scheme),
        )
    except ValueError:
        return None
    path = parts.path.removesuffix("/")
    base = own.path.rstrip("/")
    if not same or "#" in asked or "@" in parts.netloc or not path.startswith(base):
        return None
    inner = path.removeprefix(base)
    return resource_at(public_url, inner) if inner in PATHS else None


def _port(port: int | None, scheme: str) -> int | None:
    return port if port is not None else {"http": 80, "https": 443}.get(scheme)


def scopes_of(asked: str | None) -> frozenset[Scope] | None:
    """The scopes of a `scope` parameter, the usual ones without any; null when one is not known."""
    words = set((asked or "").split()) - {OFFLINE}
    if not words:
        return frozenset(FIRST_SCOPES)
    if words - set(ALL_SCOPES):
        return None
    return frozenset(Scope(word) for word in words)


def written(scopes: Sequence[Scope] | frozenset[Scope]) -> str:
    """Scopes as a `scope` parameter, in the order of the documentation."""
    return " ".join(scope for scope in Scope if scope in scopes)


MEANING = {
    Scope.SOURCING_READ: "Read searches, candidates, lists and saved people, and preview searches",
    Scope.SOURCING_WRITE: "Change lists, saved searches and suppressions",
    Scope.SOURCING_SPEND: "Spend credits on searches, profiles and contact details",
    Scope.OUTREACH_READ: "Read outreach accounts, sequences, conversations and messages",
    Scope.OUTREACH_WRITE: "Change outreach accounts, limits and sequences, and stop outreach",
    Scope.OUTREACH_SEND: "Send messages and invitations to people in your name",
    Scope.ACCOUNT_READ: "Read the workspace, its balance, its events and its keys",
    Scope.ACCOUNT_WRITE: "Change the workspace, buy credits and erase people",
}
"""Each scope in plain words, as the consent page says it."""
