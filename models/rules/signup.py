"""Rules of signing up: what makes two addresses one, and how long links and claims on an address last (section 4)."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from unicodedata import normalize

LINK_LIFE = timedelta(hours=48)
"""How long a mailed confirmation link works."""
CLAIM_LIFE = timedelta(hours=48)
"""How long a workspace that nobody confirmed blocks its address."""
RESENDS_A_DAY = 3
DAY = timedelta(days=1)
TOKEN_BYTES = 32


@dataclass(frozen=True, slots=True)
class _Provider:
    """How a mail provider reads the part before the `@`: which characters it drops, and what begins a tag."""

    domain: str
    drops: str = ""
    tag: str = "+"


_GMAIL = _Provider("gmail.com", drops=".")
_PROTON = _Provider("proton.me", drops=".-_")
_ICLOUD = _Provider("icloud.com")

PROVIDERS: Mapping[str, _Provider] = {
    "gmail.com": _GMAIL,
    "googlemail.com": _GMAIL,
    "proton.me": _PROTON,
    "protonmail.com": _PROTON,
    "pm.me": _PROTON,
    "icloud.com": _ICLOUD,
    "me.com": _ICLOUD,
    "mac.com": _ICLOUD,
} | {
    domain: _Provider(domain)
    for domain in (
        *("outlook.com", "outlook.de", "outlook.fr", "hotmail.com", "hotmail.co.uk", "hotmail.de", "hotmail.fr"),
        *("live.com", "live.be", "live.nl", "msn.com", "fastmail.com", "fastmail.fm", "zoho.com", "hey.com"),
        *("posteo.de", "mailbox.org", "tutanota.com", "tuta.com"),
    )
}
"""Providers that deliver several spellings of an address to one mailbox, by the domains they have. Everywhere else a
dot or a plus may make another person."""


def address_key(email: str) -> str:
    """The mailbox that an address leads to: two sign-ups with the same key are the same person's."""
    local, _, domain = normalize("NFKC", email).casefold().rpartition("@")
    provider = PROVIDERS.get(domain)
    if provider is None:
        return f"{local}@{domain}"
    name = local.partition(provider.tag)[0] or local
    return f"{name.translate(dict.fromkeys(map(ord, provider.drops)))}@{provider.domain}"


def is_disposable(email: str, domains: AbstractSet[str]) -> bool:
    """Whether the address is of a service that lends mailboxes, itself or as a subdomain of one."""
    labels = email.casefold().rpartition("@")[2].split(".")
    return any(".".join(labels[place:]) in domains for place in range(len(labels) - 1))


def holds_address(*, verified_at: datetime | None, created_at: datetime, now: datetime) -> bool:
    """Whether a workspace keeps others from signing up with its address."""
    return verified_at is not None or now < created_at + CLAIM_LIFE
