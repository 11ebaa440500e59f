"""Stopping: forbidding to write to a person ends the open enrollments and planned actions in the same transaction.

The caller has locked the people. A claim takes the same lock and reads again after it, so that the first to commit
wins; an action that is being sent at that moment is brought to its end by its own workflow.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.database import lock_people_rows, service_time
from models.base.errors import Conflict
from models.base.outbox import CHANNEL
from models.base.tenants import Tenant, customer_of
from models.billing.store import payments
from models.events.rules.catalogue import EnrollmentChanged, EventType
from models.events.store import events
from models.outreach.engine.context import EnrollmentContext, seed_of, was_touched
from models.outreach.engine.plan import finish_enrollment
from models.outreach.rules.actions import CONTACTING, DESPITE_DO_NOT_CONTACT_SQL
from models.outreach.rules.caps import counts_against
from models.outreach.rules.sequences import DueStep, SequenceStep, Wait, WaitReason, next_step
from models.outreach.rules.slots import Request, Slot, SlotRefusal, find_slot
from models.outreach.rules.states import (
    FINAL_ENROLLMENTS,
    AccountStatus,
    ActionOutcome,
    ActionReason,
    EnrollmentReason,
    EnrollmentStatus,
    PauseReason,
    SequenceStatus,
)
from models.outreach.store import calendars
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import OPEN_ENROLLMENTS, Enrollment
from models.people.outreach_port import fill_in
from models.people.rules.registers import NoContactReason
from models.people.store.people import ids_of_person


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
    f"""
    with cancelled as (
      update actions set outcome = 'cancelled', reason = :reason, scheduled_at = null, ended_at = :now,
                         rings = rings + 1
       where profile_id in (select id from people where id = any(cast(:ids as text[]))
                                                     or alias_of = any(cast(:ids as text[])))
         and enrollment_id is null and outcome in ('scheduled', 'awaiting_approval')
         and (cast(:workspace as text) is null or workspace_id = :workspace)
         and (cast(:tenant as text) is null or tenant_id = :tenant)
         and not (:keeps_withdrawals and type in ({DESPITE_DO_NOT_CONTACT_SQL}))
      returning 1
    )
    select pg_notify(:channel, '') where exists (select from cancelled)
    """  # noqa: S608 - constants of the rules
)


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
    await stop_enrollments(session, opened, why, now)
    asked = {"reason": why.action.value, "now": now, "keeps_withdrawals": why.keeps_withdrawals, "channel": CHANNEL}
    await session.execute(CANCEL_SENDS, scope | asked)


async def stop_enrollments(session: AsyncSession, enrollment_ids: Collection[str], why: Why, now: datetime) -> None:
    """Stop these enrollments, cancel what they have planned, publish that and wake them."""
    if not enrollment_ids:
        return
    await session.flush()
    query = select(Enrollment).where(col(Enrollment.id).in_(list(enrollment_ids))).order_by(col(Enrollment.id))
    held = query.with_for_update().execution_options(populate_existing=True)
    for row in (await session.scalars(held)).all():
        await finish_enrollment(session, row, EnrollmentStatus.STOPPED, why.enrollment, now)
    named = {"enrollments": list(enrollment_ids), "reason": why.action.value, "now": now}
    await session.execute(CANCEL_STEPS, named)
    await outbox.wake_many(session, "enrollment", enrollment_ids)


def pause_enrollment_by_hand(context: EnrollmentContext, enrollment: Enrollment) -> None:
    """Hold the next steps until they are resumed, also past the settling of an unknown outcome.

    A hold for the owner's word, which only resuming ends anyway, stays what it is. Raises `Conflict` for an enrollment
    that has ended.
    """
    _refuse_ended(enrollment)
    if enrollment.status == EnrollmentStatus.PAUSED and enrollment.reason == EnrollmentReason.OWNER_WROTE:
        return
    enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, EnrollmentReason.MANUAL.value
    enrollment.next_action_at = None
    if context.action is not None and context.action.outcome == ActionOutcome.SCHEDULED:
        context.action.scheduled_at = None  # it gives its place back at once


async def stop(session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment) -> None:
    """End the enrollment for good; stopping again changes nothing. Raises `Conflict` for one that ended otherwise."""
    if enrollment.status == EnrollmentStatus.STOPPED:
        return
    _refuse_ended(enrollment)
    await stop_enrollments(session, [enrollment.id], BY_HAND, context.now)


def _refuse_ended(enrollment: Enrollment) -> None:
    if EnrollmentStatus(enrollment.status) in FINAL_ENROLLMENTS:
        raise Conflict("This enrollment has ended.", status=enrollment.status)


def refuse_resume(context: EnrollmentContext, enrollment: Enrollment) -> None:
    """Refuse to resume what is not paused by hand or for its owner's word. Raises `Conflict`."""
    _refuse_ended(enrollment)
    if context.action is not None and context.action.outcome == ActionOutcome.UNKNOWN:
        raise Conflict(
            "What became of an action is unknown.",
            fix=f"Look at the network, then POST /v1/outreach/actions/{context.action.id}/settle.",
            reason=EnrollmentReason.OUTCOME_UNKNOWN.value,
        )
    if context.sequence is None or context.sequence.status != SequenceStatus.ACTIVE:
        raise Conflict(
            "The sequence is paused.", fix="Make the sequence active.", reason=EnrollmentReason.SEQUENCE_PAUSED.value
        )


