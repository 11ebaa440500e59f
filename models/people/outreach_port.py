"""The port by which changes of people stop outreach in the same transaction.

Outreach is a layer above people, so people cannot import it. `models.outreach.engine.stop` fills the port when it is
imported; the first call imports it, so that no process can change people and leave outreach to them running.
"""

from collections.abc import Collection
from importlib import import_module
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.tenants import Tenant
from models.people.rules.registers import NoContactReason


class Outreach(Protocol):
    """What outreach does in a transaction that changes people. The caller has locked the people."""

    async def stop(
        self,
        session: AsyncSession,
        profile_ids: Collection[str],
        why: NoContactReason,
        *,
        within: Tenant | None,
        alone: bool,
    ) -> None:
        """Stop what is open and planned for these people; see `models.outreach.engine.stop.stop_person`."""
        ...

    async def take_over(self, session: AsyncSession, *, survivor: str, newer: str) -> None:
        """Merge what outreach knows of two ids of one person."""
        ...


_outreach: list[Outreach] = []


def fill_in(outreach: Outreach) -> None:
    """Set what stops outreach in this process."""
    _outreach[:] = [outreach]


def outreach() -> Outreach:
    """Return what stops outreach."""
    if not _outreach:
        import_module("models.outreach.engine.stop")
    return _outreach[0]
