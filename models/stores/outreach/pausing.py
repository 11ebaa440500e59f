"""Pausing, resuming and stopping one enrollment by hand. The caller holds the scene."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from models.errors import Conflict
from models.rules.outreach.calendar import Request
from models.rules.outreach.caps import counts_against
from models.rules.outreach.sequences import WRITING, Step
from models.rules.outreach.slots import Refusal, Slot, find_slot
from models.rules.outreach.states import (
    FINAL_ENROLLMENTS,
    ActionOutcome,
    EnrollmentReason,
    EnrollmentStatus,
    SequenceStatus,
    takes_enrollments,
)
from models.rules.outreach.steps import Due, Wait, WaitReason, next_step
from models.stores.outreach import calendars, facts, persons, stopping
from models.stores.outreach.scenes import Scene, ids_of
from models.tables import Enrollment


def pause(scene: Scene, enrollment: Enrollment) -> None:
    """Hold the next steps until somebody resumes, behind the settling of an unknown outcome too.

    A hold for the owner's word, which only resuming ends anyway, stays what it is. Raises `Conflict` for an enrollment
    that has ended.
    """
    _refuse_ended(enrollment)
    if enrollment.status == EnrollmentStatus.PAUSED and enrollment.reason == EnrollmentReason.OWNER_WROTE:
        return
    enrollment.status, enrollment.reason = EnrollmentStatus.PAUSED.value, EnrollmentReason.MANUAL.value
    enrollment.next_action_at = None
    if scene.action is not None and scene.action.outcome == ActionOutcome.SCHEDULED:
        scene.action.scheduled_at = None  # it gives its place back at once


async def stop(session: AsyncSession, scene: Scene, enrollment: Enrollment) -> None:
    """End the enrollment for good; stopping again changes nothing. Raises `Conflict` for one that ended otherwise."""
    if enrollment.status == EnrollmentStatus.STOPPED:
        return
    _refuse_ended(enrollment)
    await stopping.end(session, [enrollment.id], stopping.BY_HAND, scene.now)


def _refuse_ended(enrollment: Enrollment) -> None:
    if EnrollmentStatus(enrollment.status) in FINAL_ENROLLMENTS:
        raise Conflict("This enrollment has ended.", status=enrollment.status)


def refuse_resume(scene: Scene, enrollment: Enrollment) -> None:
    """Refuse to resume what is not paused by hand or for its owner's word. Raises `Conflict`."""
    _refuse_ended(enrollment)
    if scene.action is not None and scene.action.outcome == ActionOutcome.UNKNOWN:
        raise Conflict(
            "What became of an action is unknown.",
            fix=f"Look at the network, then POST /v1/outreach/actions/{scene.action.id}/settle.",
            reason=EnrollmentReason.OUTCOME_UNKNOWN.value,
        )
    if scene.sequence is None or not takes_enrollments(SequenceStatus(scene.sequence.status)):
        raise Conflict(
            "The sequence is paused.", fix="Make the sequence active.", reason=EnrollmentReason.SEQUENCE_PAUSED.value
        )


@dataclass(frozen=True, slots=True)
class Ahead:
    """When an enrollment goes on: `slot` of a step that is due, or `until` when one is; both null while one is held."""

    slot: Slot | Refusal | None = None
    until: datetime | None = None
    status: EnrollmentStatus | None = None
    """What it waits for, where that is more than its time."""

    @property
    def at(self) -> datetime | None:
        """When something happens next, as far as it is known."""
        return self.slot.at if isinstance(self.slot, Slot) else self.until


async def ahead(session: AsyncSession, scene: Scene, enrollment: Enrollment) -> Ahead:
    """When the enrollment would go on if it were resumed now."""
    planned = scene.action
    if planned is not None and planned.outcome != ActionOutcome.SCHEDULED:
        held = planned.outcome == ActionOutcome.AWAITING_APPROVAL
        return Ahead(status=EnrollmentStatus.AWAITING_APPROVAL if held else None)
    following = next_step(
        scene.steps,
        scene.started(without=planned),
        scene.connection(),
        enrolled_at=enrollment.created_at,
        now=scene.now,
    )
    if isinstance(following, Wait):
        accept = following.reason is WaitReason.ACCEPTANCE
        return Ahead(until=following.until, status=EnrollmentStatus.WAITING_FOR_ACCEPT if accept else None)
    if not isinstance(following, Due):
        return Ahead()
    approved = planned is not None and planned.approved_at is not None
    if scene.sequence is not None and scene.sequence.approve_every_message and not approved:
        return Ahead()
    await session.flush()
    calendar = await calendars.load(session, scene.held, without=planned.id if planned else None)
    if planned is not None:
        request = calendars.request_of(planned, scene.sequence)
    else:
        request = await _request(session, scene, enrollment, following.step)
    bounds = [scene.now, planned.not_before if planned else None]
    return Ahead(find_slot(calendar, request, max(at for at in bounds if at is not None)))


async def _request(session: AsyncSession, scene: Scene, enrollment: Enrollment, step: Step) -> Request:
    """What a step that was not planned yet will ask of the calendar."""
    ids = await ids_of(session, enrollment.profile_id)
    touched = await facts.was_touched(session, enrollment.tenant_id, ids)
    new = step.type in WRITING and not touched
    caps = counts_against(step.type, with_note=step.text is not None, new_outreach=new)
    starts = scene.sequence is not None and not any(one.claimed_at for one in scene.actions)
    return Request(
        seed=await persons.seed_of(session, scene.account.id, enrollment.profile_id, step.id or step.type),
        caps=caps,
        sequence_id=enrollment.sequence_id if starts else None,
        pace=scene.sequence.daily_pace_limit if starts and scene.sequence else None,
    )


def resume(scene: Scene, enrollment: Enrollment, going: Ahead) -> None:
    """Let the enrollment go on; its workflow plans the next step from now."""
    begun = any(one.claimed_at is not None for one in scene.actions)
    enrollment.status = (going.status or (EnrollmentStatus.ACTIVE if begun else EnrollmentStatus.SCHEDULED)).value
    enrollment.reason, enrollment.next_action_at = None, going.at
    if scene.action is not None and isinstance(going.slot, Slot):
        scene.action.scheduled_at = going.slot.at
