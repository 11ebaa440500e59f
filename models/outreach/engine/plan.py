"""Planning: what is in the way of an action, its time, its text, and how it ends, with the events of each."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.secrets import Vault
from models.base.steps import Call, Decision, Do, Queue
from models.base.tables import Payload
from models.base.tenants import Tenant, customer_of
from models.billing.rules.outreach_plans import GRACE
from models.events.rules.catalogue import ActionChanged, EnrollmentChanged, EventType
from models.events.store import events
from models.outreach.engine.context import EnrollmentContext, known_recipient, opt_out_sentence
from models.outreach.rules.actions import DESPITE_DO_NOT_CONTACT
from models.outreach.rules.answers import AccountGate, gate
from models.outreach.rules.sequences import SequenceStep
from models.outreach.rules.slots import Slot, SlotMove, SlotRefusal, find_slot
from models.outreach.rules.states import (
    FINAL_ENROLLMENTS,
    USED,
    AccountStatus,
    ActionOutcome,
    ActionReason,
    EnrollmentReason,
    EnrollmentStatus,
    SequenceStatus,
)
from models.outreach.rules.texts import Recipient, StepText, render_step
from models.outreach.store import calendars
from models.outreach.tables import Action, Enrollment
from models.people.store import suppressions
from models.people.tables import SeenEntry

OUTREACH_SEND = "outreach.send"
OUTREACH_RECONCILE = "outreach.reconcile"
CALL_LIMIT_SECONDS = 120
"""For the claim, the call with its own limit of 90 s, and the result; after that the network is read back."""


def network_call(context: EnrollmentContext, step: str, summary: str, *, number: int) -> Decision:
    """A call of the account, one after another of its own."""
    call = Call(
        step=step,
        number=number,
        queue=Queue.NETWORK,
        summary=summary,
        limit_seconds=CALL_LIMIT_SECONDS,
        fairness_key=context.account.id,
    )
    return Decision(Do.ACT, context.now, call)


def complete_decision(context: EnrollmentContext, decision: Decision) -> Decision:
    """The decision with the text of the workflow's page.

    Neither the page nor the reason names the person.
    """
    row = context.enrollment if context.enrollment is not None else context.actions[0]
    status = context.enrollment.status if context.enrollment is not None else context.actions[0].outcome
    done = sum(1 for one in context.actions if one.outcome == ActionOutcome.SENT)
    what = decision.call.summary if decision.call is not None else decision.reason
    lines = [f"**{status}**: {what or 'has ended'}"]
    if row.reason is not None:
        lines.append(f"- reason: {row.reason}")
    if context.enrollment is not None:
        version = context.sequence.version if context.sequence else "-"
        lines.append(f"- {done} of {len(context.steps)} steps sent, version {version}")
    lines.extend(f"- moved: {_moved(context, entry)}" for entry in (context.action.why[-5:] if context.action else ()))
    return replace(decision, details="\n".join(lines))


def _moved(context: EnrollmentContext, entry: dict[str, str]) -> str:
    to = entry.get("to")
    when = "" if to is None else f" to {local_time(context, datetime.fromisoformat(to))}"
    return f"{_plain(entry['rule'])}{when} ({entry['detail']})"


def goes_out(context: EnrollmentContext, action: Action) -> str:
    """`invite goes out at 4 Mar 09:41, moved by: invites per day, lunch`: when, and every rule that moved it."""
    at = action.scheduled_at
    what = _plain(action.type)
    by = list(dict.fromkeys(_plain(entry["rule"]) for entry in action.why))
    when = f"goes out at {local_time(context, at)}" if at is not None else "waits without a time"
    return f"{what} {when}" + (f", moved by: {', '.join(by)}" if by else "")


def _plain(name: str) -> str:
    return str(name).replace("_", " ")


def local_time(context: EnrollmentContext, at: datetime) -> str:
    """A moment as the account's owner reads a clock: `4 Mar 09:41`."""
    local = at.astimezone(ZoneInfo(context.rules.hours.zone))
    return f"{local.day} {local:%b %H:%M}"


LOOK_AGAIN = timedelta(hours=1)
"""Nothing wakes a row when a workspace or customer is let in again, or has paid: it looks by itself."""


@dataclass(frozen=True, slots=True)
class Ending:
    """Nothing more may be sent to this person from here."""

    status: EnrollmentStatus
    reason: EnrollmentReason
    action_reason: ActionReason


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Nothing is sent for now; what is planned loses its time. `look_again` is null when only a wake ends it."""

    reason: str
    pauses: EnrollmentReason | None = None
    """Shown as the enrollment's pause."""
    look_again: timedelta | None = None


