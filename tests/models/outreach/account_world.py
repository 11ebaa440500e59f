"""Outreach accounts in a database, moved through their states at chosen service times."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.steps import Decision
from models.base.tenants import Tenant
from models.outreach.engine import account_steps, connect
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.connect import SignedIn
from models.outreach.store import accounts
from models.outreach.store.accounts import LockedAccount, hash_state
from models.outreach.tables import OutreachAccount

R = TypeVar("R")


@dataclass
class Accounts:
    """Acts on the accounts of a tenant."""

    database: Database
    tenant: Tenant

    async def made(self, tenant: Tenant | None = None, **given: Any) -> str:
        """Create an account that can send, unless `given` says otherwise."""
        async with self.database.transaction() as session:
            now = await service_time(session)
            row = accounts.new_account(tenant or self.tenant, name="Sam", now=now)
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

    async def do(self, account_id: str, work: Callable[[AsyncSession, LockedAccount], Awaitable[R]]) -> R:
        """Run one transaction on a locked account."""

        async def whole(session: AsyncSession) -> R:
            return await work(session, await accounts.lock_account_by_id(session, account_id))

        return await self.database.run(whole)

    async def row(self, account_id: str) -> OutreachAccount:
        async with self.database.transaction() as session:
            return (await accounts.lock_account_by_id(session, account_id)).account

    async def decide(self, account_id: str) -> Decision:
        return await self.database.run(lambda session: account_steps.decide_account(session, account_id))

    async def signed_in(
        self, account_id: str, user_id: str, *, provider_id: str, standing: AccountStanding = AccountStanding.READY
    ) -> str | None:
        """Create a link and sign in with it."""
        state = f"state of {account_id} and {provider_id}"
        await self.do(account_id, lambda session, held: self._linked(held, state))
        found = SignedIn(provider_id, user_id, "Sam Voorbeeld", "https://www.linkedin.com/in/sam", standing)
        return await self.database.run(lambda session: connect.bind(session, account_id, state, found))

    @staticmethod
    async def _linked(held: LockedAccount, state: str) -> None:
        held.account.state_hash, held.account.connect_url = hash_state(state), b"sealed"
        held.account.connect_expires_at = held.now + timedelta(minutes=30)

    async def events(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the published events, oldest first."""
        async with self.database.transaction() as session:
            rows = await session.execute(text("select type, data from events order by created_at"))
            return [(row.type, row.data) for row in rows]

    async def told(self) -> list[str]:
        return [type for type, _ in await self.events()]

    async def pass_time(self, **distance: float) -> datetime:
        """Advance service time, and return it."""
        async with self.database.transaction() as session:
            await session.execute(
                text("update service_clock set shift = shift + cast(:by as interval)"), {"by": timedelta(**distance)}
            )
        async with self.database.transaction() as session:
            return await service_time(session)
