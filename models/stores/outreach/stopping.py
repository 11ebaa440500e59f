"""Stopping: whoever forbids writing to a person ends the open enrollments and planned actions in the same transaction.

The caller holds the people. A claim takes the same lock and reads again behind it, so that whoever commits first wins;
what is being sent at that moment is brought to its end by its own workflow.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.rules.outreach.states import ActionReason, EnrollmentReason, EnrollmentStatus
from models.stores.doorbells import CHANNEL
from models.stores.outreach import enrollments
from models.tables import Enrollment
from models.tables.outreach import OPEN_ENROLLMENTS
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Why:
    """Why nothing more is sent: what the enrollments say, and what their planned actions say."""

    enrollment: EnrollmentReason
    action: ActionReason
    keeps_withdrawals: bool = False
    """Direct withdrawals of an invite still go out: they write nothing."""


BY_HAND = Why(EnrollmentReason.MANUAL, ActionReason.STOPPED)
SUPPRESSED = Why(EnrollmentReason.SUPPRESSED, ActionReason.SUPPRESSED)
ERASED = Why(EnrollmentReason.ERASED, ActionReason.SUPPRESSED)
DO_NOT_CONTACT = Why(EnrollmentReason.DO_NOT_CONTACT, ActionReason.DO_NOT_CONTACT, keeps_withdrawals=True)

OPEN = text(
    f"""
    select id from enrollments
     where profile_id in (select id from people where id = any(cast(:ids as text[]))
                                                   or alias_of = any(cast(:ids as text[])))
       and {OPEN_ENROLLMENTS}
       and (cast(:workspace as text) is null or workspace_id = :workspace)
       and (cast(:tenant as text) is null or tenant_id = :tenant)
     order by id
    """  # noqa: S608 - a constant of the tables
)

CANCEL_STEPS = text(
    """
    update actions set outcome = 'cancelled', reason = :reason, scheduled_at = null, ended_at = :now
     where enrollment_id = any(cast(:enrollments as text[])) and outcome in ('scheduled', 'awaiting_approval')
    """
)

CANCEL_SENDS = text(
    """
    with cancelled as (
      update actions set outcome = 'cancelled', reason = :reason, scheduled_at = null, ended_at = :now,
                         rings = rings + 1
       where profile_id in (select id from people where id = any(cast(:ids as text[]))
                                                     or alias_of = any(cast(:ids as text[])))
         and enrollment_id is null and outcome in ('scheduled', 'awaiting_approval')
         and (cast(:workspace as text) is null or workspace_id = :workspace)
         and (cast(:tenant as text) is null or tenant_id = :tenant)
         and not (:keeps_withdrawals and type = 'withdraw_invite')
      returning 1
    )
    select pg_notify(:channel, '') where exists (select from cancelled)
    """
)

RING = text("update enrollments set rings = rings + 1 where id = any(cast(:ids as text[]))")
NOTIFY = text("select pg_notify(:channel, '')")


async def stop_person(
    session: AsyncSession, profile_ids: Collection[str], why: Why, *, within: Tenant | None, alone: bool = False
) -> None:
    """End everything open and planned with these people, under any id that means them.

    `within` as suppressions bind: a customer, or an account with all its customers (`alone`: without them), or, when
    null, the installation.
    """
    only = within is not None and (alone or within.customer_id is not None)
    scope = {
        "ids": list(profile_ids),
        "workspace": within.workspace_id if within else None,
        "tenant": within.id if within is not None and only else None,
    }
    now = await service_time(session)
    opened = list(await session.scalars(OPEN, scope))
    await end(session, opened, why, now)
    asked = {"reason": why.action.value, "now": now, "keeps_withdrawals": why.keeps_withdrawals, "channel": CHANNEL}
    await session.execute(CANCEL_SENDS, scope | asked)


async def end(session: AsyncSession, enrollment_ids: Collection[str], why: Why, now: datetime) -> None:
    """Stop these enrollments, cancel what they have planned, tell of it and ring them."""
    if not enrollment_ids:
        return
    await session.flush()
    query = select(Enrollment).where(col(Enrollment.id).in_(list(enrollment_ids))).order_by(col(Enrollment.id))
    held = query.with_for_update().execution_options(populate_existing=True)
    for row in (await session.scalars(held)).all():
        await enrollments.finish(session, row, EnrollmentStatus.STOPPED, why.enrollment, now)
    named = {"enrollments": list(enrollment_ids), "reason": why.action.value, "now": now}
    await session.execute(CANCEL_STEPS, named)
    await session.execute(RING, {"ids": list(enrollment_ids)})
    await session.execute(NOTIFY, {"channel": CHANNEL})
