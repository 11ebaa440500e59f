"""Actions as callers read them."""

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.errors import NotFound
from models.rules.outreach.states import ActionOutcome
from models.rules.subjects import Subject
from models.stores import doorbells
from models.stores.outreach.scenes import ids_of
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Action
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Filters:
    """Which actions to show; null is any. `profile_id` may be any id that means the person."""

    outcome: ActionOutcome | None = None
    enrollment_id: str | None = None
    sequence_id: str | None = None
    account_id: str | None = None
    profile_id: str | None = None


async def get(session: AsyncSession, tenant: Tenant, action_id: str) -> Action:
    """The tenant's action. Raises `NotFound`."""
    query = select(Action).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such action.")
    return found


async def listed(session: AsyncSession, tenant: Tenant, filters: Filters, page: Page) -> Slice[Action]:
    """The tenant's actions, newest first."""
    query = select(Action).where(col(Action.tenant_id) == tenant.id)
    for column, wanted in (
        (col(Action.outcome), filters.outcome),
        (col(Action.enrollment_id), filters.enrollment_id),
        (col(Action.sequence_id), filters.sequence_id),
        (col(Action.account_id), filters.account_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    if filters.profile_id is not None:
        query = query.where(
            col(Action.profile_id).in_([filters.profile_id, *await ids_of(session, filters.profile_id)])
        )
    created_at = col(Action.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Action.id)), created_at=created_at)


async def ring(session: AsyncSession, tenant: Tenant, action_id: str) -> None:
    """Ring what an action waits with, if the tenant has it: its enrollment, or the action itself."""
    query = select(Action).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        return
    alone = found.enrollment_id is None
    await doorbells.ring(
        session, Subject("action", found.id) if alone else Subject("enrollment", str(found.enrollment_id))
    )
