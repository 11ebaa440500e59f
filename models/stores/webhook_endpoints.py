"""Webhook endpoints: kept, found, and closed to what is pending when they are disabled or deleted."""

from sqlalchemy import delete, func, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.errors import NotFound
from models.rules.deliveries import EndpointStatus
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import WebhookEndpoint

SECRET_PURPOSE = "webhook"  # noqa: S105 - the vault's purpose, not a secret


async def count(session: AsyncSession, workspace_id: str) -> int:
    """How many endpoints the account has, disabled ones included."""
    query = select(func.count()).where(col(WebhookEndpoint.workspace_id) == workspace_id)
    return int(await session.scalar(query) or 0)


async def get(session: AsyncSession, workspace_id: str, endpoint_id: str, *, lock: bool = False) -> WebhookEndpoint:
    """An endpoint of the account. Raises `NotFound`.

    The lock leaves whoever emits alone; it keeps attempts from starting and ending.
    """
    query = select(WebhookEndpoint).where(
        col(WebhookEndpoint.id) == endpoint_id, col(WebhookEndpoint.workspace_id) == workspace_id
    )
    row = (await session.scalars(query.with_for_update(key_share=True) if lock else query)).one_or_none()
    if row is None:
        raise NotFound("There is no such webhook endpoint.")
    return row


async def listed(session: AsyncSession, workspace_id: str, page: Page) -> Slice[WebhookEndpoint]:
    """The account's endpoints, disabled ones included, newest first."""
    created_at = col(WebhookEndpoint.created_at)
    query = select(WebhookEndpoint).where(col(WebhookEndpoint.workspace_id) == workspace_id)
    order = newest_first(created_at, col(WebhookEndpoint.id))
    return await fetch(session, query, page, order=order, created_at=created_at)


async def disable(session: AsyncSession, endpoint: WebhookEndpoint) -> None:
    """Stop all deliveries and drop what is pending. `endpoint` is locked.

    What is being queued in this moment by others carries the old generation, and is dropped when its turn comes.
    """
    endpoint.status = EndpointStatus.DISABLED
    endpoint.generation += 1
    await session.flush()
    await _drop(session, endpoint.id)


async def remove(session: AsyncSession, endpoint: WebhookEndpoint) -> None:
    """Delete an endpoint and drop what is pending. `endpoint` is locked."""
    await session.execute(delete(WebhookEndpoint).where(col(WebhookEndpoint.id) == endpoint.id))
    await _drop(session, endpoint.id)


DROP = text(
    """
    update deliveries set status = 'dropped', turn = null, due_at = null, wake_at = null, answered = rings
     where endpoint_id = :endpoint and status = 'pending'
    """
)


async def _drop(session: AsyncSession, endpoint_id: str) -> None:
    """One statement however many there are. Nobody is rung: a sleeping workflow sees it when its timer ends."""
    await session.execute(DROP, {"endpoint": endpoint_id})
