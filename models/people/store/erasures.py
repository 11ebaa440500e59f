"""Erasures: everything that names or describes a person goes, in one transaction; keyed hashes stay and block.

A table that gets a `profile_id` belongs into `PERSONAL` when its rows say anything about the person; a test looks.
"""

import json
from collections.abc import Mapping, Sequence

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.clock import service_time
from models.base.database import widened
from models.base.errors import Conflict, NotFound, serialized
from models.base.ids import new_id
from models.base.tenants import Tenant, all_tenants
from models.people.rules.registers import Reason
from models.people.store import suppressions
from models.people.tables import Erasure, Person

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
"""Tables whose rows stay, because caps count them, without what they say about the person.

That an action had a text stays known: an invite with a note counts otherwise than one without.
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
           and (about && cast(:marks as text[]) or (status <> 'done' and until < (select clock_timestamp())))"""  # noqa: S608
)
"""Rows that stay, for they are about others too. Calls that were lost on their way may name anybody."""
ERASED_MEANWHILE = "Somebody whom this call was about has just been erased. Repeat the call."

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
    await session.execute(EMPTY_INPUTS, scope)
    failure = json.dumps(serialized(Conflict(ERASED_MEANWHILE, retry_after=1)))
    await session.execute(
        EMPTY_CALLS,
        {"workspace": workspace_id, "marks": await suppressions.marks_of(session, ids[:1]), "told": failure},
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


async def get_erasure(session: AsyncSession, workspace_id: str, erasure_id: str) -> Erasure:
    """An erasure that the account asked for. Raises `NotFound`."""
    query = select(Erasure).where(col(Erasure.id) == erasure_id, col(Erasure.workspace_id) == workspace_id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such erasure.")
    return found
