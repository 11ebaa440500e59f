"""Addresses and numbers without a recipient: reserved domains and subscriber numbers that do not exist."""

from urllib.parse import quote

from sandbox.people.population.draws import Draws
from sandbox.people.population.employers import base36, slug_of

_NON_LATIN = ("李-伟", "анна-п", "محمد-ب", "고-민준", "山田-太郎", "ελενη-κ")
_ODD_KINDS = 4


def work_email(name: str, website: str) -> str:
    """Return an address at the employer's name under a reserved top-level domain."""
    host = website if website.endswith(".example") else f"{website}.example"
    return f"{slug_of(name).replace('-', '.')}@{host}"


def personal_email(draws: Draws, person: int, name: str) -> str:
    """Return an address at an invented mail provider."""
    return f"{slug_of(name).replace('-', '.')}{draws.below('mail number', person, 98) + 1}@mail.example"


def phone(draws: Draws, person: int, country_code: str) -> str:
    """Return an international number whose subscriber part begins with zeros, which no network assigns."""
    return f"+{country_code}000{draws.below('phone', person, 1_000_000):06d}"


def profile_slug(draws: Draws, person: int, name: str, *, odd: bool) -> str:
    """Return the last part of a profile address; odd ones are percent-encoded, non-Latin or contain a symbol."""
    tail = base36(draws.word_at("slug", person), 8)
    if not odd:
        return f"{slug_of(name)}-{tail}"
    kind = draws.below("odd slug", person, _ODD_KINDS)
    if kind == 0:
        return f"{quote(name.lower().replace(' ', '-'))}-{tail}"
    if kind == 1:
        return f"{quote(_NON_LATIN[draws.below('script', person, len(_NON_LATIN))])}-{tail}"
    if kind == 2:
        return f"{_NON_LATIN[draws.below('script', person, len(_NON_LATIN))]}-{tail}"
    return f"{slug_of(name)}-🚀-{tail}"
