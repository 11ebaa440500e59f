"""Outreach accounts for tests, connected directly in the database because there is no provider."""

from datetime import datetime
from typing import Any

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.tenants import Tenant
from models.outreach.store import accounts
from models.outreach.tables import Action, OutreachAccount


async def connected(database: Database, tenant: Tenant, **given: Any) -> str:
    """Create an account that can send, unless `given` says otherwise."""
    async with database.transaction() as session:
        now = await service_time(session)
        row = accounts.new_account(tenant, name="Sam Voorbeeld", now=now)
        values = {
            "status": "active",
            "provider_id": new_id("pro", now),
            "network_user_id": new_id("usr", now),
            "connected_at": now,
            **given,
        }
        for name, value in values.items():
            setattr(row, name, value)
        session.add(row)
        return row.id


async def action(
    database: Database, tenant: Tenant, account_id: str, profile_id: str, *, at: datetime | None = None, **given: Any
) -> str:
    """Create an action of the account, executed or scheduled at that time."""
    async with database.transaction() as session:
        now = await service_time(session)
        when = at or now
        booked = given.get("outcome") in ("scheduled", "awaiting_approval")
        row = Action(
            id=new_id("act", now),
            workspace_id=tenant.workspace_id,
            tenant_id=tenant.id,
            account_id=account_id,
            profile_id=profile_id,
            seed="s",
            scheduled_at=when,
            claimed_at=None if booked else when,
            ended_at=when if given.get("outcome") == "sent" else None,
            created_at=now,
            **given,
        )
        session.add(row)
        return row.id


async def account_row(database: Database, account_id: str) -> OutreachAccount:
    """Return the account's row."""
    async with database.transaction() as session:
        return (await accounts.lock_account_by_id(session, account_id)).account
