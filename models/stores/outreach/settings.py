"""A tenant's outreach settings: working hours and its own lower caps. They are the first lock of everything that sends.

The row is made when it is first locked, with what holds without one, so that there is always something to lock.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Select, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.outreach.caps import Cap
from models.rules.outreach.hours import WorkingHours
from models.tables import OutreachSettings
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Rules:
    """When a tenant's accounts write, and the caps it set: only those, each at most its default."""

    hours: WorkingHours
    caps: Mapping[Cap, int]


def rules_of(row: OutreachSettings | None) -> Rules:
    """What a row says; without one the defaults."""
    if row is None:
        return Rules(WorkingHours(), {})
    hours = WorkingHours(row.time_zone, row.start_hour, row.end_hour, tuple(row.days))
    return Rules(hours, {Cap(name): value for name, value in row.caps.items()})


async def of(session: AsyncSession, tenant: Tenant) -> Rules:
    """The tenant's settings."""
    return rules_of((await session.scalars(_select(tenant))).one_or_none())


async def row_locked(session: AsyncSession, tenant: Tenant) -> OutreachSettings:
    """The tenant's row, closed to others until the transaction ends; made when there was none."""
    query = _select(tenant).with_for_update().execution_options(populate_existing=True)
    row = (await session.scalars(query)).one_or_none()
    if row is None:
        await session.execute(
            insert(OutreachSettings).values(**await _defaults(session, tenant)).on_conflict_do_nothing()
        )
        row = (await session.scalars(query)).one()
    return row


async def locked(session: AsyncSession, tenant: Tenant) -> Rules:
    """The tenant's settings, which nobody changes until the transaction ends, nor claims a send beside this one."""
    return rules_of(await row_locked(session, tenant))


def _select(tenant: Tenant) -> Select[OutreachSettings]:
    return select(OutreachSettings).where(col(OutreachSettings.tenant_id) == tenant.id)


async def _defaults(session: AsyncSession, tenant: Tenant) -> dict[str, object]:
    hours = WorkingHours()
    return {
        "workspace_id": tenant.workspace_id,
        "tenant_id": tenant.id,
        "time_zone": hours.zone,
        "start_hour": hours.start_hour,
        "end_hour": hours.end_hour,
        "days": list(hours.days),
        "caps": {},
        "updated_at": await service_time(session),
    }
