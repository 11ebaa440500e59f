"""Rules of signing up: what makes two addresses one, and how long links and claims on an address last (section 4)."""

from datetime import datetime, timedelta

LINK_LIFE = timedelta(hours=48)
"""How long a mailed confirmation link works."""
CLAIM_LIFE = timedelta(hours=48)
"""How long a workspace that nobody confirmed blocks its address."""
RESENDS_A_DAY = 3
DAY = timedelta(days=1)
TOKEN_BYTES = 32


def address_key(email: str) -> str:
    """The address in one letter case: two sign-ups with the same key are the same person's."""
    return email.casefold()


def holds_address(*, verified_at: datetime | None, created_at: datetime, now: datetime) -> bool:
    """Whether a workspace keeps others from signing up with its address."""
    return verified_at is not None or now < created_at + CLAIM_LIFE
