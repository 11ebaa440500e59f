"""Workspaces, the links that confirm their addresses, their customers and their audit trail."""

from datetime import datetime

from sqlalchemy import select, text, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.rules.signup import DAY, LINK_LIFE, holds_address
from models.access.tables import AuditEntry, Customer, Verification, Workspace
from models.base.paging import Page, Slice, fetch, newest_first


async def lock_address(session: AsyncSession, key: str) -> None:
    """Lock an address: until the transaction ends no other request signs up with it or confirms it."""
    await session.execute(text("select pg_advisory_xact_lock(hashtextextended(:name, 0))"), {"name": f"address:{key}"})


async def is_address_taken(session: AsyncSession, key: str, now: datetime) -> bool:
    """Return whether a workspace holds the address: a confirmed one, or one that may still be confirmed."""
    rows = await session.execute(
        select(col(Workspace.verified_at), col(Workspace.created_at)).where(col(Workspace.email_key) == key)
    )
    return any(holds_address(verified_at=row[0], created_at=row[1], now=now) for row in rows)


async def is_address_verified(session: AsyncSession, key: str) -> bool:
    """Return whether a workspace has confirmed the address."""
    found = await session.scalar(
        select(col(Workspace.id)).where(col(Workspace.email_key) == key, col(Workspace.verified_at).is_not(None))
    )
    return found is not None


COUNT_SIGNUP = text(
    """
    insert into signup_counts as s (network, day, signups) values (:network, :day, 1)
    on conflict (network, day) do update set signups = s.signups + 1
    returning signups
    """
)


async def count_signup(session: AsyncSession, network: bytes, now: datetime) -> int:
    """Count one workspace made from this network (a keyed hash); return today's number, this one included."""
    return int(await session.scalar(COUNT_SIGNUP, {"network": network, "day": now.date()}) or 0)


async def find_workspace(session: AsyncSession, workspace_id: str) -> Workspace:
    """Return the workspace of a caller, which exists."""
    return (await session.scalars(select(Workspace).where(col(Workspace.id) == workspace_id))).one()


async def lock_workspace(session: AsyncSession, workspace_id: str) -> Workspace:
    """Lock the workspace with its settings and keys, and return it."""
    query = select(Workspace).where(col(Workspace.id) == workspace_id).with_for_update(key_share=True)
    return (await session.scalars(query.execution_options(populate_existing=True))).one()


def add_link(session: AsyncSession, workspace_id: str, *, token_hash: bytes, now: datetime) -> Verification:
    """Add a confirmation link."""
    link = Verification(token_hash=token_hash, workspace_id=workspace_id, created_at=now, expires_at=now + LINK_LIFE)
    session.add(link)
    return link


async def resends_of_last_day(session: AsyncSession, workspace: Workspace, now: datetime) -> list[datetime]:
    """Return when the links of the last 24 hours were made, oldest first, without the one of the sign-up itself."""
    made = await session.scalars(
        select(col(Verification.created_at))
        .where(
            col(Verification.workspace_id) == workspace.id,
            col(Verification.created_at) > max(now - DAY, workspace.created_at),
        )
        .order_by(col(Verification.created_at))
    )
    return list(made)


async def find_link(session: AsyncSession, token_hash: bytes) -> Verification | None:
    """Return the link of a token, whatever its state."""
    return (await session.scalars(select(Verification).where(col(Verification.token_hash) == token_hash))).one_or_none()


async def close_links(session: AsyncSession, workspace_id: str, now: datetime) -> None:
    """Mark every link of a workspace as used, once its address is confirmed."""
    await session.execute(
        update(Verification)
        .where(col(Verification.workspace_id) == workspace_id, col(Verification.used_at).is_(None))
        .values(used_at=now)
    )


async def find_customer(session: AsyncSession, workspace_id: str, customer_id: str) -> Customer | None:
    """Return a customer of the account, null when there is none."""
    query = select(Customer).where(col(Customer.id) == customer_id, col(Customer.workspace_id) == workspace_id)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def is_external_id_taken(session: AsyncSession, workspace_id: str, external_id: str) -> bool:
    """Return whether a customer of the account has this external id."""
    found = await session.scalar(
        select(col(Customer.id)).where(
            col(Customer.workspace_id) == workspace_id, col(Customer.external_id) == external_id
        )
    )
    return found is not None


async def page_of_customers(session: AsyncSession, workspace_id: str, page: Page) -> Slice[Customer]:
    """Return the account's customers, disabled ones included, newest first."""
    return await fetch(
        session,
        select(Customer).where(col(Customer.workspace_id) == workspace_id),
        page,
        order=newest_first(col(Customer.created_at), col(Customer.id)),
        created_at=col(Customer.created_at),
    )


async def page_of_audit_entries(session: AsyncSession, workspace_id: str, page: Page) -> Slice[AuditEntry]:
    """Return the account's audit entries, those of its customers included, newest first."""
    return await fetch(
        session,
        select(AuditEntry).where(col(AuditEntry.workspace_id) == workspace_id),
        page,
        order=newest_first(col(AuditEntry.created_at), col(AuditEntry.id)),
        created_at=col(AuditEntry.created_at),
    )
