"""Replanning: after a change of settings, caps or an account, everything planned gets a new time in the original order.

The change asks for it; the account's next step does it in one pass over its calendar and wakes the rows whose time
became earlier. The others wake at their old time and find the new one.
"""

from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.tenants import Tenant
from models.outreach.engine import plan
from models.outreach.rules.slots import Slot, find_slot
from models.outreach.rules.states import ActionOutcome, EnrollmentStatus
from models.outreach.store import calendars
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import Action, Enrollment, OutreachSequence

PLANNED = (EnrollmentStatus.SCHEDULED, EnrollmentStatus.ACTIVE, EnrollmentStatus.WAITING_FOR_ACCEPT)
"""Enrollments whose planned action has a time; held ones get theirs when they go on."""


ASK_TENANT = text(
    "update outreach_accounts set replan_asked = true where tenant_id = :tenant and status <> 'removed' returning id"
)


async def ask_tenant(session: AsyncSession, tenant: Tenant) -> None:
    """Have what every account of a tenant plans planned again. Its settings are locked."""
    await session.flush()
    asked = (await session.scalars(ASK_TENANT, {"tenant": tenant.id})).all()
    await outbox.wake_many(session, "account", asked)


@dataclass(frozen=True, slots=True)
class _Planned:
    action: Action
    enrollment: Enrollment | None
    sequence: OutreachSequence | None


async def replan(session: AsyncSession, held: LockedAccount) -> None:
    """Give everything that the account plans a new time, in the order in which it was planned.

    The account is locked. What waits without a time comes behind what has one.
    """
    planned = await _planned(session, held.account.id)
    ids = {one.action.id for one in planned}
    calendar = await calendars.load_calendar(session, held, without_all=ids)
    for one in planned:
        action, before = one.action, one.action.scheduled_at
        bounds = [held.now, action.not_before, _held_back_until(held, action)]
        request = calendars.request_of(action, one.sequence)
        answer = find_slot(calendar, request, max(at for at in bounds if at is not None))
        if isinstance(answer, Slot):
            calendar.book(request, answer.at)
        if (answer.at if isinstance(answer, Slot) else None) != before:
            plan.write_slot(action, answer)
            _show(one, before)
    if planned:
        await session.flush()
        await outbox.notify(session)


def _held_back_until(held: LockedAccount, action: Action) -> datetime | None:
    written = held.account.holds.get(action.type)
    return None if written is None else datetime.fromisoformat(written)


def _show(one: _Planned, before: datetime | None) -> None:
    """Show the new time on the enrollment, and wake the row when it is earlier than the time it sleeps until."""
    at = one.action.scheduled_at
    earlier = at is not None and (before is None or at < before)
    if one.enrollment is not None:
        one.enrollment.next_action_at = at
    if earlier:
        (one.enrollment or one.action).rings += 1


async def _planned(session: AsyncSession, account_id: str) -> list[_Planned]:
    """Everything that is planned and unclaimed, its enrollments and actions locked in this order, as it was planned."""
    enrollments = {row.id: row for row in await _enrollments(session, account_id)}
    query = (
        select(Action)
        .where(col(Action.account_id) == account_id, col(Action.outcome) == ActionOutcome.SCHEDULED)
        .order_by(col(Action.id))
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    actions = [
        row for row in await session.scalars(query) if row.enrollment_id is None or row.enrollment_id in enrollments
    ]
    sequences = {row.id: row for row in await _sequences(session, {row.sequence_id for row in enrollments.values()})}
    found = []
    for action in actions:
        enrollment = enrollments.get(action.enrollment_id or "")
        found.append(_Planned(action, enrollment, sequences.get(enrollment.sequence_id) if enrollment else None))
    return sorted(found, key=_order)


def _order(one: _Planned) -> tuple[bool, datetime, int, datetime, str]:
    action, enrollment = one.action, one.enrollment
    first = action.scheduled_at or (enrollment.created_at if enrollment else action.created_at)
    place = enrollment.position if enrollment else 0
    return action.scheduled_at is None, first, place, action.created_at, action.id


async def _enrollments(session: AsyncSession, account_id: str) -> Ordered[Enrollment]:
    query = (
        select(Enrollment)
        .where(col(Enrollment.account_id) == account_id, col(Enrollment.status).in_(PLANNED))
        .order_by(col(Enrollment.id))
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return (await session.scalars(query)).all()


async def _sequences(session: AsyncSession, ids: set[str]) -> Ordered[OutreachSequence]:
    return (await session.scalars(select(OutreachSequence).where(col(OutreachSequence.id).in_(ids)))).all()
