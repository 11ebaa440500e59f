"""The endpoint that the provider sends its callbacks to, as it was registered; secrets are kept sealed."""

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.outreach.callbacks import SECRET_PURPOSE
from models.secrets import Vault
from models.tables import NetworkEndpoint

CHECKED_EVERY = timedelta(days=1)


async def secrets(session: AsyncSession, vault: Vault, url: str) -> list[str]:
    """What may have signed a callback: the present secret, and the one before it."""
    row = (await session.scalars(select(NetworkEndpoint).where(col(NetworkEndpoint.url) == url))).one_or_none()
    sealed = [] if row is None else [row.secret, row.previous_secret]
    return [vault.open(SECRET_PURPOSE, one).decode() for one in sealed if one is not None]


async def is_known(session: AsyncSession, url: str) -> bool:
    """Whether the provider said within a day that it sends to this address."""
    checked: datetime | None = await session.scalar(
        select(col(NetworkEndpoint.checked_at)).where(col(NetworkEndpoint.url) == url)
    )
    return checked is not None and checked > await service_time(session) - CHECKED_EVERY


async def keep(
    session: AsyncSession, vault: Vault, *, url: str, provider_id: str, secret: str, relations_told: bool
) -> None:
    """Note that the provider sends to this address and signs with this secret; the one before stays good."""
    now = await service_time(session)
    query = select(NetworkEndpoint).where(col(NetworkEndpoint.url) == url).with_for_update()
    row = (await session.scalars(query)).one_or_none()
    sealed = vault.seal(SECRET_PURPOSE, secret.encode())
    if row is None:
        row = NetworkEndpoint(
            url=url,
            provider_id=provider_id,
            secret=sealed,
            relations_told=relations_told,
            checked_at=now,
            created_at=now,
        )
        session.add(row)
        return
    if vault.open(SECRET_PURPOSE, row.secret).decode() != secret:
        row.previous_secret, row.secret = row.secret, sealed
    row.provider_id, row.relations_told, row.checked_at = provider_id, relations_told, now
