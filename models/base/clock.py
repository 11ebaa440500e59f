"""Service time: what the business rules call now, read from PostgreSQL after the locks are held.

It is `clock_timestamp()` plus the offset that virtual time keeps in `service_clock`, cut to milliseconds. Wall-clock
concerns (leases, rate limits, signatures, time-outs) do not use it; see the table in the architecture document.
"""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

NOW = text("select service_now()")


async def service_time(session: AsyncSession) -> datetime:
    """The service's present moment, UTC, in milliseconds."""
    now: datetime = (await session.execute(NOW)).scalar_one()
    return now
