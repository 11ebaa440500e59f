"""Erasures: everything that names or describes a person goes, in one transaction; keyed hashes stay and block.

A table that gets a `profile_id` belongs into `PERSONAL` when its rows say anything about the person; a test looks.
"""

from collections.abc import Sequence

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import NotFound
from models.ids import new_id
from models.rules.suppressions import Reason
from models.stores import suppressions
from models.tables import Erasure, Person
from models.tenancy import Tenant

PERSONAL = (
    "candidates",
    "seen_entries",
    "list_people",
    "profile_copies",
    "messages",
    "conversations",
    "network_people",
)
"""Tables whose rows about a person are deleted, those of an account by their `workspace_id`."""

CLEARED = {
    "enrollments": "given = '{}'",
    "actions": "text = case when text is null then null else '' end, values_hash = null, provider_message_id = null",
}
"""Tables whose rows stay, because caps count them, without what they say about the person.

That an action had a text stays known: an invite with a note counts otherwise than one without.
"""

REFERRING = ("candidates", "seen_entries", "list_people", "profile_copies", "leads", "enrollments", "actions")
"""Tables by whose rows another account has a right of its own to know the person."""

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


async def erase(session: AsyncSession, workspace_id: str | None, profile_id: str) -> Erasure:
    """Erase a person, whom the caller holds, from an account with all its customers, or from the installation.

    What the installation keeps of the person (the cached profile, the source's id, the profile URL) goes too unless
    another account has a right to it. Erasing again erases what came since.
    """
    tenant = None if workspace_id is None else Tenant(workspace_id)
    await suppressions.suppress(session, tenant, profile_id, reason=Reason.ERASURE)
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


async def renew(session: AsyncSession, profile_id: str) -> None:
    """Erase what was just found to be about an erased person, whom the caller holds."""
    scopes = (await session.scalars(ERASED_FROM, {"id": profile_id})).all()
    for workspace_id in scopes:
        await _delete(session, workspace_id, await _ids(session, profile_id))


async def _delete(session: AsyncSession, workspace_id: str | None, ids: Sequence[str]) -> None:
    scope = {"ids": ids, "workspace": workspace_id}
    for statement in DELETE:
        await session.execute(statement, scope)
    if workspace_id is None or not [one for one in ELSEWHERE if await session.scalar(one, scope)]:
        for statement in UNNAME:
            await session.execute(statement, {"ids": ids})


async def _ids(session: AsyncSession, profile_id: str) -> Sequence[str]:
    aliases = await session.scalars(select(col(Person.id)).where(col(Person.alias_of) == profile_id))
    return [profile_id, *aliases]


async def get(session: AsyncSession, workspace_id: str, erasure_id: str) -> Erasure:
    """An erasure that the account asked for. Raises `NotFound`."""
    query = select(Erasure).where(col(Erasure.id) == erasure_id, col(Erasure.workspace_id) == workspace_id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such erasure.")
    return found
