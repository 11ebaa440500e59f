"""Approvals: what a held step would send, whether it may go now, and what somebody decides about it.

Whatever somebody saw in the preview is bound to what is sent: text, person and account go into the preview's hash, part
by part, so that a change can be named.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.errors import Conflict, NotFound, OutreachCapReached, Suppressed
from models.base.tenants import Tenant
from models.outreach.engine import context, plan, record
from models.outreach.engine.context import EnrollmentContext
from models.outreach.engine.plan import Ending, Obstacle, Writer, note_why, recipient_of, values_hash
from models.outreach.rules.caps import OutreachCap
from models.outreach.rules.slots import LIMITS, Slot, SlotRefusal, find_slot
from models.outreach.rules.states import ActionOutcome, ActionReason, EnrollmentReason
from models.outreach.store import accounts, calendars
from models.outreach.tables import Action

PARTS = ("text", "person", "account")
PART_LENGTH = 16
SEPARATOR = "."


@dataclass(frozen=True, slots=True)
class Preview:
    """What a held step sends, when, and the hash that binds an approval to both.

    `rewritten`: the person's data changed the text since it was held, so that nobody has seen it but in this preview.
    """

    scene: EnrollmentContext
    action: Action
    slot: Slot | SlotRefusal
    preview_hash: str
    rewritten: bool


async def lock_action(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """An action of the tenant with everything it depends on, locked. Raises `NotFound`."""
    query = select(col(Action.id)).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    if await session.scalar(query) is None:
        raise NotFound("There is no such action.")
    scene = await context.of_action(session, action_id)
    action = next((one for one in scene.actions if one.id == action_id), None) if scene is not None else None
    if scene is None or action is None:
        raise NotFound("There is no such action.")
    return scene, action


async def preview(session: AsyncSession, writer: Writer, tenant: Tenant, action_id: str) -> Preview:
    """A held step as it would be sent now; a text whose person's data has changed is rendered anew.

    Raises `NotFound`, and `Conflict` or `Suppressed` for what cannot be approved at all.
    """
    scene, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.AWAITING_APPROVAL:
        raise Conflict("This action does not wait for approval.", outcome=action.outcome)
    refuse_obstacle(await plan.find_obstacle(session, scene))
    step = next((one for one in scene.steps if one.id == action.step_id), None)
    if step is None:
        raise Conflict("This step is no longer part of the sequence.", reason=ActionReason.STEP_REMOVED.value)
    before = action.text
    problem = await plan.hold_for_approval_again(session, writer, scene, action, step)
    if problem is not None:
        raise Conflict("The message cannot be written any more.", reason=problem.value)
    await session.flush()
    calendar = await calendars.load_calendar(session, scene.held, without=action.id)
    slot = find_slot(calendar, calendars.request_of(action, scene.sequence), scene.now)
    return Preview(scene, action, slot, await _hash(session, scene, action), action.text != before)


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
    """The cap a refusal names; null for the pace of a sequence, of which nothing is told."""
    return next((cap for cap in OutreachCap if cap.value == rule), None)


def approve(seen: Preview, *, preview_hash: str | None) -> None:
    """Let the held text go out at its slot, exactly as it stands.

    Raises `Conflict` with `changed` when it is not what `preview_hash` was given for, `AccountNotReady`,
    `AccountPaused`, `UpstreamBusy` and `OutreachCapReached`.
    """
    if preview_hash is not None:
        changed = changes(preview_hash, seen.preview_hash)
    else:
        changed = ["text", "person"] if seen.rewritten else []
    if changed:
        raise Conflict("This is not what was previewed any more.", changed=changed)
    scene, action, slot = seen.scene, seen.action, seen.slot
    accounts.refuse_unready(scene.account, scene.now)
    refuse_capped(slot)
    if not isinstance(slot, Slot):
        raise OutreachCapReached(cap=slot.rule.value, next_available_at=slot.next_available_at)
    action.outcome, action.approved_at, action.text_fixed = ActionOutcome.SCHEDULED.value, scene.now, True
    action.scheduled_at, action.not_before = slot.at, action.not_before or scene.now
    note_why(action, *slot.why)


def changes(given: str, now: str) -> Sequence[str]:
    """Which parts of a preview are not as they were; all of them for a hash that is none."""
    old, new = given.split(SEPARATOR), now.split(SEPARATOR)
    if len(old) != len(new):
        return list(PARTS)
    return [part for part, before, after in zip(PARTS, old, new, strict=True) if before != after]


async def _hash(session: AsyncSession, scene: EnrollmentContext, action: Action) -> str:
    account, connection = scene.account, scene.connection()
    parts = (
        (action.id, action.text or ""),
        (values_hash(await recipient_of(session, scene)), str(connection.connected), str(connection.invite_pending)),
        (account.status, account.pause_reason or "", str(account.paused_until), account.trouble or ""),
    )
    return SEPARATOR.join(hashlib.sha256("\0".join(part).encode()).hexdigest()[:PART_LENGTH] for part in parts)


async def reject(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """Skip a held step; the enrollment goes on with the next one. Raises `NotFound`, `Conflict`."""
    scene, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.AWAITING_APPROVAL:
        raise Conflict("This action does not wait for approval.", outcome=action.outcome)
    plan.end_action(session, scene, action, ActionOutcome.SKIPPED, ActionReason.REJECTED)
    return scene, action


async def cancel_send(session: AsyncSession, tenant: Tenant, action_id: str) -> tuple[EnrollmentContext, Action]:
    """Cancel a direct send that is still planned. Raises `NotFound`, `Conflict`."""
    scene, action = await lock_action(session, tenant, action_id)
    if action.enrollment_id is not None:
        raise Conflict("This is a step of an enrollment: pause, stop or reject it there.", outcome=action.outcome)
    if action.outcome != ActionOutcome.SCHEDULED:
        raise Conflict("Only what is still planned can be cancelled.", outcome=action.outcome)
    plan.end_action(session, scene, action, ActionOutcome.CANCELLED, ActionReason.STOPPED)
    return scene, action


async def settle_action(
    session: AsyncSession, tenant: Tenant, action_id: str, *, sent: bool
) -> tuple[EnrollmentContext, Action]:
    """Say what became of an action that nobody could read back. Raises `NotFound`, `Conflict`."""
    scene, action = await lock_action(session, tenant, action_id)
    if action.outcome != ActionOutcome.UNKNOWN:
        raise Conflict("What became of this action is known.", outcome=action.outcome)
    record.settle_unknown(session, scene, action, sent=sent)
    return scene, action
