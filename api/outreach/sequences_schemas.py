"""Sequences and their templates as they are asked for and shown (specification, "Sequence"; contract, section 7)."""

from collections.abc import Sequence as Ordered
from typing import Annotated, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from api.kernel.schemas import Answer, Ask, Name, PageAsk
from models.base.times import Time
from models.outreach.rules.sequences import (
    DEFAULT_ACCEPT_TIMEOUT_DAYS,
    MAX_ACCEPT_TIMEOUT_DAYS,
    MAX_BODY,
    MAX_NOTE,
    MAX_PACE,
    MAX_STEPS,
    MAX_WAIT_DAYS,
    SequenceStep,
    TemplateName,
)
from models.outreach.rules.states import ActionType, SequenceStatus
from models.outreach.store.sequences import Counts, steps_of
from models.outreach.tables import OutreachSequence

Id = Annotated[str, Field(min_length=1, max_length=100)]
"""An id of ours: one that nobody has is not found."""
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


def shown_steps(steps: Ordered[SequenceStep]) -> list[StepView]:
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
            steps=shown_steps(steps_of(row)),
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
