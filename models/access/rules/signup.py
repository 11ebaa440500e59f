"""The rules of signing up (contract, section 4): one mailbox's addresses, lifetimes of links, and the mails' texts."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from unicodedata import normalize
from urllib.parse import urlencode

from disposable_email_domains import blocklist

from models.access.rules.oauth import SIGN_IN_LIFE

LINK_LIFE = timedelta(hours=48)
"""How long a mailed confirmation link works."""
CLAIM_LIFE = timedelta(hours=48)
"""How long an unconfirmed workspace blocks its address."""
RESENDS_A_DAY = 3
DAY = timedelta(days=1)
TOKEN_BYTES = 32


class MailKind(StrEnum):
    """What a mail is for: confirming an address, or signing in."""

    VERIFICATION = "verification"
    SIGN_IN = "sign_in"


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
"""Providers that deliver several spellings of an address to one mailbox, by domain. With other providers a dot or a
plus may belong to another person's address."""


def address_key(email: str) -> str:
    """Return the mailbox of an address: two sign-ups with the same key are the same person's."""
    local, _, domain = normalize("NFKC", email).casefold().rpartition("@")
    provider = PROVIDERS.get(domain)
    if provider is None:
        return f"{local}@{domain}"
    name = local.partition(provider.tag)[0] or local
    return f"{name.translate(dict.fromkeys(map(ord, provider.drops)))}@{provider.domain}"


def is_disposable(email: str, domains: AbstractSet[str]) -> bool:
    """Return whether the domain of the address, or a domain above it, belongs to a service that lends mailboxes."""
    labels = email.casefold().rpartition("@")[2].split(".")
    return any(".".join(labels[place:]) in domains for place in range(len(labels) - 1))


def holds_address(*, verified_at: datetime | None, created_at: datetime, now: datetime) -> bool:
    """Return whether a workspace keeps other people from signing up with its address."""
    return verified_at is not None or now < created_at + CLAIM_LIFE


@dataclass(frozen=True, slots=True)
class MailText:
    """A plain-text mail without its addresses."""

    subject: str
    text: str


def verification_mail(*, public_url: str, token: str, first_name: str | None, workspace_name: str) -> MailText:
    """Return the mail that confirms an address. `token` is in the link; opening the link alone confirms nothing."""
    greeting = f"Hello {first_name}," if first_name else "Hello,"
    link = f"{public_url.rstrip('/')}/verify?{urlencode({'token': token})}"
    return MailText(
        subject="Confirm your e-mail address",
        text=(
            f"{greeting}\n\n"
            f'This address was used to sign up for the workspace "{workspace_name}". If it was you, open\n\n'
            f"{link}\n\n"
            f"and press the button. The link works once, for {LINK_LIFE // timedelta(hours=1)} hours. Your free credits"
            " are added when you confirm.\n\n"
            "If it was not you, ignore this mail: without a confirmation the address is released again.\n"
        ),
    )


def sign_in_mail(*, public_url: str, token: str, first_name: str | None, workspace_name: str) -> MailText:
    """Return the mail with which a person signs in. The application's name is left out: it is only a claim."""
    greeting = f"Hello {first_name}," if first_name else "Hello,"
    link = f"{public_url.rstrip('/')}/authorize/link?{urlencode({'token': token})}"
    return MailText(
        subject="Your link to sign in",
        text=(
            f"{greeting}\n\n"
            f'An application asks for access to the workspace "{workspace_name}". To see what it asks for, open\n\n'
            f"{link}\n\n"
            "in the browser in which you started. The link works once, for"
            f" {SIGN_IN_LIFE // timedelta(minutes=1)} minutes. The application gets no access before you allow it"
            " there.\n\n"
            "If you did not ask for this, ignore this mail and do not share the link.\n"
        ),
    )


DISPOSABLE_DOMAINS: frozenset[str] = frozenset(blocklist)
"""Domains of services that lend mailboxes for minutes, as the package `disposable-email-domains` lists them."""
