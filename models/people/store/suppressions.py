"""Suppressions and erasures: people who may not be fetched, charged for, shown or contacted."""

import json
from collections.abc import Collection, Mapping, Sequence

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import idempotency
from models.base.database import service_time, widened
from models.base.errors import Conflict, NotFound, serialized
from models.base.ids import new_id
from models.base.paging import Column, Page, Slice, fetch, newest_first
from models.base.tenants import Tenant, all_tenants
from models.people.outreach_port import outreach
from models.people.rules.registers import NoContactReason, SuppressionReason
from models.people.tables import Erasure, Person, PersonKey, Suppression

MARKS = text(
    """
    select id from people where id = any(cast(:ids as text[])) or alias_of = any(cast(:ids as text[]))
    union all
    select encode(hash, 'hex') from person_keys where profile_id = any(cast(:ids as text[]))
    """
)


async def marks_of(session: AsyncSession, profile_ids: Collection[str]) -> list[str]:
    """Return every mark of these people, given by their current ids: ids, aliases and keyed hashes.

    A mark is a text by which a sealed row names a person, so that it is found without being opened.
    """
    return list(await session.scalars(MARKS, {"ids": list(profile_ids)}))


def mark_of_key(key_hash: bytes) -> str:
    """Return the mark of a person of whom only a key is known, by its keyed hash."""
    return key_hash.hex()


def is_suppressed_for(tenant: Tenant, profile_id: Column) -> ColumnElement[bool]:
    """Return the condition that a row's person is suppressed for the tenant, its account or the installation."""
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
"""The same as SQL text: suppression `s` binds the tenant of `suppression_parameters`."""

AMONG = text(
    f"""
    select distinct k.profile_id from person_keys k join suppressions s on s.key_hash = k.hash
     where k.profile_id = any(cast(:ids as text[])) and {BINDS}
    """  # noqa: S608 - a constant of this module
)


def suppression_parameters(tenant: Tenant) -> dict[str, str | None]:
    """Return the parameters of `BINDS`."""
    return {"workspace": tenant.workspace_id, "customer": tenant.customer_id}


async def suppressed_among(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str]) -> set[str]:
    """Return who of these people, given by their current ids, is suppressed for the tenant."""
    rows = await session.execute(AMONG, {"ids": list(profile_ids)} | suppression_parameters(tenant))
    return {row[0] for row in rows}


async def suppress(
    session: AsyncSession, tenant: Tenant | None, profile_id: str, *, reason: SuppressionReason
) -> tuple[Suppression, bool]:
    """Suppress a locked person for the tenant, or for the installation without one; return whether it is new as well.

    An erasure or opt-out replaces a manual suppression, which could be removed again. Open enrollments stop, planned
    actions are cancelled, and answers kept for repeated calls lose their body.
    """
    why = NoContactReason.ERASED if reason is SuppressionReason.ERASURE else NoContactReason.SUPPRESSED
    await outreach().stop(session, [profile_id], why, within=tenant, alone=False)
    await idempotency.forget_people(session, tenant, await marks_of(session, [profile_id]))
    there = await _find(session, tenant, profile_id)
    if there is not None:
        there.profile_id = there.profile_id or profile_id  # suppressed before the person had an id
        if there.reason == SuppressionReason.MANUAL or reason is SuppressionReason.ERASURE:
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
    """Return any key of the person: the person's other keys lead to it."""
    query = select(col(PersonKey.hash)).where(col(PersonKey.profile_id) == profile_id)
    return (await session.scalars(query.order_by(col(PersonKey.hash)).limit(1))).one()


async def page_of_suppressions(session: AsyncSession, tenant: Tenant, page: Page) -> Slice[Suppression]:
    """Return the tenant's suppressions, newest first; the account's list shows those of its customers too."""
    query = select(Suppression).where(col(Suppression.workspace_id) == tenant.workspace_id)
    if tenant.customer_id is not None:
        query = query.where(col(Suppression.customer_id) == tenant.customer_id)
    created_at = col(Suppression.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Suppression.id)), created_at=created_at)


async def lift_suppression(session: AsyncSession, tenant: Tenant, suppression_id: str) -> None:
    """Delete a manual suppression of this tenant. Raises `NotFound`, `Conflict`."""
    own = (
        col(Suppression.id) == suppression_id,
        col(Suppression.workspace_id) == tenant.workspace_id,
        col(Suppression.customer_id).is_not_distinct_from(tenant.customer_id),
    )
    gone = await session.execute(
        delete(Suppression)
        .where(*own, col(Suppression.reason) == SuppressionReason.MANUAL)
        .returning(col(Suppression.id))
    )
    if gone.scalar_one_or_none() is not None:
        return
    if await session.scalar(select(col(Suppression.id)).where(*own)) is None:
        raise NotFound("There is no such suppression.")
    raise Conflict("Only manual suppressions can be removed; this one is the person's own request.")


PERSONAL = (
    "candidates",
    "contacts",
    "contacts_asked",
    "seen_entries",
    "list_people",
    "profile_copies",
    "scroll_people",
    "messages",
    "conversations",
    "network_people",
)
"""Tables whose rows about a person are deleted, those of an account by their `workspace_id`."""

