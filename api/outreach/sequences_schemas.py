"""What operations on sequences and enrollments ask and answer."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Id, Name, PageAsk
from api.outreach.actions_schemas import ActionView
from api.people.schemas import NamePerson, ProfileId
from api.sourcing.runs_schemas import WouldFail
from models.base.values import Time
from models.outreach.engine.enroll import MOST
from models.outreach.rules.actions import MAX_BODY, MAX_NOTE, ActionType
from models.outreach.rules.sequences import (
    DEFAULT_ACCEPT_TIMEOUT_DAYS,
    MAX_ACCEPT_TIMEOUT_DAYS,
    MAX_PACE,
    MAX_STEPS,
    MAX_WAIT_DAYS,
    SequenceStep,
    TemplateName,
    steps_of,
)
from models.outreach.rules.states import EnrollmentStatus, SequenceStatus
from models.outreach.rules.texts import Caution, StepText
from models.outreach.store.sequences import Counts
from models.outreach.tables import Action, Enrollment, OutreachSequence

Pace = Annotated[
    int | None,
    Field(
        description=f"People started per UTC day, 0 to {MAX_PACE}; null leaves the caps alone.",
        json_schema_extra={"minimum": 0, "maximum": MAX_PACE},
    ),
]


class StepAsk(Ask):
    """A step as saved. With an `id` it is the step that has it, without one it is new."""

    id: Id | None = None
    channel: Literal["network"] = "network"
    type: ActionType
    wait_days: int = Field(
        default=0,
        description=f"0 to {MAX_WAIT_DAYS} days of 24 hours after the step before.",
        json_schema_extra={"minimum": 0, "maximum": MAX_WAIT_DAYS},
    )
    note: str | None = Field(
        default=None,
        description=f"Of an invite: at most {MAX_NOTE} characters.",
        json_schema_extra={"maxLength": MAX_NOTE},
    )
    body: str | None = Field(
        default=None,
        description=f"Of a message: 1 to {MAX_BODY} characters.",
        json_schema_extra={"maxLength": MAX_BODY},
    )
    only_after_accept: bool = False
    accept_timeout_days: int = Field(
        default=DEFAULT_ACCEPT_TIMEOUT_DAYS,
        description=f"1 to {MAX_ACCEPT_TIMEOUT_DAYS} days.",
        json_schema_extra={"minimum": 1, "maximum": MAX_ACCEPT_TIMEOUT_DAYS},
    )
    is_follow_up: bool = False

    def step(self) -> SequenceStep:
        """As the rules know it."""
        return SequenceStep(**self.model_dump(exclude={"channel"}))


Steps = Annotated[
    tuple[StepAsk, ...], Field(min_length=1, max_length=MAX_STEPS, description=f"1 to {MAX_STEPS} steps, in order.")
]


class CreateSequence(Ask):
    """A sequence to save: from its fields, or from a template and, if wanted, a name of its own."""

    account_id: Id
    name: Name | None = None
    template: TemplateName | None = None
    steps: Steps | None = None
    approve_every_message: bool = False
    daily_pace_limit: Pace = None


class ChangeSequence(Ask):
    """Fields that are not given stay. `steps` replaces all steps; those with an `id` stay the steps they are."""

    name: Name | SkipJsonSchema[None] = None
    steps: Steps | SkipJsonSchema[None] = None
    approve_every_message: bool | SkipJsonSchema[None] = None
    daily_pace_limit: Pace = None
    status: SequenceStatus | SkipJsonSchema[None] = None


class ListSequences(PageAsk):
    """Which sequences to show, newest first; archived ones only when they are asked for."""

    status: SequenceStatus | None = None


class StepView(Answer):
    """A step; its `id` stays the same over edits."""

    id: str | None
    object: Literal["step"] = "step"
    channel: Literal["network"] = "network"
    type: ActionType
    wait_days: int
    note: str | None
    body: str | None
    only_after_accept: bool
    accept_timeout_days: int
    is_follow_up: bool

    @classmethod
    def of(cls, step: SequenceStep) -> "StepView":
        """The step as shown."""
        shown = ("id", "type", "wait_days", "note", "body", "only_after_accept", "accept_timeout_days", "is_follow_up")
        return cls(**{name: getattr(step, name) for name in shown})


def shown_steps(steps: Sequence[SequenceStep]) -> list[StepView]:
    """Steps as shown."""
    return [StepView.of(step) for step in steps]


class CountsView(Answer):
    """How many people are in it and how far they came; stopped ones are among `failed`."""

    open: int
    completed: int
    replied: int
    failed: int


class SequenceView(Answer):
    """A sequence. `version` rises with every change."""

    id: str
    object: Literal["sequence"] = "sequence"
    account_id: str
    name: str
    status: SequenceStatus
    approve_every_message: bool
    daily_pace_limit: int | None
    steps: list[StepView]
    version: int
    counts: CountsView
    created_at: Time
    updated_at: Time

    @classmethod
    def of(cls, row: OutreachSequence, counts: Counts) -> "SequenceView":
        """The row as shown."""
        return cls(
            id=row.id,
            account_id=row.account_id,
            name=row.name,
            status=SequenceStatus(row.status),
            approve_every_message=row.approve_every_message,
            daily_pace_limit=row.daily_pace_limit,
            steps=shown_steps(steps_of(row.steps)),
            version=row.version,
            counts=CountsView(
                open=counts.open, completed=counts.completed, replied=counts.replied, failed=counts.failed
            ),
            created_at=row.created_at,
            updated_at=row.updated_at,
        )


class TemplateView(Answer):
    """A ready sequence."""

    id: TemplateName
    object: Literal["template"] = "template"
    name: TemplateName
    title: str
    description: str
    steps: list[StepView]


MOST_NAMED = 2000
"""People that a body names, before those named twice are taken together."""


class GivenCandidate(NamePerson):
    """A person to enroll, and values for messages where the account knows none."""

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
    def of(cls, rendered: StepText) -> "RenderedStep":
        """The step as shown."""
        return cls(
            step_id=rendered.step_id,
            text=rendered.text,
            units=rendered.units,
            problem=rendered.problem.value if rendered.problem else None,
        )


class PreviewRow(Answer):
    """What enrolling would do for one person. `profile_id` is null for a person who has none yet."""

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
    """A person who was not enrolled; `next_available_at` says when a cap would have room."""

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
