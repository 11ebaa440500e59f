"""Reconciling: what readings of the network say of an action whose outcome nobody saw (design, section 5).

A reading is written once; what all of them say together decides: done, to be done anew from the start, or left to a
person.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.errors import rfc3339
from models.rules.outreach.reconciling import Reading, Verdict, verdict
from models.rules.outreach.states import ActionOutcome, ActionReason, ActionType, EnrollmentReason, EnrollmentStatus
from models.stores.outreach import deciding, endings, recovery, scenes
from models.stores.outreach.answers import Decision
from models.stores.outreach.claims import Parcel, parcel_of
from models.stores.outreach.facts import Learned, forget_erased, note
from models.stores.outreach.results import again, done
from models.stores.outreach.scenes import Scene
from models.stores.outreach.texts import Writer
from models.stores.outreach.underway import claimed, give_up_call, readings_of
from models.tables import Action, Enrollment


@dataclass(frozen=True, slots=True)
class Read:
    """One reading: when it began and what it showed; `done_at` is the network's time of what was done."""

    reading: Reading
    learned: Learned = field(default=Learned())
    done_at: datetime | None = None
    message_id: str | None = None


async def to_read(session: AsyncSession, subject_id: str, number: int) -> tuple[Parcel, datetime] | None:
    """What to look for on the network, and service time; null when the reading is not wanted any more."""
    scene = await scenes.of_subject(session, subject_id)
    action = scene.action if scene is not None else None
    if scene is None or action is None:
        return None
    give_up_call(action, scene.now)
    if action.outcome != ActionOutcome.RECONCILING or len(action.readings) != number:
        return None
    return await parcel_of(session, scene, action), scene.now


async def record(session: AsyncSession, writer: Writer, subject_id: str, number: int, read: Read) -> Decision:
    """Write a reading, decide by all of them, and say what is next. One that was written already changes nothing."""
    scene = await scenes.of_subject(session, subject_id)
    if scene is None:
        return await deciding.decide(session, writer, subject_id)
    action = scene.action
    if action is not None and action.outcome == ActionOutcome.RECONCILING and len(action.readings) == number:
        was_known = scene.person is not None and scene.person.network_id is not None
        note(session, scene, read.learned)
        action.readings = [*action.readings, {"at": rfc3339(read.reading.at), "seen": read.reading.seen.value}]
        if action.doubted_at is not None and not was_known and read.learned.network_id is not None:
            await recovery.hear_again(session, scene)
        _conclude(session, scene, action, read)
        await forget_erased(session, scene, action)
    return await deciding.decide_in(session, writer, scene)


def _conclude(session: AsyncSession, scene: Scene, action: Action, read: Read) -> None:
    match verdict(claimed(action), readings_of(action)):
        case Verdict.DONE:
            done(session, scene, action, at=read.done_at or scene.now, message_id=read.message_id)
        case Verdict.NOT_DONE:
            again(scene, action, after=timedelta())
        case Verdict.MOOT:
            endings.end_action(session, scene, action, ActionOutcome.SKIPPED, ActionReason.INVITE_NOT_PENDING)
        case Verdict.UNKNOWN if action.type == ActionType.PROFILE_VISIT:
            done(session, scene, action, at=claimed(action))
        case Verdict.UNKNOWN:
            leave_to_a_person(session, scene, action)
        case Verdict.OPEN:
            pass


def leave_to_a_person(session: AsyncSession, scene: Scene, action: Action) -> None:
    """Nobody can tell: it counts as used, is never sent again by itself, and its enrollment holds until then.

    An enrollment that is paused for a caller or for its owner's word stays so behind the settling.
    """
    endings.end_action(session, scene, action, ActionOutcome.UNKNOWN, ActionReason.OUTCOME_UNKNOWN)
    enrollment = scene.enrollment
    if enrollment is not None and enrollment.finished_at is None and not _held_otherwise(enrollment):
        enrollment.status = EnrollmentStatus.PAUSED.value
        enrollment.reason = EnrollmentReason.OUTCOME_UNKNOWN.value


def settle(session: AsyncSession, scene: Scene, action: Action, *, sent: bool) -> None:
    """A person says what became of an unknown action: it was sent, or it was not and gives its place back."""
    if sent:
        done(session, scene, action, at=claimed(action))
        action.reason = None
    else:
        endings.end_action(session, scene, action, ActionOutcome.FAILED, ActionReason.OUTCOME_UNKNOWN)
    enrollment = scene.enrollment
    if enrollment is not None and enrollment.status == EnrollmentStatus.PAUSED and not _held_otherwise(enrollment):
        enrollment.status, enrollment.reason = EnrollmentStatus.ACTIVE.value, None


def _held_otherwise(enrollment: Enrollment) -> bool:
    """Whether it is paused for a reason that only resuming ends."""
    paused = enrollment.status == EnrollmentStatus.PAUSED
    return paused and enrollment.reason in {EnrollmentReason.MANUAL, EnrollmentReason.OWNER_WROTE}
