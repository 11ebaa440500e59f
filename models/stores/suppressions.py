"""Suppressions: people whom an account, a customer or the whole installation may not fetch, pay, see or contact.

One is bound to a person by the hash of one of the person's keys, so that it holds whatever becomes of ids and values.
"""

from collections.abc import Collection

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import Conflict, NotFound
from models.ids import new_id
from models.rules.suppressions import Reason
from models.stores import idempotency, marks
from models.stores.outreach import stopping
from models.stores.paging import Column, Page, Slice, fetch, newest_first
from models.tables import Person, PersonKey, Suppression
from models.tenancy import Tenant


def hides(tenant: Tenant, profile_id: Column) -> ColumnElement[bool]:
    """Whether the person of a row is suppressed for the tenant: by its own, the account's or a global suppression."""
    own = (col(Suppression.workspace_id) == tenant.workspace_id) & or_(
        col(Suppression.customer_id).is_(None), col(Suppression.customer_id) == tenant.customer_id
    )
    return exists(
        select(col(PersonKey.hash))
        .join(Suppression, col(Suppression.key_hash) == col(PersonKey.hash))
        .join(Person, func.coalesce(col(Person.alias_of), col(Person.id)) == col(PersonKey.profile_id))
        .where(col(Person.id) == profile_id, or_(col(Suppression.workspace_id).is_(None), own))
    )


BINDS = """(s.workspace_id is null or (s.workspace_id = :workspace
             and (s.customer_id is null or s.customer_id = cast(:customer as text))))"""
"""The same for SQL text: whether suppression `s` binds the tenant of `parameters`."""

AMONG = text(
    f"""
    select distinct k.profile_id from person_keys k join suppressions s on s.key_hash = k.hash
     where k.profile_id = any(cast(:ids as text[])) and {BINDS}
    """  # noqa: S608 - a constant of this module
)


def parameters(tenant: Tenant) -> dict[str, str | None]:
    """What `BINDS` takes."""
    return {"workspace": tenant.workspace_id, "customer": tenant.customer_id}


async def among(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> set[str]:
    """Who of these people is suppressed for the tenant. The ids are those that stand for the people."""
    rows = await session.execute(AMONG, {"ids": list(profile_ids)} | parameters(tenant))
    return {row[0] for row in rows}


async def suppress(
    session: AsyncSession, tenant: Tenant | None, profile_id: str, *, reason: Reason
) -> tuple[Suppression, bool]:
    """Suppress a person whom the caller holds; for the installation without a tenant. Whether it is new comes second.

    An erasure or opt-out takes the place of what was written by hand, which could be removed again. Open enrollments
    stop and planned actions are cancelled. Answers kept for repeated calls forget the person.
    """
    why = stopping.ERASED if reason is Reason.ERASURE else stopping.SUPPRESSED
    await stopping.stop_person(session, [profile_id], why, within=tenant)
    await idempotency.forget_people(session, tenant, await marks.of(session, [profile_id]))
    there = await _find(session, tenant, profile_id)
    if there is not None:
        there.profile_id = there.profile_id or profile_id  # suppressed before anybody met them
        if there.reason == Reason.MANUAL or reason is Reason.ERASURE:
            there.reason = reason
        return there, False
    now = await service_time(session)
    made = Suppression(
        id=new_id("sup", now),
        workspace_id=tenant.workspace_id if tenant else None,
        customer_id=tenant.customer_id if tenant else None,
        key_hash=await _key(session, profile_id),
        profile_id=profile_id,
        reason=reason,
        created_at=now,
    )
    session.add(made)
    await session.flush()
    return made, True


async def _find(session: AsyncSession, tenant: Tenant | None, profile_id: str) -> Suppression | None:
    keys = select(col(PersonKey.hash)).where(col(PersonKey.profile_id) == profile_id)
    query = select(Suppression).where(
        col(Suppression.key_hash).in_(keys),
        col(Suppression.workspace_id).is_not_distinct_from(tenant.workspace_id if tenant else None),
        col(Suppression.customer_id).is_not_distinct_from(tenant.customer_id if tenant else None),
    )
    return (await session.scalars(query.order_by(col(Suppression.id)).limit(1))).one_or_none()


async def _key(session: AsyncSession, profile_id: str) -> bytes:
    """Any key: whatever other keys the person has or gets lead to it."""
    query = select(col(PersonKey.hash)).where(col(PersonKey.profile_id) == profile_id)
    return (await session.scalars(query.order_by(col(PersonKey.hash)).limit(1))).one()


async def listed(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[Suppression]:
    """The tenant's suppressions, newest first; the account's list shows those of its customers too."""
    query = select(Suppression).where(col(Suppression.workspace_id) == tenant.workspace_id)
    if tenant.customer_id is not None:
        query = query.where(col(Suppression.customer_id) == tenant.customer_id)
    created_at = col(Suppression.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Suppression.id)), created_at=created_at)


async def remove(session: AsyncSession, tenant: Tenant, suppression_id: str) -> None:
    """Lift a suppression that was written by hand in this tenant. Raises `NotFound`, `Conflict`."""
    own = (
        col(Suppression.id) == suppression_id,
        col(Suppression.workspace_id) == tenant.workspace_id,
        col(Suppression.customer_id).is_not_distinct_from(tenant.customer_id),
    )
    gone = await session.execute(
        delete(Suppression).where(*own, col(Suppression.reason) == Reason.MANUAL).returning(col(Suppression.id))
    )
    if gone.scalar_one_or_none() is not None:
        return
    if await session.scalar(select(col(Suppression.id)).where(*own)) is None:
        raise NotFound("There is no such suppression.")
    raise Conflict("What a person asked for cannot be undone; only manual suppressions can be removed.")