def _ends(reason: EnrollmentReason, action_reason: ActionReason) -> Ending:
    return Ending(EnrollmentStatus.STOPPED, reason, action_reason)


async def find_obstacle(session: AsyncSession, context: EnrollmentContext) -> Ending | Obstacle | None:
    """What is in the way of anything more, null when nothing is."""
    ended = await _end(session, context)
    return ended or await _tenant_hold(session, context) or _enrollment_hold(context)


async def _end(session: AsyncSession, context: EnrollmentContext) -> Ending | None:
    if context.account.status == AccountStatus.REMOVED:
        return Ending(EnrollmentStatus.FAILED, EnrollmentReason.ACCOUNT_REMOVED, ActionReason.ACCOUNT_REMOVED)
    if context.profile_id is None:
        return _ends(EnrollmentReason.ERASED, ActionReason.SUPPRESSED)
    if await suppressions.suppressed_among(session, context.tenant, [context.profile_id]):
        return _ends(EnrollmentReason.SUPPRESSED, ActionReason.SUPPRESSED)
    if _binds(context) and await _do_not_contact(session, context, context.profile_id):
        return _ends(EnrollmentReason.DO_NOT_CONTACT, ActionReason.DO_NOT_CONTACT)
    return None


def _binds(context: EnrollmentContext) -> bool:
    """Whether `do_not_contact` forbids it: not the withdrawal of an invite, nor an answer to the person's own word.

    Whether the person may be answered was checked when the answer was given.
    """
    action = context.action
    free = action is not None and (action.type in DESPITE_DO_NOT_CONTACT or action.conversation_id is not None)
    return context.enrollment is not None or not free


async def _do_not_contact(session: AsyncSession, context: EnrollmentContext, profile_id: str) -> bool:
    entry = await session.get(SeenEntry, (context.tenant.id, profile_id), populate_existing=True)
    return entry is not None and entry.do_not_contact


STANDING = text(
    """
    select w.suspended_at is not null
           or coalesce((select c.status = 'disabled' from customers c where c.id = cast(:customer as text)), false)
             as shut_out,
           exists (select from outreach_plans p
                    where p.id = w.id and p.unpaid_since <= service_now() - cast(:grace as interval)) as unpaid
      from workspaces w where w.id = :workspace
    """
)


async def _tenant_hold(session: AsyncSession, context: EnrollmentContext) -> Obstacle | None:
    whose = {"workspace": context.tenant.workspace_id, "customer": context.tenant.customer_id, "grace": GRACE}
    standing = (await session.execute(STANDING, whose)).one()
    if standing.unpaid:
        return Obstacle("the outreach accounts are unpaid", look_again=LOOK_AGAIN)
    if standing.shut_out:
        return Obstacle("the workspace or customer is shut out for now", look_again=LOOK_AGAIN)
    return None


def _enrollment_hold(context: EnrollmentContext) -> Obstacle | None:
    enrollment, sequence = context.enrollment, context.sequence
    if enrollment is None:
        return None
    paused = enrollment.status == EnrollmentStatus.PAUSED
    if paused and enrollment.reason != EnrollmentReason.SEQUENCE_PAUSED:
        reason = EnrollmentReason(enrollment.reason or EnrollmentReason.MANUAL)
        return Obstacle(f"held: {reason}", pauses=reason)
    if sequence is None or sequence.status != SequenceStatus.ACTIVE:
        return Obstacle("the sequence is paused", pauses=EnrollmentReason.SEQUENCE_PAUSED)
    return None


WHY_KEPT = 40
"""Entries of `why` that stay: the newest."""


async def give_slot(
    session: AsyncSession, context: EnrollmentContext, action: Action, *, not_before: datetime | None = None
) -> None:
    """Give the action the next time that every rule allows, or none while no rule knows one.

    It is looked for from `not_before` on, from the moment it fell due, and from now. The action's own reservation is
    left out, so that asking again changes nothing.
    """
    await session.flush()
    bounds = [context.now, not_before, action.not_before, held_back_until(context, action)]
    calendar = await calendars.load_calendar(session, context.held, without=action.id)
    request = calendars.request_of(action, context.sequence)
    write_slot(action, find_slot(calendar, request, max(at for at in bounds if at is not None)))