@dataclass(frozen=True, slots=True)
class Ahead:
    """When an enrollment goes on: `slot` of a step that is due, or `until` when one is; both null while one is held."""

    slot: Slot | SlotRefusal | None = None
    until: datetime | None = None
    status: EnrollmentStatus | None = None
    """What it waits for, where that is more than its time."""

    @property
    def at(self) -> datetime | None:
        """When something happens next, as far as it is known."""
        return self.slot.at if isinstance(self.slot, Slot) else self.until


async def resumes_at(session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment) -> Ahead:
    """When the enrollment would go on if it were resumed now."""
    planned = context.action
    if planned is not None and planned.outcome != ActionOutcome.SCHEDULED:
        held = planned.outcome == ActionOutcome.AWAITING_APPROVAL
        return Ahead(status=EnrollmentStatus.AWAITING_APPROVAL if held else None)
    following = next_step(
        context.steps,
        context.started(without=planned),
        context.connection(),
        enrolled_at=enrollment.created_at,
        now=context.now,
    )
    if isinstance(following, Wait):
        accept = following.reason is WaitReason.ACCEPTANCE
        return Ahead(until=following.until, status=EnrollmentStatus.WAITING_FOR_ACCEPT if accept else None)
    if not isinstance(following, DueStep):
        return Ahead()
    approved = planned is not None and planned.approved_at is not None
    if context.sequence is not None and context.sequence.approve_every_message and not approved:
        return Ahead()
    await session.flush()
    calendar = await calendars.load_calendar(session, context.held, without=planned.id if planned else None)
    if planned is not None:
        request = calendars.request_of(planned, context.sequence)
    else:
        request = await _request(session, context, enrollment, following.step)
    bounds = [context.now, planned.not_before if planned else None]
    return Ahead(find_slot(calendar, request, max(at for at in bounds if at is not None)))


async def _request(
    session: AsyncSession, context: EnrollmentContext, enrollment: Enrollment, step: SequenceStep
) -> Request:
    """What a step that was not planned yet will ask of the calendar."""
    ids = await ids_of_person(session, enrollment.profile_id)
    touched = await was_touched(session, enrollment.tenant_id, ids)
    new = step.type in CONTACTING and not touched
    caps = counts_against(step.type, with_text=step.text is not None, new_outreach=new)
    starts = context.sequence is not None and not any(one.claimed_at for one in context.actions)
    return Request(
        seed=await seed_of(session, context.account.id, enrollment.profile_id, step.id or step.type),
        caps=caps,
        sequence_id=enrollment.sequence_id if starts else None,
        pace=context.sequence.daily_pace_limit if starts and context.sequence else None,
    )


