"""A database for each test, with one workspace."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.access.tables import ApiKey, Customer, Workspace
from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant, all_tenants
from models.billing.store import credits
from models.billing.store.credits import Payer

SECRET = "0123456789abcdef0123456789abcdef"


@dataclass(frozen=True, slots=True)
class Member:
    """A workspace with one key."""

    tenant: Tenant
    api_key_id: str

    @property
    def payer(self) -> Payer:
        return Payer(self.tenant.workspace_id, self.api_key_id, self.tenant.customer_id)


async def join(session: AsyncSession, *, granted: int = 1250) -> Member:
    """Create a workspace with a key and `granted` credits."""
    now = await service_time(session)
    workspace = Workspace(
        id=new_id("ws", now), name="Acme", email="a@acme.example", email_key="a@acme.example", created_at=now
    )
    session.add(workspace)
    await session.flush()
    key_id = new_id("key", now)
    session.add(
        ApiKey(
            id=key_id,
            workspace_id=workspace.id,
            name="first",
            prefix="svc_live_",
            last4="abcd",
            secret_hash=key_id.encode(),
            scopes=["sourcing:spend"],
            version="2026-11-01",
            created_at=now,
        )
    )
    await session.flush()
    if granted:
        await credits.grant_credits(
            session,
            workspace_id=workspace.id,
            source="signup",
            reference="signup",
            credits=granted,
            expires_at=now + timedelta(days=30),
        )
    return Member(Tenant(workspace.id), key_id)


@pytest.fixture
async def database(database_url: str) -> AsyncIterator[Database]:
    opened = Database(database_url, pool_size=16).within(all_tenants("tests"))
    yield opened
    await opened.close()


@pytest.fixture
async def member(database: Database) -> Member:
    return await database.run(join)


@pytest.fixture
def vault() -> Vault:
    return Vault(SECRET)


@pytest.fixture
async def inside(database: Database, member: Member) -> Member:
    """Return a customer of the member's workspace, with a key that the account shares."""
    async with database.transaction() as session:
        now = await service_time(session)
        customer = Customer(id=new_id("cus", now), workspace_id=member.tenant.workspace_id, name="One", created_at=now)
        session.add(customer)
    return Member(Tenant(member.tenant.workspace_id, customer.id), member.api_key_id)
