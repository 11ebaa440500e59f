"""Actions as they are asked for, previewed and shown (contract, section 7)."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from api.kernel.schemas import Answer, Ask, Id, Name, PageAsk
from api.people.schemas import ProfileId, ProfileUrl
from api.sourcing.runs_schemas import WouldFail
from models.base.values import Time
from models.outreach.rules.actions import MAX_BODY, MAX_NOTE, ActionType
from models.outreach.rules.states import ActionOutcome
from models.outreach.rules.texts import Caution
from models.outreach.tables import Action


class RenderedText(Answer):
    """What is sent, or would be; null for an action without a text."""

    text: str | None


class ActionView(Answer):
    """One thing done or to be done on the network."""

    id: str
    object: Literal["action"] = "action"
    type: ActionType
    outcome: ActionOutcome
    seed: str
    reason: str | None
    why: list[dict[str, Any]]
    enrollment_id: str | None
    sequence_id: str | None
    step_index: int | None
    account_id: str
    profile_id: str
    scheduled_at: Time | None
    sent_at: Time | None
    attempts: int
    rendered: RenderedText
    created_at: Time

    @classmethod
    def of(cls, row: Action, *, hidden: bool = False) -> "ActionView":
        """The view of a row; `hidden` leaves out its text, for a suppressed person."""
        return cls(
            id=row.id,
            type=ActionType(row.type),
            outcome=ActionOutcome(row.outcome),
            seed=row.seed,
            reason=row.reason,
            why=list(row.why),
            enrollment_id=row.enrollment_id,
            sequence_id=row.sequence_id,
            step_index=row.step_index,
            account_id=row.account_id,
            profile_id=row.profile_id,
            scheduled_at=row.scheduled_at,
            sent_at=row.sent_at,
            attempts=row.attempts,
            rendered=RenderedText(text=None if hidden else row.text or None),
            created_at=row.created_at,
        )


class ActionPreview(Answer):
    """What executing would do: the text and the time, or what is in the way.

    `preview_hash` binds an approval to this preview: sent along, it is refused when text, person or account have
    changed since.
    """

    object: Literal["action_preview"] = "action_preview"
    action_id: str | None
    type: ActionType
    account_id: str
    profile_id: str
    rendered: RenderedText
    scheduled_at: Time | None
    next_available_at: Time | None
    why: list[dict[str, Any]]
    warnings: list[Caution] = Field(default_factory=list)
    would_fail: WouldFail | None
    preview_hash: str | None = None


class ApproveAction(Ask):
    """Nothing has to be given; with `preview_hash` only what was previewed is approved."""

    preview_hash: Annotated[str, Field(min_length=1, max_length=200)] | None = None


class Settlement(StrEnum):
    """The outcome of an action that the service could not read back."""

    SENT = "sent"
    NOT_SENT = "not_sent"


class SettleAction(Ask):
    """What a person saw on the network."""

    outcome: Settlement


class ListActions(PageAsk):
    """Which actions to show, newest first."""

    outcome: ActionOutcome | None = None
    enrollment_id: Id | None = None
    sequence_id: Id | None = None
    account_id: Id | None = None
    profile_id: Id | None = None


class SendAsk(Ask):
    """One action for one person: `note` goes with an invite, `body` with a message and is needed there.

    `full_name`, `first_name` and `company` fill in the text where the profile does not say.
    """

    account_id: Id
    type: ActionType
    profile_id: ProfileId | None = None
    profile_url: ProfileUrl | None = None
    note: str | None = Field(default=None, json_schema_extra={"maxLength": MAX_NOTE})
    body: str | None = Field(default=None, json_schema_extra={"maxLength": MAX_BODY})
    full_name: Name | None = None
    first_name: Name | None = None
    company: Name | None = None
