"""Entering: writes what was decided about people as enrollments and their first actions. The caller holds the locks."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.ids import new_id
from models.rules.events import EventType
from models.rules.outreach.states import ActionOutcome, EnrollmentStatus
from models.stores.doorbells import CHANNEL
from models.stores.outreach import enrollments, limits, marks
from models.stores.outreach.accounts import Held
from models.stores.outreach.enrolling import Decided, Enrolling, is_first_touch, reached
from models.stores.outreach.telling import tell
from models.stores.outreach.texts import values_hash
from models.tables import Action, Enrollment

NOTIFY = text("select pg_notify(:channel, '')")


async def enter(
    session: AsyncSession, held: Held, enrolling: Enrolling, decided: Sequence[Decided], *, api_key_id: str
) -> list[Enrollment]:
    """Enroll those who are to be enrolled: booked or held, marked contacted, told of and rung.

    The first people of an account start its warm-up. A cap that kept somebody out is told once for its window.
    """
    account, now = held.account, held.now
    entered = [one for one in decided if one.enrolled]
    rows = [_enrollment(held, enrolling, one, place) for place, one in enumerate(entered)]
    session.add_all(rows)
    await session.flush()
    for row, one in zip(rows, entered, strict=True):
        action = _action(row, enrolling, one, api_key_id=api_key_id)
        session.add(action)
        enrollments.tell(session, EventType.ENROLLMENT_CREATED, row, now)
        if action.outcome == ActionOutcome.AWAITING_APPROVAL:
            tell(session, EventType.ACTION_AWAITING_APPROVAL, action, now)
    if rows:
        account.warmup_started_at = account.warmup_started_at or now
        await marks.contacted(session, held.tenant, {row.profile_id for row in rows}, now)
        await session.execute(NOTIFY, {"channel": CHANNEL})
    for cap, later in reached(decided, now).items():
        await limits.tell_reached(session, account, cap, next_available_at=later, now=now)
    return rows


def _enrollment(held: Held, enrolling: Enrolling, one: Decided, place: int) -> Enrollment:
    return Enrollment(
        id=new_id("enr", held.now),
        workspace_id=held.tenant.workspace_id,
        tenant_id=held.tenant.id,
        sequence_id=enrolling.sequence.id,
        account_id=held.account.id,
        profile_id=one.prospect.profile_id or "",
        status=(EnrollmentStatus.AWAITING_APPROVAL if enrolling.holds else EnrollmentStatus.SCHEDULED).value,
        given=one.prospect.values,
        position=place,
        next_action_at=_at(one),
        rings=1,
        created_at=held.now,
    )


def _at(one: Decided) -> datetime | None:
    return one.slot.at if one.slot is not None else None


def _action(row: Enrollment, enrolling: Enrolling, one: Decided, *, api_key_id: str) -> Action:
    step, first = enrolling.first, one.rendered[0]
    held = enrolling.holds
    return Action(
        id=new_id("act", row.created_at),
        workspace_id=row.workspace_id,
        tenant_id=row.tenant_id,
        type=step.type.value,
        outcome=(ActionOutcome.AWAITING_APPROVAL if held else ActionOutcome.SCHEDULED).value,
        why=[move.shown() for move in one.why],
        seed=one.seed,
        account_id=row.account_id,
        profile_id=row.profile_id,
        enrollment_id=row.id,
        sequence_id=row.sequence_id,
        step_id=step.id,
        step_index=0,
        first_touch=is_first_touch(step),
        starts_sequence=True,
        text=first.text,
        text_fixed=held,
        values_hash=values_hash(one.prospect.person) if held else None,
        not_before=enrolling.not_before,
        scheduled_at=_at(one),
        api_key_id=api_key_id,
        created_at=row.created_at,
    )
