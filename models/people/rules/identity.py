"""Profile URL identity: every spelling of one profile's address gives one canonical URL and one key."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from urllib.parse import quote, unquote_to_bytes

MAX_URL_LENGTH = 2000
MAX_SLUG_LENGTH = 200
MAX_DECODINGS = 4

_BEFORE_HOST = re.compile(r"(?:https?:)?//", re.IGNORECASE | re.ASCII)
_AFTER_PATH = re.compile(r"[?#]")
_HOST = re.compile(r"(?:(?:www|m|[a-z]{2})\.)?linkedin\.com", re.IGNORECASE | re.ASCII)
_LOCALE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE | re.ASCII)
_JOINERS = "\u200c\u200d"  # between letters of some scripts, and inside emoji
_PUNCTUATION = "-_.~'’·" + _JOINERS
_PATH_PARTS = 2
_PATH_PARTS_WITH_LOCALE = 3


class PersonKeyKind(StrEnum):
    """What identifies a person: the id at a source, the canonical profile URL, or an e-mail address."""

    SOURCE = "source"
    URL = "url"
    EMAIL = "email"


class InvalidProfileUrl(ValueError):
    """The text is not the address of a public profile; the message says why and does not repeat the text."""


def canonical_profile_url(text: str) -> str:
    """Return a profile's address in its one spelling, `https://www.linkedin.com/in/<slug>` (contract, section 5).

    Scheme, host case, locale subdomain, trailing slash, query, fragment, percent-encoding (repeated too), Unicode
    normalisation and letter case do not matter. The slug is lower-case NFC, percent-encoded UTF-8.

    Raises:
        InvalidProfileUrl: another host, credentials, a port, `..`, or a path that is no profile's.
    """
    return f"https://www.linkedin.com/in/{quote(profile_slug(text), safe='-_.~')}"


def profile_slug(text: str) -> str:
    """Return the readable last part of a profile's address: lower-case, NFC, not percent-encoded.

    Raises:
        InvalidProfileUrl: as `canonical_profile_url`.
    """
    address = text.strip()
    if not 0 < len(address) <= MAX_URL_LENGTH:
        raise InvalidProfileUrl(f"a profile URL has 1 to {MAX_URL_LENGTH} characters")
    if "\\" in address or any(c.isspace() or unicodedata.category(c) == "Cc" for c in address):
        raise InvalidProfileUrl("a profile URL has no spaces, control characters or backslashes")
    before_host = _BEFORE_HOST.match(address)
    location = _AFTER_PATH.split(address[before_host.end() if before_host else 0 :], maxsplit=1)[0]
    host, _, path = location.partition("/")
    _check_host(host)
    return _slug_of(_decoded(path))


def person_key(url: str) -> str:
    """Return the SHA-256 (hex) of the canonical profile URL: equal for every spelling of it.

    Raises:
        InvalidProfileUrl: as `canonical_profile_url`.
    """
    return hashlib.sha256(canonical_profile_url(url).encode()).hexdigest()


def _check_host(host: str) -> None:
    if "@" in host:
        raise InvalidProfileUrl("a profile URL carries no credentials")
    if ":" in host:
        raise InvalidProfileUrl("a profile URL names no port, and its scheme is https")
    if _HOST.fullmatch(host) is None:
        raise InvalidProfileUrl("a profile URL is on linkedin.com")


def _decoded(path: str) -> str:
    for _ in range(MAX_DECODINGS):
        try:
            plain = unquote_to_bytes(path).decode()
        except UnicodeError:  # bytes that are not UTF-8, or a lone surrogate
            raise InvalidProfileUrl("the percent-encoding of a profile URL is UTF-8") from None
        if plain == path:
            return plain
        path = plain
    raise InvalidProfileUrl("the profile URL is percent-encoded too many times")


def _slug_of(path: str) -> str:
    parts = path.rstrip("/").split("/")
    if len(parts) == _PATH_PARTS_WITH_LOCALE and _LOCALE.fullmatch(parts[2]):
        parts = parts[:2]  # the same profile shown in another language
    if len(parts) != _PATH_PARTS or parts[0].lower() != "in":
        raise InvalidProfileUrl("the path of a profile URL is /in/<name>")
    slug = _folded(parts[1])
    if not 0 < len(slug) <= MAX_SLUG_LENGTH or not all(_may_stand_in_slug(c) for c in slug):
        raise InvalidProfileUrl("the name in a profile URL consists of letters, digits and hyphens")
    if not any(unicodedata.category(c)[0] in "LNS" for c in slug):
        raise InvalidProfileUrl("the name in a profile URL has a letter or digit")
    return slug


def _folded(slug: str) -> str:
    """Fold the letter case one character at a time, so that a name with a sharp s differs from one with `ss`."""
    return unicodedata.normalize("NFC", "".join(map(_fold, unicodedata.normalize("NFC", slug))))


def _fold(char: str) -> str:
    folded = char.casefold()
    return folded if len(folded) == 1 else char.lower()


def _may_stand_in_slug(char: str) -> bool:
    return char in _PUNCTUATION or unicodedata.category(char)[0] in "LMN" or unicodedata.category(char) in {"So", "Sk"}


NEAR = 0.1
"""Two people whose confidence differs by less are a tie."""
MOST_ALTERNATIVES = 5
NAME = "name"
TELLING = frozenset({"company", "profile"})
"""At least one of these has to agree besides the name: many people share a name and a town."""


@dataclass(frozen=True, slots=True)
class PossiblePerson:
    """A person who may be the one asked for: the source's confidence (0 to 1), and which details agree."""

    person: str
    confidence: float
    matched_on: frozenset[str]


def best_match(possible: Sequence[PossiblePerson], *, min_confidence: float) -> PossiblePerson | None:
    """Return the person asked for; null when two are too close to each other, or when only the name agrees."""
    ranked = sorted(possible, key=lambda each: -each.confidence)
    if not ranked:
        return None
    best, *others = ranked
    if best.confidence < min_confidence or not best.matched_on & TELLING:
        return None
    if others and best.confidence - others[0].confidence < NEAR:
        return None
    return best
