"""Versions, scopes, how wide a key is, and the form of key secrets (contract, sections 2 and 4)."""

import zlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

CURRENT_VERSION = "2026-11-01"
SUPPORTED_VERSIONS = ("2026-11-01", "2026-10-13")


class Scope(StrEnum):
    """What a key allows."""

    SOURCING_READ = "sourcing:read"
    SOURCING_WRITE = "sourcing:write"
    SOURCING_SPEND = "sourcing:spend"
    OUTREACH_READ = "outreach:read"
    OUTREACH_WRITE = "outreach:write"
    OUTREACH_SEND = "outreach:send"
    ACCOUNT_READ = "account:read"
    ACCOUNT_WRITE = "account:write"

    @property
    def family(self) -> str:
        """Return the part before the colon: `sourcing`, `outreach` or `account`."""
        return self.value.partition(":")[0]

    @property
    def preview(self) -> "Scope":
        """Return the scope that a dry run needs."""
        return Scope(f"{self.family}:read")


ALL_SCOPES = frozenset(Scope)


class KeyKind(StrEnum):
    """`oauth` is what a person granted to a client by signing in: it has tokens instead of a secret."""

    KEY = "key"
    OAUTH = "oauth"


class CustomerStatus(StrEnum):
    """Whether requests for a customer are served."""

    ACTIVE = "active"
    DISABLED = "disabled"


@dataclass(frozen=True, slots=True)
class Power:
    """What a key may do. No cap and no customer is the widest."""

    scopes: frozenset[Scope]
    daily_cap_credits: int | None = None
    customer_id: str | None = None

    def no_wider_than(self, other: "Power") -> bool:
        """Return whether a key with the power `other` may give out this one."""
        return (
            self.scopes <= other.scopes
            and (other.daily_cap_credits is None or _cap(self) <= other.daily_cap_credits)
            and (other.customer_id is None or self.customer_id == other.customer_id)
        )

    @property
    def administers(self) -> bool:
        """Whether such a key can change the account's keys."""
        return Scope.ACCOUNT_WRITE in self.scopes and self.customer_id is None


def _cap(power: Power) -> float:
    return float("inf") if power.daily_cap_credits is None else power.daily_cap_credits


@dataclass(frozen=True, slots=True)
class Caller:
    """The key that makes a request, with the version it pins."""

    workspace_id: str
    api_key_id: str
    power: Power
    version: str

    def allows(self, scope: Scope) -> bool:
        """Return whether the key has the scope."""
        return scope in self.power.scopes


PREFIX = "svc_live_"
SECRET_BYTES = 32
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_BODY_LENGTH = 43  # 256 bits in base62
_CHECKSUM_LENGTH = 6


def key_secret(noise: bytes, *, prefix: str = PREFIX) -> str:
    """Return a key's secret: prefix, 32 random bytes in base62, and six characters of CRC-32 for leak scanners."""
    body = prefix + _base62(int.from_bytes(noise), _BODY_LENGTH)
    return body + _base62(zlib.crc32(body.encode()), _CHECKSUM_LENGTH)


def checksum_holds(secret: str) -> bool:
    """Return whether the last six characters are the checksum of the rest."""
    body, checksum = secret[:-_CHECKSUM_LENGTH], secret[-_CHECKSUM_LENGTH:]
    return checksum == _base62(zlib.crc32(body.encode()), _CHECKSUM_LENGTH)


def _base62(value: int, length: int) -> str:
    digits: list[str] = []
    for _ in range(length):
        value, digit = divmod(value, len(BASE62))
        digits.append(BASE62[digit])
    return "".join(reversed(digits))


def is_live(*, revoked_at: datetime | None, expires_at: datetime | None, now: datetime) -> bool:
    """Return whether a key with these times works at `now`."""
    return revoked_at is None and (expires_at is None or expires_at > now)
