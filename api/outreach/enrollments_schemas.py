"""Enrollments as they are asked for and shown (specification, "Enrollment body"; contract, section 7)."""

from typing import Annotated, Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask, Name, PageAsk
from api.outreach.actions_schemas import ActionView
from api.outreach.sequences_schemas import Id
from api.people.registers_schemas import NamePerson, ProfileId
from api.sourcing.runs_schemas import WouldFail
from models.base.times import Time
from models.outreach.engine.enroll import MOST
from models.outreach.rules.states import EnrollmentStatus
from models.outreach.rules.texts import Caution, RenderedText
from models.outreach.tables import Action, Enrollment

MOST_NAMED = 2000
"""People that a body names, before those named twice are taken together."""


class GivenCandidate(NamePerson):
    """Somebody to enroll, and what to render messages with where the account does not know better."""

    full_name: Name | None = None
    first_name: Name | None = None
    company: Name | None = None


class Enroll(Ask):
    """Whom to enroll: at least one source; they may be combined, and each person is taken once."""

    sequence_id: Id
    run_id: Id | None = Field(default=None, description="The run's delivered candidates.")
    list_id: Id | None = Field(default=None, description="The list's people.")
    profile_ids: Annotated[tuple[ProfileId, ...], Field(max_length=MOST_NAMED)] = ()
    candidates: Annotated[tuple[GivenCandidate, ...], Field(max_length=MOST_NAMED)] = ()
    limit: int = Field(default=100, ge=1, le=MOST, description="How many come from the run, and from the list.")


class EnrollmentView(Answer):
    """A person in a sequence. The first five statuses are open."""

    id: str
    object: Literal["enrollment"] = "enrollment"
    sequence_id: str
    account_id: str
    profile_id: str
    status: EnrollmentStatus
    reason: str | None
    current_step: int | None
    next_action_at: Time | None
    invited_at: Time | None
    accepted_at: Time | None
    replied_at: Time | None
    created_at: Time
    finished_at: Time | None

    @classmethod
    def of(cls, row: Enrollment) -> "EnrollmentView":
        """The row as shown."""
        return cls.model_validate(row.model_dump(include=set(cls.model_fields)))


class EnrollmentWithActions(EnrollmentView):
    """An enrollment with what was done and is planned in it, in order."""

    actions: list[ActionView]

    @classmethod
    def made(cls, row: Enrollment, actions: list[Action], *, hidden: bool) -> "EnrollmentWithActions":
        """The row as shown, with its actions."""
        shown = EnrollmentView.of(row).model_dump()
        return cls.model_validate(shown | {"actions": [ActionView.of(one, hidden=hidden) for one in actions]})


class RenderedStep(Answer):
    """A step as the person would get it; `units` is the length that the network counts (UTF-16)."""

    step_id: str | None
    text: str | None
    units: int
    problem: str | None

    @classmethod
    def of(cls, rendered: RenderedText) -> "RenderedStep":
        """The step as shown."""
        return cls(
            step_id=rendered.step_id,
            text=rendered.text,
            units=rendered.units,
            problem=rendered.problem.value if rendered.problem else None,
        )


class PreviewRow(Answer):
    """What would become of one person. `profile_id` is null for somebody who has none yet."""

    profile_id: str | None
    profile_url: str | None
    decision: Literal["schedule", "skip"]
    reason: str | None
    rendered: list[RenderedStep]
    scheduled_at: Time | None
    next_available_at: Time | None
    warnings: list[Caution]


class PreviewCounts(Answer):
    """How many people there are, how many of them are scheduled (or held) and skipped, and why."""

    people: int
    schedule: int
    skip: int
    reasons: dict[str, int]


class EnrollmentPreview(Answer):
    """What enrolling would do now; nothing is written. `would_fail`: executing it now would be refused so."""

    object: Literal["enrollment_preview"] = "enrollment_preview"
    data: list[PreviewRow]
    counts: PreviewCounts
    next_available_at: Time | None = None
    would_fail: WouldFail | None = None


class SkippedPerson(Answer):
    """Somebody who was not enrolled; `next_available_at` says when a cap would have room."""

    profile_id: str | None
    profile_url: str | None
    reason: str
    next_available_at: Time | None


class Enrolled(Answer):
    """Who was enrolled and who was not."""

    object: Literal["enrollment_result"] = "enrollment_result"
    enrolled: int
    skipped: list[SkippedPerson]
    enrollments: list[EnrollmentView]


class ListEnrollments(PageAsk):
    """Which enrollments to show, newest first."""

    status: EnrollmentStatus | None = None
    sequence_id: Id | None = None
    account_id: Id | None = None
    profile_id: Id | None = None


class ResumePreview(Answer):
    """When the next step of an enrollment would go out, and the enrollment as it is."""

    object: Literal["enrollment_resume"] = "enrollment_resume"
    enrollment: EnrollmentView
    scheduled_at: Time | None
    next_available_at: Time | None = None
    would_fail: WouldFail | None = None