def write_slot(action: Action, found: Slot | SlotRefusal) -> None:
    """Note what the calendar answered."""
    action.scheduled_at = found.at if isinstance(found, Slot) else None
    note_why(action, *found.why)


def note_why(action: Action, *moves: SlotMove) -> None:
    """Note what moved the action's time; what was said already is not said again."""
    said = list(action.why)
    for move in moves:
        entry: Payload = dict(move.shown())
        if entry not in said:
            said.append(entry)
    action.why = said[-WHY_KEPT:]


def unplan(action: Action) -> None:
    """Take the action out of the calendar: it waits without a time and reserves nothing."""
    action.scheduled_at = None


def held_back_until(context: EnrollmentContext, action: Action) -> datetime | None:
    """Until when the provider wants no call of this kind from the account, null when it takes them."""
    written = context.account.holds.get(action.type)
    if written is None:
        return None
    until = datetime.fromisoformat(written)
    return until if until > context.now else None


async def timed(session: AsyncSession, context: EnrollmentContext, action: Action) -> Decision:
    """Say when a planned action goes out: now, at its time, or when something has changed."""
    if action.scheduled_at is None or _rests(context, action):
        await give_slot(session, context, action)
    if action.scheduled_at is None:
        return Decision(Do.WAIT, context.now, reason=goes_out(context, action))
    if action.scheduled_at > context.now:
        return Decision(Do.WAIT, context.now, reason=goes_out(context, action), until=action.scheduled_at)
    return to_send(context, action)


def _rests(context: EnrollmentContext, action: Action) -> bool:
    """Whether the action's time lies where its account does not write."""
    account, at = context.account, action.scheduled_at
    if at is None:
        return False
    if gate(AccountStatus(account.status), account.paused_until, max(at, context.now)) is not AccountGate.OPEN:
        return True
    held = held_back_until(context, action)
    return held is not None and at < held


def to_send(context: EnrollmentContext, action: Action) -> Decision:
    """Have the action claimed and done by one call. Every claim takes the number: no call counts behind it."""
    what = str(action.type).replace("_", " ")
    summary = f"{what}, attempt {action.attempts + 1}"
    return network_call(context, OUTREACH_SEND, summary, number=action.call_number)


@dataclass(frozen=True, slots=True)
class Writer:
    """What it takes to write to a person: the key and the address that opt-out links are made of."""

    vault: Vault
    public_url: str


async def render_for_context(
    session: AsyncSession, writer: Writer, context: EnrollmentContext, step: SequenceStep
) -> StepText:
    """A step's text for the context's person, as everything stands now."""
    person = await recipient_of(session, context)
    notice = opt_out_sentence(writer.vault, writer.public_url, context.profile_id or context.waiting.profile_id)
    return render_step(step, person, privacy_notice=notice)


async def recipient_of(session: AsyncSession, context: EnrollmentContext) -> Recipient:
    """What is known of the context's person: what the caller gave goes first."""
    given = context.enrollment.given if context.enrollment is not None else {}
    return await known_recipient(session, context.tenant, context.profile_id or context.waiting.profile_id, given)


def values_hash(person: Recipient) -> str:
    """SHA-256 (hex) of what a text is filled with, so that a change of the person's data is noticed."""
    filled = "\0".join(value or "" for value in (person.first_name, person.full_name, person.company))
    return hashlib.sha256(filled.encode()).hexdigest()


def sent_hashes(context: EnrollmentContext) -> Collection[str]:
    """Hashes of the texts that were sent, or may have been, in this enrollment."""
    return {one.text_hash for one in context.actions if one.text_hash and ActionOutcome(one.outcome) in USED}


def publish_action_event(session: AsyncSession, type: EventType, action: Action, now: datetime) -> None:
    """Publish what became of an action, if this transaction commits."""
    data = ActionChanged(
        action_id=action.id,
        enrollment_id=action.enrollment_id,
        sequence_id=action.sequence_id,
        account_id=action.account_id,
        profile_id=action.profile_id,
        type=action.type,
        outcome=action.outcome,
        reason=action.reason,
    )
    events.emit(session, Tenant(action.workspace_id, customer_of(action.tenant_id)), type, data, now=now)


EVENT_OF_OUTCOME = {
    ActionOutcome.SENT: EventType.ACTION_SENT,
    ActionOutcome.FAILED: EventType.ACTION_FAILED,
    ActionOutcome.REFUSED: EventType.ACTION_FAILED,
    ActionOutcome.UNKNOWN: EventType.ACTION_FAILED,
}
"""The event of an action that ended so; skipped and cancelled ones have none."""


