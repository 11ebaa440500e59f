"""Conversations for tests: messages and answers are written directly, past the API."""

from datetime import datetime, timedelta
from uuid import uuid4

from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.outreach.engine import inbox
from models.outreach.engine.inbox import ChatLine
from models.outreach.engine.plan import Writer
from models.outreach.tables import NetworkPerson
from tests.api.conftest import SECRET_KEY, run_sql
from tests.api.outreach.accounts import action

WRITER = Writer(Vault(SECRET_KEY), "http://127.0.0.1:8080")
GREETING = "Hello, a word about a job."


async def greeted(database: Database, tenant: Tenant, account_id: str, profile_id: str) -> str:
    """Send a message to a relation of the account a minute ago, and return its chat."""
    at = await database.run(service_time) - timedelta(minutes=1)
    sent = await action(
        database,
        tenant,
        account_id,
        profile_id,
        at=at,
        type="message",
        outcome="sent",
        text=GREETING,
        sent_at=at,
        provider_message_id=f"msg_{uuid4().hex}",
    )
    await run_sql(database, "update actions set created_at = :at where id = :id", at=at, id=sent)
    async with database.transaction() as session:
        session.add(
            NetworkPerson(
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                account_id=account_id,
                profile_id=profile_id,
                network_id=f"ACo{uuid4().hex}",
                relation="connected",
            )
        )
    return f"chat_{uuid4().hex}"


async def writes(
    database: Database, account_id: str, profile_id: str, chat_id: str, text: str, *, by_owner: bool = False
) -> None:
    """Add a message to the chat."""
    at: datetime = await database.run(service_time)
    line = ChatLine(f"msg_{uuid4().hex}", text, at, from_owner=by_owner)
    await database.run(
        lambda session: inbox.take_messages(session, account_id, profile_id, chat_id, [line], writer=WRITER)
    )


async def answered(
    database: Database, tenant: Tenant, account_id: str, profile_id: str, text: str = "Tell me more"
) -> str:
    """Send a person a message, let them answer, and return the conversation."""
    chat_id = await greeted(database, tenant, account_id, profile_id)
    await writes(database, account_id, profile_id, chat_id, text)
    (row,) = await run_sql(database, "select id from conversations where chat_id = :id", id=chat_id)
    return str(row.id)
