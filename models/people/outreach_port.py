"""What outreach does about a person, as the people subject knows it: a port that `models.outreach` fills in.

Forbidding contact and stopping what is planned are one transaction, but outreach stands on people, not the other way
round. A process that changes people imports `models.outreach.engine.stop`; without it every call here fails.
"""

from collections.abc import Collection
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.tenants import Tenant
from models.people.rules.registers import Forbidden


class Outreach(Protocol):
    """What outreach offers to the transaction that changes people, whom the caller has locked."""

    async def stop(
        self, session: AsyncSession, profile_ids: Collection[str], why: Forbidden, *, within: Tenant | None, alone: bool
    ) -> None:
        """Stop what is open and planned for these people; see `models.outreach.engine.stop.stop_person`."""
        ...

    async def take_over(self, session: AsyncSession, *, survivor: str, newer: str) -> None:
        """Bring together what outreach knows of two ids of one person."""
        ...


_outreach: list[Outreach] = []


def fill_in(outreach: Outreach) -> None:
    """Say who stops outreach in this process."""
    _outreach[:] = [outreach]


def outreach() -> Outreach:
    """Return it. Raises `RuntimeError` in a process that has not imported outreach."""
    if not _outreach:
        raise RuntimeError("import models.outreach.engine.stop: nothing would stop outreach to the person")
    return _outreach[0]