def end_action(
    session: AsyncSession, context: EnrollmentContext, action: Action, outcome: ActionOutcome, reason: str | None = None
) -> None:
    """Bring an action to its end (or, with `unknown`, to a person) and publish its event where it has one."""
    action.outcome, action.reason = outcome.value, reason
    if outcome is not ActionOutcome.UNKNOWN:
        action.ended_at = context.now
    if outcome in EVENT_OF_OUTCOME:
        publish_action_event(session, EVENT_OF_OUTCOME[outcome], action, context.now)


async def end_context(session: AsyncSession, context: EnrollmentContext, ended: Ending) -> None:
    """End what the context is about: the enrollment with its planned action, or the direct send."""
    await end_enrollment(session, context, ended.status, ended.reason, cancelled=ended.action_reason)


async def end_enrollment(
    session: AsyncSession,
    context: EnrollmentContext,
    status: EnrollmentStatus,
    reason: EnrollmentReason | None,
    *,
    cancelled: ActionReason | None = None,
) -> None:
    """End the enrollment, if it is open, and cancel what is planned; a direct send is refused by itself."""
    action, enrollment = context.action, context.enrollment
    if action is not None and action.outcome in {ActionOutcome.SCHEDULED, ActionOutcome.AWAITING_APPROVAL}:
        outcome = ActionOutcome.CANCELLED if enrollment is not None else ActionOutcome.REFUSED
        end_action(session, context, action, outcome, cancelled)
    if enrollment is not None and EnrollmentStatus(enrollment.status) not in FINAL_ENROLLMENTS:
        await finish_enrollment(session, enrollment, status, reason, context.now)


ENDED_WELL = frozenset({EnrollmentStatus.COMPLETED, EnrollmentStatus.REPLIED})


def publish_enrollment_event(session: AsyncSession, type: EventType, enrollment: Enrollment, now: datetime) -> None:
    """Publish what became of an enrollment, if this transaction commits."""
    data = EnrollmentChanged(
        enrollment_id=enrollment.id,
        sequence_id=enrollment.sequence_id,
        account_id=enrollment.account_id,
        profile_id=enrollment.profile_id,
        status=enrollment.status,
        reason=enrollment.reason,
    )
    events.emit(session, Tenant(enrollment.workspace_id, customer_of(enrollment.tenant_id)), type, data, now=now)


async def finish_enrollment(
    session: AsyncSession,
    enrollment: Enrollment,
    status: EnrollmentStatus,
    reason: EnrollmentReason | None,
    now: datetime,
) -> None:
    """End an open enrollment, which the caller has locked, and publish that. Its actions are the caller's."""
    enrollment.status, enrollment.reason = status.value, reason.value if reason else None
    enrollment.next_action_at, enrollment.finished_at = None, now
    event = EventType.ENROLLMENT_COMPLETED if status in ENDED_WELL else EventType.ENROLLMENT_FAILED
    publish_enrollment_event(session, event, enrollment, now)
    await session.flush()


async def hold_for_approval(session: AsyncSession, context: EnrollmentContext, action: Action) -> None:
    """Hold an action whose text is rendered until it is approved or rejected. It reserves nothing."""
    action.outcome = ActionOutcome.AWAITING_APPROVAL.value
    action.text_fixed, action.approved_at = True, None
    action.values_hash = values_hash(await recipient_of(session, context))
    unplan(action)
    publish_action_event(session, EventType.ACTION_AWAITING_APPROVAL, action, context.now)


async def hold_for_approval_again(
    session: AsyncSession, writer: Writer, context: EnrollmentContext, action: Action, step: SequenceStep
) -> ActionReason | None:
    """Render a held or approved text again if the person's data has changed; what was approved is held again.

    A text that a call was already made with stays as it is. The answer is why the step is passed over, null when it is
    not.
    """
    if action.values_hash is None or action.attempts > 0:
        return None
    if action.values_hash == values_hash(await recipient_of(session, context)):
        return None
    rendered = await render_for_context(session, writer, context, step)
    if rendered.problem is not None:
        return rendered.problem
    changed = action.text != rendered.text
    action.text = rendered.text
    if changed:
        await hold_for_approval(session, context, action)
    action.values_hash = values_hash(await recipient_of(session, context))
    return None
