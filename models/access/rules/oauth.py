"""The rules of OAuth: lifetimes and limits, redirect addresses, what a request proves, and client metadata."""

import base64
import hashlib
import hmac
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from urllib.parse import SplitResult, urlsplit

from models.access.rules.keys import ALL_SCOPES, Scope
from models.base.outbound import RefusedUrl, parse_webhook_url

SIGN_IN_LIFE = timedelta(minutes=15)
"""From asking for the mailed link to the decision on the consent page."""
CODE_LIFE = timedelta(seconds=60)
ACCESS_LIFE = timedelta(hours=1)
GRANT_LIFE = timedelta(days=30)
"""Without a refresh; each refresh starts it again."""
MAILS_AN_HOUR = 5
"""Sign-in mails to one address."""
REGISTRATIONS_A_DAY = 100
"""Clients that one network may register in 24 hours."""
UNUSED_REGISTRATIONS = 20_000
"""Clients of the installation with which no person has signed in yet; each is deleted after seven days."""
DOCUMENT_LIFE = timedelta(hours=1)
"""How long a client metadata document is used without being read again."""
DOCUMENT_RETRY = timedelta(seconds=30)
"""How long to wait after a failed read before the document is read again."""


class TokenKind(StrEnum):
    """An access token works until it expires; a refresh token works once."""

    ACCESS = "access"
    REFRESH = "refresh"


# Redirect addresses (RFC 8252, OAuth 2.1).


MAX_LENGTH = 2000
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_NEVER = frozenset('\\"<>^`{|}*')
"""Characters that no address has, and the star of wildcards."""
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)
_PRIVATE = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+")
"""A private-use scheme: a domain name of the application's maker in reverse order."""


class RefusedRedirect(ValueError):
    """An address to which no browser is redirected; the message says why."""


def check_redirect(uri: str) -> None:
    """Raise `RefusedRedirect` for an address that no client may have.

    Allowed are https addresses, http ones of the loopback interface, and private-use schemes with a dot.
    """
    if not 0 < len(uri) <= MAX_LENGTH:
        raise RefusedRedirect(f"A redirect URI has 1 to {MAX_LENGTH} characters.")
    if not _VISIBLE.fullmatch(uri) or _NEVER & set(uri):
        raise RefusedRedirect("A redirect URI has no wildcards, spaces or characters that must be escaped.")
    if "#" in uri:
        raise RefusedRedirect("A redirect URI has no fragment.")
    parts, host = _split(uri)
    if "@" in parts.netloc:
        raise RefusedRedirect("A redirect URI has no credentials.")
    if parts.scheme == "https":
        if not host or not (_HOST.fullmatch(host) or "[" in parts.netloc):
            raise RefusedRedirect("An https redirect URI has a host.")
    elif parts.scheme == "http":
        if host not in LOOPBACK:
            raise RefusedRedirect("An http redirect URI leads to 127.0.0.1, [::1] or localhost.")
    elif not _PRIVATE.fullmatch(uri.partition(":")[0]):
        raise RefusedRedirect("A redirect URI begins with https:, http: (loopback), or a private scheme with a dot.")


def _split(uri: str) -> tuple[SplitResult, str]:
    """Return the parts and the host. Raises `RefusedRedirect`."""
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - read to be checked
    except ValueError:
        raise RefusedRedirect("A redirect URI is an absolute URI.") from None
    return parts, parts.hostname or ""


def is_loopback(uri: str) -> bool:
    """Return whether the address is on the person's own machine, where any program that listens gets the answer."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def matches_redirect(registered: str, asked: str) -> bool:
    """Return whether a client that registered one address may get its answer at another.

    Both are the same, or differ in the loopback port, which native applications only know at run time (RFC 8252, 7.3).
    """
    if registered == asked:
        return True
    try:
        check_redirect(asked)
    except RefusedRedirect:
        return False
    if not (is_loopback(registered) and is_loopback(asked)):
        return False
    ours, theirs = urlsplit(registered), urlsplit(asked)
    return (ours.hostname, ours.path, ours.query) == (theirs.hostname, theirs.path, theirs.query)


def host_of(uri: str) -> str:
    """Return the part shown to a person: the host, or the scheme of an application."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return parts.hostname or ""
    return f"{parts.scheme}:"


# PKCE (RFC 7636, only S256), audiences (RFC 8707), scopes and tokens.


CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")
S256 = "S256"
OFFLINE = "offline_access"
"""Asks for a refresh token, which is given anyway."""
FIRST_SCOPES = tuple(scope for scope in Scope if scope is not Scope.ACCOUNT_WRITE)
"""The scopes of a request that names none."""
PATHS = ("/mcp", "/api/mcp")
"""The protected resources, by their paths."""
ACCESS_PREFIX = "svc_access_"
REFRESH_PREFIX = "svc_refresh_"


def verifies_challenge(verifier: str, challenge: str) -> bool:
    """Return whether a PKCE verifier belongs to a challenge."""
    if not VERIFIER.fullmatch(verifier):
        return False
    made = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    return hmac.compare_digest(made, challenge)


def resource_at(public_url: str, path: str) -> str:
    """Return the canonical address of a protected resource."""
    return public_url.rstrip("/") + path


