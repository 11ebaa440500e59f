"""Ringing what is planned: after a change of settings, caps or an account, every open row asks anew when its time is.

One UPDATE each, however many there are; the dispatcher rings them, paced.
"""

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.stores.doorbells import CHANNEL
from models.tables.outreach import OPEN_ENROLLMENTS
from models.tenancy import Tenant

_RING = """
    with rung_enrollments as (
      update enrollments set rings = rings + 1
       where {whose} and {open} returning 1
    ), rung_actions as (
      update actions set rings = rings + 1
       where {whose} and enrollment_id is null and outcome = 'scheduled' returning 1
    )
    select pg_notify(:channel, '')
     where exists (select from rung_enrollments) or exists (select from rung_actions)
"""


def _statement(whose: str) -> str:
    return _RING.format(whose=whose, open=OPEN_ENROLLMENTS)


OF_TENANT = text(_statement("tenant_id = :whose"))
OF_ACCOUNT = text(_statement("account_id = :whose"))


async def ring_tenant(session: AsyncSession, tenant: Tenant) -> None:
    """Ring the tenant's open enrollments and planned direct actions."""
    await session.flush()
    await session.execute(OF_TENANT, {"whose": tenant.id, "channel": CHANNEL})


async def ring_account(session: AsyncSession, account_id: str) -> None:
    """Ring the account's open enrollments and planned direct actions."""
    await session.flush()
    await session.execute(OF_ACCOUNT, {"whose": account_id, "channel": CHANNEL})
