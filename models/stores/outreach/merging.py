"""Merging: two ids found to be one person, as outreach sees it. The caller holds both."""

from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.rules.outreach.states import ActionReason, EnrollmentReason
from models.stores.outreach import stopping
from models.stores.outreach.stopping import Why
from models.tables.outreach import OPEN_ENROLLMENTS
from models.tenancy import Tenant, customer_of

SECOND = Why(EnrollmentReason.ALREADY_CONTACTED, ActionReason.ALREADY_CONTACTED)

SECOND_ENROLLMENTS = text(
    f"""
    select id from (
      select id, row_number() over (partition by tenant_id order by created_at, id) as place from enrollments
       where profile_id in (:survivor, :newer) and {OPEN_ENROLLMENTS}) as opened
     where place > 1 order by id
    """  # noqa: S608 - a constant of the tables
)

TAKE_OVER = (
    "update enrollments set profile_id = :survivor where profile_id = :newer",
    "update actions set profile_id = :survivor where profile_id = :newer",
    "update conversations set profile_id = :survivor where profile_id = :newer",
    "update messages set profile_id = :survivor where profile_id = :newer",
    """update network_people set profile_id = :survivor where profile_id = :newer and not exists (
         select from network_people o where o.account_id = network_people.account_id and o.profile_id = :survivor)""",
    "delete from network_people where profile_id = :newer",
)

FORBIDDEN = text(
    """
    select s.workspace_id, s.customer_id as tenant_id, s.reason, false as alone
      from suppressions s join person_keys k on k.hash = s.key_hash where k.profile_id = :survivor
    union
    select workspace_id, tenant_id, 'do_not_contact', true
      from seen_entries where profile_id = :survivor and do_not_contact
    """
)


async def take_over(session: AsyncSession, *, survivor: str, newer: str) -> None:
    """Give what is open and was done with the newer id to the older one.

    Of two enrollments open in one tenant the later one stops, and what forbids writing to either stops both.
    """
    named = {"survivor": survivor, "newer": newer}
    now = await service_time(session)
    second = list(await session.scalars(SECOND_ENROLLMENTS, named))
    await stopping.end(session, second, SECOND, now)
    for statement in TAKE_OVER:
        await session.execute(text(statement), named)
    for row in (await session.execute(FORBIDDEN, named)).all():
        await stopping.stop_person(session, [survivor], _why(row.reason), within=_tenant(row), alone=row.alone)


def _why(reason: str) -> Why:
    if reason == "do_not_contact":
        return stopping.DO_NOT_CONTACT
    return stopping.ERASED if reason == "erasure" else stopping.SUPPRESSED


def _tenant(row: Row[Any]) -> Tenant | None:
    if row.workspace_id is None:
        return None
    return Tenant(row.workspace_id, customer_of(row.tenant_id) if row.tenant_id else None)
