"""Actions that callers ask for or decide about: direct sends, replies, approvals, cancelling and settling."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.errors import Conflict, InvalidRequest, NotFound, OutreachCapReached, Suppressed
from models.base.ids import new_id
from models.base.steps import Subject
from models.base.tenants import Tenant
from models.outreach.engine import plan, record
from models.outreach.engine.context import (
    EnrollmentContext,
    connection_of,
    known_recipient,
    lock_action_context,
    opt_out_sentence,
    seed_of,
    was_touched,
)
from models.outreach.engine.plan import Ending, Obstacle, Writer, note_why, recipient_of, values_hash
from models.outreach.rules.actions import (
    ACTION_SPECS,
    CONTACTING,
    DESPITE_DO_NOT_CONTACT,
    ActionEffect,
    ActionType,
    OutreachCap,
)
from models.outreach.rules.sequences import SequenceStep, reinvite_at
from models.outreach.rules.slots import FIRST_TOUCH_HORIZON, LIMITS, Slot, SlotRefusal, find_slot
from models.outreach.rules.states import ActionOutcome, ActionReason, EnrollmentReason
from models.outreach.rules.texts import StepText, render_step, utf16_units
from models.outreach.store import accounts, calendars, conversations
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import OPEN_ENROLLMENTS, Action, Conversation, NetworkPerson
from models.people.store import people, suppressions
from models.people.tables import SeenEntry

PARTS = ("text", "person", "account")
PART_LENGTH = 16
SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class ApprovalPreview:
    """What a held step sends, when, and the hash that binds an approval to both.

    `rewritten`: the person's data changed the text since it was held, so that only this preview has shown it.
    """

    context: EnrollmentContext
    action: Action
    slot: Slot | SlotRefusal
    preview_hash: str
    rewritten: bool


async def lock_action(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """An action of the tenant with everything it depends on, locked. Raises `NotFound`."""
    query = select(col(Action.id)).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    if await session.scalar(query) is None:
        raise NotFound("There is no such action.")
    context = await lock_action_context(session, action_id)
    action = next((one for one in context.actions if one.id == action_id), None) if context is not None else None
    if context is None or action is None:
        raise NotFound("There is no such action.")
    return context, action


async def preview_approval(session: AsyncSession, writer: Writer, tenant: Tenant, action_id: str) -> ApprovalPreview:
    """A held step as it would be sent now; a text whose person's data has changed is rendered again.

    Raises `NotFound`, and `Conflict` or `Suppressed` for what cannot be approved at all.
    """
    context, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.AWAITING_APPROVAL:
        raise Conflict("This action does not wait for approval.", outcome=action.outcome)
    refuse_obstacle(await plan.find_obstacle(session, context))
    step = next((one for one in context.steps if one.id == action.step_id), None)
    if step is None:
        raise Conflict("This step is no longer part of the sequence.", reason=ActionReason.STEP_REMOVED.value)
    before = action.text
    problem = await plan.hold_for_approval_again(session, writer, context, action, step)
    if problem is not None:
        raise Conflict("The message cannot be written any more.", reason=problem.value)
    await session.flush()
    calendar = await calendars.load_calendar(session, context.held, without=action.id)
    slot = find_slot(calendar, calendars.request_of(action, context.sequence), context.now)
    return ApprovalPreview(context, action, slot, await _preview_hash(session, context, action), action.text != before)


def refuse_obstacle(obstacle: Ending | Obstacle | None) -> None:
    """Refuse what a call asks for while something is in its way. Raises `Suppressed` or `Conflict`."""
    match obstacle:
        case Ending(reason=EnrollmentReason.SUPPRESSED | EnrollmentReason.ERASED):
            raise Suppressed(status=409)
        case Ending(reason=reason):
            raise Conflict("This person may not be written to from here.", reason=reason.value)
        case Obstacle(reason=reason, pauses=pauses):
            raise Conflict(f"The enrollment is held: {reason}.", reason=(pauses or reason))


def refuse_capped(slot: Slot | SlotRefusal) -> None:
    """Refuse what a cap has no room for now; hours, rests and lunch only delay. Raises `OutreachCapReached`."""
    rule = slot.limit if isinstance(slot, Slot) else slot.rule
    if rule is not None and (rule in LIMITS or isinstance(slot, SlotRefusal)):
        at = slot.at if isinstance(slot, Slot) else slot.next_available_at
        raise OutreachCapReached(cap=rule.value, next_available_at=at)


def cap_of(rule: str) -> OutreachCap | None:
    """Return the cap that a refusal names; null for the pace of a sequence, which has no event."""
    return next((cap for cap in OutreachCap if cap.value == rule), None)


def approve(seen: ApprovalPreview, *, preview_hash: str | None) -> None:
    """Approve the pending text: it goes out at its slot, unchanged.

    Raises `Conflict` with `changed` when it is not what `preview_hash` was given for, `AccountNotReady`,
    `AccountPaused`, `UpstreamBusy` and `OutreachCapReached`.
    """
    if preview_hash is not None:
        changed = changes(preview_hash, seen.preview_hash)
    else:
        changed = ["text", "person"] if seen.rewritten else []
    if changed:
        raise Conflict("This is not what was previewed any more.", changed=changed)
    context, action, slot = seen.context, seen.action, seen.slot
    accounts.refuse_unready(context.account, context.now)
    refuse_capped(slot)
    if not isinstance(slot, Slot):
        raise OutreachCapReached(cap=slot.rule.value, next_available_at=slot.next_available_at)
    action.outcome, action.approved_at, action.text_fixed = ActionOutcome.SCHEDULED.value, context.now, True
    action.scheduled_at, action.not_before = slot.at, action.not_before or context.now
    note_why(action, *slot.why)


def changes(given: str, now: str) -> Sequence[str]:
    """Which parts of a preview are not as they were; all of them for a hash that is none."""
    old, new = given.split(SEPARATOR), now.split(SEPARATOR)
    if len(old) != len(new):
        return list(PARTS)
    return [part for part, before, after in zip(PARTS, old, new, strict=True) if before != after]


async def _preview_hash(session: AsyncSession, context: EnrollmentContext, action: Action) -> str:
    account, connection = context.account, context.connection()
    parts = (
        (action.id, action.text or ""),
        (values_hash(await recipient_of(session, context)), str(connection.connected), str(connection.invite_pending)),
        (account.status, account.pause_reason or "", str(account.paused_until), account.trouble or ""),
    )
    return SEPARATOR.join(hashlib.sha256("\0".join(part).encode()).hexdigest()[:PART_LENGTH] for part in parts)


async def reject(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """Skip a held step; the enrollment goes on with the next one. Raises `NotFound`, `Conflict`."""
    context, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.AWAITING_APPROVAL:
        raise Conflict("This action does not wait for approval.", outcome=action.outcome)
    plan.end_action(session, context, action, ActionOutcome.SKIPPED, ActionReason.REJECTED)
    return context, action


async def cancel_send(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """Cancel a direct send that is still planned. Raises `NotFound`, `Conflict`."""
    context, action = await lock_action(session, tenant, action_id)
    if action.enrollment_id is not None:
        raise Conflict("This is a step of an enrollment: pause, stop or reject it there.", outcome=action.outcome)
    if action.outcome != ActionOutcome.SCHEDULED:
        raise Conflict("Only what is still planned can be cancelled.", outcome=action.outcome)
    plan.end_action(session, context, action, ActionOutcome.CANCELLED, ActionReason.STOPPED)
    return context, action


async def settle(
    session: AsyncSession, tenant: Tenant, action_id: str, *, sent: bool
) -> tuple[EnrollmentContext, Action]:
    """Settle an action whose outcome could not be read back. Raises `NotFound`, `Conflict`."""
    context, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.UNKNOWN:
        raise Conflict("What became of this action is known.", outcome=action.outcome)
    record.settle_unknown(session, context, action, sent=sent)
    return context, action


@dataclass(frozen=True, slots=True)
class DraftSend:
    """A direct send as it is asked for: `text` with its placeholders, and the values given for the person."""

    account_id: str
    type: ActionType
    profile_id: str
    text: str | None
    given: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class PlannedSend:
    """A direct send as it would be queued, not yet in the database: its time, and its text for this person."""

    held: LockedAccount
    action: Action
    slot: Slot | SlotRefusal
    rendered: StepText


def send_subject(action_id: str) -> Subject:
    """The direct send as a waiting row."""
    return Subject("action", action_id)


async def prepare_send(
    session: AsyncSession, writer: Writer, tenant: Tenant, draft: DraftSend, *, api_key_id: str | None
) -> PlannedSend:
    """Lock what the send depends on, refuse what may not be, render it and find its time.

    Raises `NotFound` for account or person, `InvalidRequest` for a text that cannot be written, `Suppressed`, and
    `Conflict` with `details.reason`.
    """
    held = await accounts.lock_account(session, tenant, draft.account_id)
    profile_id = await _person(session, tenant, draft)
    known = await session.get(NetworkPerson, (held.account.id, profile_id), populate_existing=True)
    await _refuse(session, held, known, profile_id, draft.type)
    rendered = await _rendered(session, writer, tenant, profile_id, draft)
    touched = await was_touched(session, tenant.id, await people.ids_of_person(session, profile_id))
    seen = await _seen(session, tenant, profile_id)
    contacted = touched or (seen is not None and seen.contacted_at is not None)
    action = Action(
        id=new_id("act", held.now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        type=draft.type.value,
        seed=await seed_of(session, held.account.id, profile_id, draft.type.value),
        account_id=held.account.id,
        profile_id=profile_id,
        first_touch=draft.type in CONTACTING and not contacted,
        text=rendered.text,
        text_fixed=True,
        not_before=held.now,
        api_key_id=api_key_id,
        created_at=held.now,
    )
    calendar = await calendars.load_calendar(session, held)
    within = FIRST_TOUCH_HORIZON if action.first_touch else None
    slot = find_slot(calendar, calendars.request_of(action, None), held.now, within=within)
    return PlannedSend(held, action, slot, rendered)


async def _person(session: AsyncSession, tenant: Tenant, draft: DraftSend) -> str:
    """The id that stands for the person, locked."""
    standing = (await people.lock_people(session, [draft.profile_id])).get(draft.profile_id)
    if standing is None:
        raise InvalidRequest("There is no such profile.", field="profile_id")
    if await suppressions.suppressed_among(session, tenant, [standing]):
        raise Suppressed(status=409)
    return standing


OPEN_OF_PERSON = text(
    f"""
    select id from enrollments where tenant_id = :tenant and profile_id = any(cast(:ids as text[]))
       and {OPEN_ENROLLMENTS} limit 1
    """  # noqa: S608 - a constant of the tables
)
UNFINISHED = (
    "select id from actions where tenant_id = :tenant and profile_id = any(cast(:ids as text[]))"
    " and enrollment_id is null and type = :type"
    " and outcome in ('scheduled', 'sending', 'reconciling', 'unknown') limit 1"
)


async def _refuse(
    session: AsyncSession, held: LockedAccount, known: NetworkPerson | None, profile_id: str, type: ActionType
) -> None:
    seen = await _seen(session, held.tenant, profile_id)
    if seen is not None and seen.do_not_contact and type not in DESPITE_DO_NOT_CONTACT:
        raise Conflict("This person is marked as not to be contacted.", reason=ActionReason.DO_NOT_CONTACT.value)
    ids = await people.ids_of_person(session, profile_id)
    asked = {"tenant": held.tenant.id, "ids": list(ids), "type": type.value}
    enrollment_id = await session.scalar(OPEN_OF_PERSON, {"tenant": held.tenant.id, "ids": list(ids)})
    if enrollment_id is not None:
        raise Conflict(
            "This person is in a sequence: stop that enrollment first.",
            reason="open_enrollment",
            enrollment_id=enrollment_id,
        )
    waiting = await session.scalar(text(UNFINISHED), asked)
    if waiting is not None:
        raise Conflict("The same action is already queued for this person.", reason="already_queued", action_id=waiting)
    if type in CONTACTING:
        contacted = seen is not None and seen.contacted_at is not None
        contacted = contacted or await was_touched(session, held.tenant.id, ids)
        _refuse_touch(held, known, type, contacted=contacted)


def _refuse_touch(held: LockedAccount, known: NetworkPerson | None, type: ActionType, *, contacted: bool) -> None:
    connected = known is not None and known.relation == "connected"
    invites = ACTION_SPECS[type].effect is ActionEffect.INVITES
    if not invites and contacted and not connected:
        raise Conflict(
            "A person who was contacted before can only be written to once they are connected.", reason="not_connected"
        )
    if not invites:
        return
    if contacted:
        raise Conflict("This person was contacted before.", reason=ActionReason.ALREADY_CONTACTED.value)
    if connected:
        raise Conflict("The two are connected.", reason=ActionReason.ALREADY_CONNECTED.value)
    if known is not None and known.relation == "pending":
        raise Conflict("An invite to this person is pending.", reason=ActionReason.ALREADY_INVITED.value)
    again = known.withdrawn_at if known is not None else None
    allowed = reinvite_at(connection_of(known, None)) if again is not None else None
    if allowed is not None and held.now < allowed:
        raise Conflict(
            "An invite to this person was withdrawn recently.",
            reason=ActionReason.RECENTLY_WITHDRAWN.value,
            next_available_at=allowed,
        )


async def _seen(session: AsyncSession, tenant: Tenant, profile_id: str) -> SeenEntry | None:
    return await session.get(SeenEntry, (tenant.id, profile_id), populate_existing=True)


async def _rendered(
    session: AsyncSession, writer: Writer, tenant: Tenant, profile_id: str, draft: DraftSend
) -> StepText:
    person = await known_recipient(session, tenant, profile_id, draft.given)
    field = ACTION_SPECS[draft.type].text_field
    note, body = (draft.text if field == name else None for name in ("note", "body"))
    step = SequenceStep(type=draft.type, note=note, body=body)
    notice = opt_out_sentence(writer.vault, writer.public_url, profile_id)
    rendered = render_step(step, person, privacy_notice=notice)
    if rendered.problem is not None:
        raise InvalidRequest(
            f"The text cannot be written to this person: {rendered.problem.value}.",
            field=field,
            reason=rendered.problem.value,
            length=rendered.units,
        )
    return rendered


def queue_send(session: AsyncSession, planned: PlannedSend) -> Action:
    """Put the send into its account's calendar; the caller wakes it and marks the person as contacted."""
    if not isinstance(planned.slot, Slot):
        raise TypeError("what has no time cannot be queued")
    action, account = planned.action, planned.held.account
    action.scheduled_at = planned.slot.at
    note_why(action, *planned.slot.why)
    if action.type in CONTACTING:
        account.warmup_started_at = account.warmup_started_at or planned.held.now
    session.add(action)
    return action


