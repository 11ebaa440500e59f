"""Customers of an account."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Customer


async def find(session: AsyncSession, workspace_id: str, customer_id: str) -> Customer | None:
    """A customer of the account."""
    query = select(Customer).where(col(Customer.id) == customer_id, col(Customer.workspace_id) == workspace_id)
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def is_external_id_taken(session: AsyncSession, workspace_id: str, external_id: str) -> bool:
    """Whether a customer of the account has this external id."""
    found = await session.scalar(
        select(col(Customer.id)).where(
            col(Customer.workspace_id) == workspace_id, col(Customer.external_id) == external_id
        )
    )
    return found is not None


async def listed(session: AsyncSession, workspace_id: str, page: Page) -> Slice[Customer]:
    """The account's customers, disabled ones included, newest first."""
    return await fetch(
        session,
        select(Customer).where(col(Customer.workspace_id) == workspace_id),
        page,
        order=newest_first(col(Customer.created_at), col(Customer.id)),
        created_at=col(Customer.created_at),
    )