def resource_of(public_url: str, asked: str) -> str | None:
    """Return the protected resource that an address means, null when it is none of ours.

    The letter case of scheme and host, a final slash and a query (it selects toolsets) do not matter.
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
    """Return the scopes of a `scope` parameter, `FIRST_SCOPES` without any; null when one is unknown."""
    words = set((asked or "").split()) - {OFFLINE}
    if not words:
        return frozenset(FIRST_SCOPES)
    if words - set(ALL_SCOPES):
        return None
    return frozenset(Scope(word) for word in words)


def scopes_text(scopes: Sequence[Scope] | frozenset[Scope]) -> str:
    """Return scopes as a `scope` parameter, in the order of the documentation."""
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

# Clients, from registration (RFC 7591) or a client metadata document.


CODE_GRANT, REFRESH_GRANT = "authorization_code", "refresh_token"
GRANTS = (CODE_GRANT, REFRESH_GRANT)
NONE, BASIC, POST = "none", "client_secret_basic", "client_secret_post"
METHODS = (NONE, BASIC, POST)
MAX_REDIRECTS = 10
MAX_NAME = 100
MAX_DOCUMENT = 8192
"""Bytes of a registration or of a client metadata document."""
MAX_URL = 500
_SCOPE = re.compile(r"[\x20-\x7e]{0,1000}")


class RefusedClient(ValueError):
    """Client metadata that cannot be accepted. `code` is the error of RFC 7591."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def _refuse(message: str) -> RefusedClient:
    return RefusedClient("invalid_client_metadata", message)


@dataclass(frozen=True, slots=True)
class ClientMetadata:
    """What a client says about itself, as kept. `name` is a claim."""

    name: str
    redirect_uris: tuple[str, ...]
    auth_method: str
    grant_types: tuple[str, ...]
    scope: str | None

    @property
    def refreshes(self) -> bool:
        """Whether the client wants refresh tokens."""
        return REFRESH_GRANT in self.grant_types


def read_registration(told: Mapping[str, object]) -> ClientMetadata:
    """Read a registration. Unknown members are ignored, as RFC 7591 demands. Raises `RefusedClient`."""
    responses = _texts(told, "response_types") or ("code",)
    if "code" not in responses:
        raise _refuse("response_types must contain code.")
    grants = _texts(told, "grant_types") or GRANTS
    if CODE_GRANT not in grants:
        raise _refuse(f"grant_types must contain {CODE_GRANT}.")
    method = _text(told, "token_endpoint_auth_method", most=100) or BASIC
    if method not in METHODS:
        raise _refuse(f"token_endpoint_auth_method must be one of {', '.join(METHODS)}.")
    scope = _text(told, "scope", most=1000)
    if scope is not None and not _SCOPE.fullmatch(scope):
        raise _refuse("scope must be words separated by spaces.")
    uris = _redirects(told)
    name = _name(_text(told, "client_name", most=1000)) or host_of(uris[0])[:MAX_NAME]
    return ClientMetadata(name, uris, method, tuple(grant for grant in GRANTS if grant in grants), scope)


def read_document(raw: bytes, *, client_id: str) -> ClientMetadata:
    """Read a client metadata document that was found at `client_id`. Raises `RefusedClient`."""
    try:
        told = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _refuse("The client metadata document is not JSON.") from None
    if not isinstance(told, dict):
        raise _refuse("The client metadata document is not a JSON object.")
    if told.get("client_id") != client_id:
        raise _refuse("The client_id of the client metadata document is not its address.")
    if "client_secret" in told or told.get("token_endpoint_auth_method", NONE) != NONE:
        raise _refuse("A client with a metadata document has no secret: token_endpoint_auth_method must be none.")
    return read_registration(told | {"token_endpoint_auth_method": NONE})


def is_document_address(client_id: str, *, loopback: bool) -> bool:
    """Return whether a client id is the address of a client metadata document that may be read."""
    if len(client_id) > MAX_URL or ".." in client_id:
        return False
    try:
        target = parse_webhook_url(client_id, loopback=loopback)
        path = urlsplit(client_id).path
    except (RefusedUrl, ValueError):
        return False
    return path not in ("", "/") and target.url == client_id


def _redirects(told: Mapping[str, object]) -> tuple[str, ...]:
    found = _texts(told, "redirect_uris")
    if not found or len(found) > MAX_REDIRECTS:
        raise RefusedClient("invalid_redirect_uri", f"redirect_uris must hold 1 to {MAX_REDIRECTS} addresses.")
    for uri in found:
        try:
            check_redirect(uri)
        except RefusedRedirect as error:
            raise RefusedClient("invalid_redirect_uri", str(error)) from None
    return found


def _texts(told: Mapping[str, object], name: str) -> tuple[str, ...]:
    found = told.get(name)
    if found is None:
        return ()
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise _refuse(f"{name} must be a list of texts.")
    return tuple(found)


def _text(told: Mapping[str, object], name: str, *, most: int) -> str | None:
    found = told.get(name)
    if found is not None and (not isinstance(found, str) or len(found) > most):
        raise _refuse(f"{name} must be a text of at most {most} characters.")
    return found


def _name(claimed: str | None) -> str:
    """Return a claimed name without control characters and marks of direction, which would alter the text around it."""
    kept = "".join(" " if each.isspace() else each for each in claimed or "" if _is_shown(each))
    return " ".join(kept.split())[:MAX_NAME]


def _is_shown(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] != "C"
