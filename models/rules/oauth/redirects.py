"""Redirect addresses: which a client may have, and whether one asked for is one of them (RFC 8252, OAuth 2.1)."""

import re
from urllib.parse import SplitResult, urlsplit

MAX_LENGTH = 2000
LOOPBACK = ("127.0.0.1", "localhost", "::1")
_VISIBLE = re.compile(r"[\x21-\x7e]+")
_NEVER = frozenset('\\"<>^`{|}*')
"""Characters that no address has, and the star of those who mean several."""
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?", re.IGNORECASE)
_PRIVATE = re.compile(r"[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+")
"""A scheme made of a domain name that the application's maker has, in reverse order."""


class RefusedRedirect(ValueError):
    """An address that nobody is sent to; the message says why."""


def check(uri: str) -> None:
    """Refuse what no client may have. Raises `RefusedRedirect`.

    Taken are https addresses, http ones of the loopback interface, and private-use schemes with a dot.
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
    """The parts and the host. Raises `RefusedRedirect`."""
    try:
        parts = urlsplit(uri)
        parts.port  # noqa: B018 - read to be checked
    except ValueError:
        raise RefusedRedirect("A redirect URI is an absolute URI.") from None
    return parts, parts.hostname or ""


def is_loopback(uri: str) -> bool:
    """Whether it leads to the person's own machine, where whatever program listens takes the answer."""
    parts = urlsplit(uri)
    return parts.scheme == "http" and parts.hostname in LOOPBACK


def matches(registered: str, asked: str) -> bool:
    """Whether a client that registered one address may have its answer at another.

    It is the same, or of another loopback port, which native applications learn only once they run (RFC 8252, 7.3).
    """
    if registered == asked:
        return True
    try:
        check(asked)
    except RefusedRedirect:
        return False
    if not (is_loopback(registered) and is_loopback(asked)):
        return False
    ours, theirs = urlsplit(registered), urlsplit(asked)
    return (ours.hostname, ours.path, ours.query) == (theirs.hostname, theirs.path, theirs.query)


def host_of(uri: str) -> str:
    """What a person reads of it: the host, or the scheme of an application."""
    parts = urlsplit(uri)
    if parts.scheme in ("http", "https"):
        return parts.hostname or ""
    return f"{parts.scheme}:"
