"""Marks: the texts by which sealed rows say whom they are about, so that they are found without being opened."""

from collections.abc import Collection

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import idempotency
from models.base.clock import service_time
from models.base.errors import Conflict, NotFound
from models.base.ids import new_id
from models.base.paging import Column, Page, Slice, fetch, newest_first
from models.base.tenants import Tenant
from models.people.outreach_port import outreach
from models.people.rules.registers import Forbidden, Reason
from models.people.tables import Person, PersonKey, Suppression

MARKS = text(
    """
    select id from people where id = any(cast(:ids as text[])) or alias_of = any(cast(:ids as text[]))
    union all
    select encode(hash, 'hex') from person_keys where profile_id = any(cast(:ids as text[]))
    """
)


async def marks_of(session: AsyncSession, profile_ids: Collection[str]) -> list[str]:
    """Every mark of these people, given by the ids that stand for them: their ids, aliases and keyed hashes."""
    return list(await session.scalars(MARKS, {"ids": list(profile_ids)}))


def mark_of_key(key_hash: bytes) -> str:
    """The mark of somebody of whom only a key is known, by its keyed hash."""
    return key_hash.hex()


# Suppressions: people whom an account, a customer or the whole installation may not fetch, pay, see or contact.


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


def suppression_parameters(tenant: Tenant) -> dict[str, str | None]:
    """What `BINDS` takes."""
    return {"workspace": tenant.workspace_id, "customer": tenant.customer_id}


async def among(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> set[str]:
    """Who of these people is suppressed for the tenant. The ids are those that stand for the people."""
    rows = await session.execute(AMONG, {"ids": list(profile_ids)} | suppression_parameters(tenant))
    return {row[0] for row in rows}


async def suppress(
    session: AsyncSession, tenant: Tenant | None, profile_id: str, *, reason: Reason
) -> tuple[Suppression, bool]:
    """Suppress a person whom the caller holds; for the installation without a tenant. Whether it is new comes second.

    An erasure or opt-out takes the place of what was written by hand, which could be removed again. Open enrollments
    stop and planned actions are cancelled. Answers kept for repeated calls forget the person.
    """
    why = Forbidden.ERASED if reason is Reason.ERASURE else Forbidden.SUPPRESSED
    await outreach().stop(session, [profile_id], why, within=tenant, alone=False)
    await idempotency.forget_people(session, tenant, await marks_of(session, [profile_id]))
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


async def list_suppressions(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[Suppression]:
    """The tenant's suppressions, newest first; the account's list shows those of its customers too."""
    query = select(Suppression).where(col(Suppression.workspace_id) == tenant.workspace_id)
    if tenant.customer_id is not None:
        query = query.where(col(Suppression.customer_id) == tenant.customer_id)
    created_at = col(Suppression.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Suppression.id)), created_at=created_at)


async def lift_suppression(session: AsyncSession, tenant: Tenant, suppression_id: str) -> None:
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
