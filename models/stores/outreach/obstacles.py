"""Obstacles: what ends an enrollment or a direct send, or holds it, read under the locks of its scene."""

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.rules.outreach.states import (
    AccountStatus,
    ActionReason,
    ActionType,
    EnrollmentReason,
    EnrollmentStatus,
    SequenceStatus,
    takes_enrollments,
)
from models.rules.outreach_plans import GRACE
from models.stores import suppressions
from models.stores.outreach.scenes import Scene
from models.tables import SeenEntry

LOOK_AGAIN = timedelta(hours=1)
"""Nothing rings a row when a workspace or customer is let in again, or has paid: it looks by itself."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Nothing more may be sent to this person from here."""

    status: EnrollmentStatus
    reason: EnrollmentReason
    action_reason: ActionReason


@dataclass(frozen=True, slots=True)
class Hold:
    """Nothing is sent for now; what is planned loses its time. `look_again` null: until it is rung."""

    reason: str
    pauses: EnrollmentReason | None = None
    """Shown as the enrollment's pause."""
    look_again: timedelta | None = None


def _ends(reason: EnrollmentReason, action_reason: ActionReason) -> Ended:
    return Ended(EnrollmentStatus.STOPPED, reason, action_reason)


async def of(session: AsyncSession, scene: Scene) -> Ended | Hold | None:
    """What is in the way of anything more, null when nothing is."""
    ended = await _end(session, scene)
    return ended or await _tenant_hold(session, scene) or _enrollment_hold(scene)


async def _end(session: AsyncSession, scene: Scene) -> Ended | None:
    if scene.account.status == AccountStatus.REMOVED:
        return Ended(EnrollmentStatus.FAILED, EnrollmentReason.ACCOUNT_REMOVED, ActionReason.ACCOUNT_REMOVED)
    if scene.profile_id is None:
        return _ends(EnrollmentReason.ERASED, ActionReason.SUPPRESSED)
    if await suppressions.among(session, scene.tenant, [scene.profile_id]):
        return _ends(EnrollmentReason.SUPPRESSED, ActionReason.SUPPRESSED)
    if _binds(scene) and await _do_not_contact(session, scene, scene.profile_id):
        return _ends(EnrollmentReason.DO_NOT_CONTACT, ActionReason.DO_NOT_CONTACT)
    return None


def _binds(scene: Scene) -> bool:
    """Whether `do_not_contact` forbids it: not the withdrawal of an invite, nor an answer to the person's own word.

    Whether somebody may be answered was looked at when the answer was given.
    """
    action = scene.action
    free = action is not None and (action.type == ActionType.WITHDRAW_INVITE or action.conversation_id is not None)
    return scene.enrollment is not None or not free


async def _do_not_contact(session: AsyncSession, scene: Scene, profile_id: str) -> bool:
    entry = await session.get(SeenEntry, (scene.tenant.id, profile_id), populate_existing=True)
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


async def _tenant_hold(session: AsyncSession, scene: Scene) -> Hold | None:
    whose = {"workspace": scene.tenant.workspace_id, "customer": scene.tenant.customer_id, "grace": GRACE}
    standing = (await session.execute(STANDING, whose)).one()
    if standing.unpaid:
        return Hold("the outreach accounts are unpaid", look_again=LOOK_AGAIN)
    if standing.shut_out:
        return Hold("the workspace or customer is shut out for now", look_again=LOOK_AGAIN)
    return None


def _enrollment_hold(scene: Scene) -> Hold | None:
    enrollment, sequence = scene.enrollment, scene.sequence
    if enrollment is None:
        return None
    paused = enrollment.status == EnrollmentStatus.PAUSED
    if paused and enrollment.reason != EnrollmentReason.SEQUENCE_PAUSED:
        reason = EnrollmentReason(enrollment.reason or EnrollmentReason.MANUAL)
        return Hold(f"held: {reason}", pauses=reason)
    if sequence is None or not takes_enrollments(SequenceStatus(sequence.status)):
        return Hold("the sequence is paused", pauses=EnrollmentReason.SEQUENCE_PAUSED)
    return None