def resume(context: EnrollmentContext, enrollment: Enrollment, going: Ahead) -> None:
    """Let the enrollment go on; its workflow plans the next step from now."""
    begun = any(one.claimed_at is not None for one in context.actions)
    enrollment.status = (going.status or (EnrollmentStatus.ACTIVE if begun else EnrollmentStatus.SCHEDULED)).value
    enrollment.reason, enrollment.next_action_at = None, going.at
    if context.action is not None and isinstance(going.slot, Slot):
        context.action.scheduled_at = going.slot.at


CONCERNED = text(
    f"""
    select profile_id from enrollments where account_id = :id and {OPEN_ENROLLMENTS}
    union
    select profile_id from actions where account_id = :id and outcome in ('scheduled', 'awaiting_approval')
    """  # noqa: S608 - our own words
)
END_ENROLLMENTS = text(
    f"""
    update enrollments
       set status = 'failed', reason = 'account_removed', finished_at = :now, next_action_at = null, rings = rings + 1
     where account_id = :id and {OPEN_ENROLLMENTS}
    returning id as enrollment_id, sequence_id, account_id, profile_id, status, reason
    """  # noqa: S608 - our own words
)
CANCEL_ACTIONS = text(
    """
    update actions
       set outcome = 'cancelled', reason = 'account_removed', ended_at = :now,
           rings = rings + case when enrollment_id is null then 1 else 0 end
     where account_id = :id and outcome in ('scheduled', 'awaiting_approval')
    """
)


async def remove_account(session: AsyncSession, held: LockedAccount) -> None:
    """Remove the account: open enrollments fail, planned and held actions are cancelled. The caller wakes it.

    The record and its history stay, and come back when the same network account is connected here again. What is being
    sent in this moment comes to its own end. Repeating it changes nothing.
    """
    account, now = held.account, held.now
    if account.status == AccountStatus.REMOVED:
        return
    await session.flush()
    await lock_people_rows(session, list(await session.scalars(CONCERNED, {"id": account.id})))
    for row in (await session.execute(END_ENROLLMENTS, {"id": account.id, "now": now})).mappings().all():
        data = EnrollmentChanged.model_validate(dict(row))
        events.emit(session, held.tenant, EventType.ENROLLMENT_FAILED, data, now=now)
    await session.execute(CANCEL_ACTIONS, {"id": account.id, "now": now})
    account.status, account.removed_at = AccountStatus.REMOVED, now
    if account.pause_reason != PauseReason.MANUAL:
        account.pause_reason = account.paused_until = None
    account.trouble = account.trouble_since = account.review_asked_at = account.next_look_at = None
    account.connect_url = account.connect_expires_at = None  # the state stays: a sign-in by the link is undone by it
    account.next_chats_poll_at = account.next_invites_poll_at = None
    account.failures = 0
    await payments.wake_outreach_plan(session, account.workspace_id)


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
    await stop_enrollments(session, second, SECOND, now)
    for statement in TAKE_OVER:
        await session.execute(text(statement), named)
    for row in (await session.execute(FORBIDDEN, named)).all():
        await stop_person(session, [survivor], _why(row.reason), within=_tenant(row), alone=row.alone)


def _why(reason: str) -> Why:
    if reason == "do_not_contact":
        return DO_NOT_CONTACT
    return ERASED if reason == "erasure" else SUPPRESSED


def _tenant(row: Row[Any]) -> Tenant | None:
    if row.workspace_id is None:
        return None
    return Tenant(row.workspace_id, customer_of(row.tenant_id) if row.tenant_id else None)


WHY = {
    NoContactReason.SUPPRESSED: SUPPRESSED,
    NoContactReason.ERASED: ERASED,
    NoContactReason.DO_NOT_CONTACT: DO_NOT_CONTACT,
}


class StoppingOutreach:
    """The port by which the people subject stops outreach, in its own transaction."""

    async def stop(
        self,
        session: AsyncSession,
        profile_ids: Collection[str],
        why: NoContactReason,
        *,
        within: Tenant | None,
        alone: bool,
    ) -> None:
        """Stop what is open and planned for these people."""
        await stop_person(session, profile_ids, WHY[why], within=within, alone=alone)

    async def take_over(self, session: AsyncSession, *, survivor: str, newer: str) -> None:
        """Bring together what outreach knows of two ids of one person."""
        await take_over(session, survivor=survivor, newer=newer)


fill_in(StoppingOutreach())