async def prepare_reply(
    session: AsyncSession, tenant: Tenant, conversation: Conversation, written: str, *, api_key_id: str | None
) -> PlannedSend:
    """Lock what the answer depends on, refuse what may not be, and find its time; `sends.queue` queues it.

    Raises `Suppressed` (409), and `Conflict` with `details.reason` for a person marked as not to be contacted
    who did not write last.
    """
    held = await accounts.lock_account(session, tenant, conversation.account_id)
    profile_id = await _answered_person(session, tenant, conversation)
    action = Action(
        id=new_id("act", held.now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        type=ActionType.MESSAGE.value,
        seed=await seed_of(session, held.account.id, profile_id, ActionType.MESSAGE.value),
        account_id=held.account.id,
        profile_id=profile_id,
        conversation_id=conversation.id,
        text=written,
        text_fixed=True,
        not_before=held.now,
        api_key_id=api_key_id,
        created_at=held.now,
    )
    calendar = await calendars.load_calendar(session, held)
    slot = find_slot(calendar, calendars.request_of(action, None), held.now)
    return PlannedSend(held, action, slot, StepText(None, written, utf16_units(written)))


async def _answered_person(session: AsyncSession, tenant: Tenant, conversation: Conversation) -> str:
    """The id that stands for the person, locked."""
    standing = (await people.lock_people(session, [conversation.profile_id])).get(conversation.profile_id)
    if standing is None or await suppressions.suppressed_among(session, tenant, [standing]):
        raise Suppressed(status=409)
    entry = await session.get(SeenEntry, (tenant.id, standing), populate_existing=True)
    forbidden = entry is not None and entry.do_not_contact
    if forbidden and not await conversations.last_is_theirs(session, conversation.id):
        raise Conflict(
            "This person is marked as not to be contacted, and did not write last.",
            reason=ActionReason.DO_NOT_CONTACT.value,
        )
    return standing