CLEARED = {
    "enrollments": "given = '{}'",
    "actions": "text = case when text is null then null else '' end, values_hash = null, provider_message_id = null",
}
"""Tables whose rows stay, because caps count them; what they say about the person is cleared.

That an action had a text stays known: an invite with a note counts against other caps than one without.
"""

REFERRING = (
    "candidates",
    "contacts",
    "seen_entries",
    "list_people",
    "profile_copies",
    "leads",
    "enrollments",
    "actions",
)
"""Tables whose rows give another account its own right to know the person."""

DELETE = tuple(
    text(
        f"delete from {table} where profile_id = any(cast(:ids as text[]))"  # noqa: S608 - constants of this module
        " and (cast(:workspace as text) is null or workspace_id = :workspace)"
    )
    for table in PERSONAL
) + tuple(
    text(
        f"update {table} set {what} where profile_id = any(cast(:ids as text[]))"  # noqa: S608 - constants of this module
        " and (cast(:workspace as text) is null or workspace_id = :workspace)"
    )
    for table, what in CLEARED.items()
)

OWN = "(cast(:workspace as text) is null or workspace_id = :workspace)"
EMPTY_INPUTS = text(
    f"""update job_inputs set sealed = null, url_hash = null, profile_id = null, status = 'suppressed'
         where (profile_id = any(cast(:ids as text[]))
                or url_hash = any(array(select hash from person_keys where profile_id = any(cast(:ids as text[])))))
           and {OWN}"""  # noqa: S608 - constants of this module
)
EMPTY_CALLS = text(
    f"""update upstream_calls
           set status = 'failed', ask = null, result = null, about = '{{}}', failure = cast(:told as jsonb)
         where status in ('waiting', 'running', 'done') and {OWN}
           and (about && cast(:marks as text[]) or (status <> 'done' and until < (select clock_timestamp())))"""  # noqa: S608 - constants of this module
)
"""Rows that stay, because they are about other people too. A call that got lost may name any person."""
ERASED_MEANWHILE = "A person whom this call was about has just been erased. Repeat the call."

ELSEWHERE = tuple(
    text(
        f"select exists (select 1 from {table} where profile_id = any(cast(:ids as text[]))"  # noqa: S608 - constants
        " and workspace_id <> :workspace)"
    )
    for table in REFERRING
)

UNNAME = (
    text("update person_keys set value = null where profile_id = any(cast(:ids as text[]))"),
    text("delete from cached_profiles where profile_id = any(cast(:ids as text[]))"),
)


async def erase_person(session: AsyncSession, workspace_id: str | None, profile_id: str) -> Erasure:
    """Erase a locked person from an account with all its customers, or from the installation.

    What the installation keeps of the person (the cached profile, the source's id, the profile URL) is deleted too,
    unless another account has a right to it. Erasing again erases what was added since.
    """
    tenant = None if workspace_id is None else Tenant(workspace_id)
    await suppress(session, tenant, profile_id, reason=SuppressionReason.ERASURE)
    await _delete(session, workspace_id, await _ids(session, profile_id))
    now = await service_time(session)
    made = Erasure(id=new_id("ers", now), workspace_id=workspace_id, profile_id=profile_id, created_at=now)
    session.add(made)
    await session.flush()
    return made


ERASED_FROM = text(
    """
    select distinct s.workspace_id from suppressions s join person_keys k on k.hash = s.key_hash
     where k.profile_id = :id and s.reason = 'erasure'
    """
)


async def erase_again(session: AsyncSession, profile_id: str) -> None:
    """Erase, for a locked person who was erased before, what another id of theirs has brought in."""
    scopes = (await session.scalars(ERASED_FROM, {"id": profile_id})).all()
    for workspace_id in scopes:
        await _delete(session, workspace_id, await _ids(session, profile_id))


async def _delete(session: AsyncSession, workspace_id: str | None, ids: Sequence[str]) -> None:
    scope = {"ids": ids, "workspace": workspace_id}
    for statement in DELETE:
        await session.execute(statement, scope)
    await session.execute(EMPTY_INPUTS, scope)
    failure = json.dumps(serialized(Conflict(ERASED_MEANWHILE, retry_after=1)))
    await session.execute(
        EMPTY_CALLS,
        {"workspace": workspace_id, "marks": await marks_of(session, ids[:1]), "told": failure},
    )
    if workspace_id is None or not await _known_elsewhere(session, scope):
        for statement in UNNAME:
            await session.execute(statement, {"ids": ids})


async def _known_elsewhere(session: AsyncSession, scope: Mapping[str, object]) -> bool:
    async with widened(session, all_tenants("whether another account has a right to know a person")):
        return bool([one for one in ELSEWHERE if await session.scalar(one, scope)])


async def _ids(session: AsyncSession, profile_id: str) -> Sequence[str]:
    aliases = await session.scalars(select(col(Person.id)).where(col(Person.alias_of) == profile_id))
    return [profile_id, *aliases]


async def load_erasure(session: AsyncSession, workspace_id: str, erasure_id: str) -> Erasure:
    """Return an erasure that the account asked for. Raises `NotFound`."""
    query = select(Erasure).where(col(Erasure.id) == erasure_id, col(Erasure.workspace_id) == workspace_id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such erasure.")
    return found
