"""The tools of outreach accounts, sequences and enrollments."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import Field, JsonValue, model_validator

from api.kernel.operation import Operation
from api.kernel.schemas import Id, Listing, Name
from api.mcp.invocation import Invocation, Json
from api.mcp.tool import Arguments, Executing, Tool, asked_of, simple
from api.mcp.toolsets import Toolset
from api.outreach import accounts, enrollments, sequences
from api.outreach.accounts_schemas import AccountConnecting, AccountView, ConnectAccount, LimitsView, ListAccounts
from api.outreach.sequences import SequenceChange
from api.outreach.sequences_schemas import (
    ChangeSequence,
    CreateSequence,
    Enroll,
    Enrolled,
    EnrollmentPreview,
    EnrollmentView,
    EnrollmentWithActions,
    ListEnrollments,
    ListSequences,
    ResumePreview,
    SequenceView,
    Steps,
)
from models.base.errors import InvalidRequest
from models.outreach.rules.sequences import TemplateName
from models.outreach.rules.states import SequenceStatus

AccountId = Annotated[Id, Field(description="An outreach account, of list_outreach_accounts.")]


class ConnectOutreachAccount(ConnectAccount, Arguments):
    """A new account, or one to sign in again."""

    account_id: AccountId | None = Field(
        default=None, description="Sign in again to this account, which was disconnected. Without `name`."
    )

    @model_validator(mode="after")
    def _new_or_old(self) -> "ConnectOutreachAccount":
        if self.account_id is not None and self.name is not None:
            raise InvalidRequest("Give name for a new account, or account_id for one that there is.", field="name")
        return self


async def _connect(call: Invocation, asked: ConnectOutreachAccount) -> Json:
    if asked.account_id is not None:
        return await call.invoke(accounts.reconnect_account, asked.account_id)
    return await call.invoke(accounts.connect_account, asked.narrowed(ConnectAccount))


class ListOutreachAccounts(ListAccounts, Arguments):
    """Which accounts to show, newest first."""


class GetOutreachLimits(Arguments):
    """An account."""

    account_id: AccountId


class ListAllSequences(ListSequences, Arguments):
    """Which sequences to show, newest first."""


class SaveSequence(Arguments):
    """A new sequence (account_id, and steps or a template), or changes to one (sequence_id)."""

    sequence_id: Id | None = Field(default=None, description="Change this sequence. Left out: make a new one.")
    account_id: AccountId | None = Field(default=None, description="Of a new sequence: the account that sends.")
    name: Name | None = Field(default=None, description="For people; needed for a new one that is not of a template.")
    template: TemplateName | None = Field(
        default=None, description="Of a new sequence: ready steps, instead of `steps`."
    )
    steps: Steps | None = Field(
        default=None,
        description="All steps in order. Changing: those with the `id` they were shown with stay the steps they are.",
    )
    approve_every_message: bool | None = Field(
        default=None, description="true: every step waits for approve_message. A new one has false."
    )
    daily_pace_limit: int | None = Field(
        default=None, description="People started per UTC day, 0 to 100; null leaves the caps alone."
    )
    status: SequenceStatus | None = Field(
        default=None, description="Of a sequence there is: active, paused (nothing is sent) or archived."
    )

    @model_validator(mode="after")
    def _new_or_old(self) -> "SaveSequence":
        new = self.sequence_id is None
        if new and self.account_id is None:
            raise InvalidRequest("account_id: this field is required for a new sequence.", field="account_id")
        foreign = ("status",) if new else ("account_id", "template")
        if wrong := next((name for name in foreign if name in self.model_fields_set), None):
            raise InvalidRequest(f"{wrong} belongs to {'a saved' if new else 'a new'} sequence.", field=wrong)
        return self


async def _save(call: Invocation, asked: SaveSequence) -> Json:
    if asked.sequence_id is not None:
        return await call.invoke(
            sequences.change_sequence, SequenceChange(asked.sequence_id, asked.narrowed(ChangeSequence))
        )
    given = {name: getattr(asked, name) for name in asked.model_fields_set & CreateSequence.model_fields.keys()}
    if given.get("approve_every_message", "") is None:
        del given["approve_every_message"]
    return await call.invoke(sequences.create_sequence, asked_of(CreateSequence, given))


class EnrollCandidates(Enroll, Executing):
    """Whom to enroll: at least one source; each person is taken once."""


class ListAllEnrollments(ListEnrollments, Arguments):
    """Which enrollments to show, newest first."""

    enrollment_id: Id | None = Field(default=None, description="Only this one, with every action of it.")


async def _enrollments(call: Invocation, asked: ListAllEnrollments) -> Json:
    if asked.enrollment_id is None:
        return await call.invoke(enrollments.list_enrollments, asked.narrowed(ListEnrollments))
    if len(asked.model_fields_set) > 1:
        raise InvalidRequest("enrollment_id stands alone.", field="enrollment_id")
    return await call.invoke(enrollments.get_enrollment, asked.enrollment_id)


class EnrollmentMove(StrEnum):
    """What becomes of an enrollment."""

    PAUSE = "pause"
    RESUME = "resume"
    STOP = "stop"


class UpdateEnrollment(Executing):
    """An enrollment, and what becomes of it."""

    enrollment_id: Id = Field(description="Of list_enrollments or enroll_candidates.")
    action: EnrollmentMove = Field(
        description="pause holds the next steps, stop ends it for good: both at once. resume goes on from now, and is a"
        " preview without confirm."
    )


MOVES: Mapping[EnrollmentMove, Operation[str, Any]] = {
    EnrollmentMove.PAUSE: enrollments.pause_enrollment,
    EnrollmentMove.RESUME: enrollments.resume_enrollment,
    EnrollmentMove.STOP: enrollments.stop_enrollment,
}


def _move(given: Mapping[str, JsonValue]) -> Operation[str, Any]:
    """What the arguments mean; resuming needs most, and stands for what is no move."""
    return next((found for move, found in MOVES.items() if given.get("action") == move), MOVES[EnrollmentMove.RESUME])


async def _update(call: Invocation, asked: UpdateEnrollment) -> Json:
    return await call.invoke(MOVES[asked.action], asked.enrollment_id)


TOOLS: tuple[Tool[Any], ...] = (
    Tool(
        name="connect_outreach_account",
        title="Connect an outreach account",
        toolset=Toolset.OUTREACH,
        description="Get a link by which a person signs in to their network account; show it to them, never open it"
        " yourself. {price.account} a month once it is connected, whatever is sent. With account_id: sign in again.",
        arguments=ConnectOutreachAccount,
        answers=AccountConnecting,
        run=_connect,
        operation=accounts.connect_account,
        open_world=True,
    ),
    Tool(
        name="list_outreach_accounts",
        title="List outreach accounts",
        toolset=Toolset.OUTREACH,
        description="The network accounts that messages go out from, with status and warm-up. Free.",
        arguments=ListOutreachAccounts,
        answers=Listing[AccountView],
        run=simple(accounts.list_accounts, lambda asked: asked.narrowed(ListAccounts)),
        operation=accounts.list_accounts,
    ),
    Tool(
        name="get_outreach_limits",
        title="Get outreach limits",
        toolset=Toolset.OUTREACH,
        description="Today's caps of an account, what is used of them, and next_available_at, when another person may"
        " be invited. Free.",
        arguments=GetOutreachLimits,
        answers=LimitsView,
        run=simple(accounts.get_limits, lambda asked: asked.account_id),
        operation=accounts.get_limits,
    ),
    Tool(
        name="list_sequences",
        title="List sequences",
        toolset=Toolset.OUTREACH,
        description="Saved sequences with their steps and how many people are in each. Free.",
        arguments=ListAllSequences,
        answers=Listing[SequenceView],
        run=simple(sequences.list_sequences, lambda asked: asked.narrowed(ListSequences)),
        operation=sequences.list_sequences,
    ),
    Tool(
        name="save_sequence",
        title="Save a sequence",
        toolset=Toolset.OUTREACH,
        description="Make or change a sequence of steps: {action.types}. Sends nothing"
        " and costs nothing: enroll_candidates starts it. Texts take {{first_name}}, {{company}} and"
        " {{privacy_notice}}; put the last into the first message.",
        arguments=SaveSequence,
        answers=SequenceView,
        run=_save,
        operation=sequences.create_sequence,
        destructive=True,
    ),
    Tool(
        name="enroll_candidates",
        title="Enroll candidates",
        toolset=Toolset.OUTREACH,
        description="Put up to 500 people into a sequence: from a run, a list, ids or given candidates. Without confirm"
        " it is a preview: for each person the decision, the rendered texts, when the first step goes out, or why they"
        " are skipped. Show it to a person before confirming: confirmed, messages go out by themselves. 0 credits.",
        arguments=EnrollCandidates,
        answers=Enrolled | EnrollmentPreview,
        run=simple(enrollments.enroll, lambda asked: asked.narrowed(Enroll)),
        operation=enrollments.enroll,
        open_world=True,
    ),
    Tool(
        name="list_enrollments",
        title="List enrollments",
        toolset=Toolset.OUTREACH,
        description="People in sequences, newest first, and where each stands; with enrollment_id one of them with"
        " every action. Free.",
        arguments=ListAllEnrollments,
        answers=Listing[EnrollmentView] | EnrollmentWithActions,
        run=_enrollments,
        operation=enrollments.list_enrollments,
    ),
    Tool(
        name="update_enrollment",
        title="Update an enrollment",
        toolset=Toolset.OUTREACH,
        description="pause, resume or stop one person's sequence. pause and stop work at once; resume previews when the"
        " next step goes out unless confirm=true. stop is final. Free.",
        arguments=UpdateEnrollment,
        answers=EnrollmentView | ResumePreview,
        run=_update,
        operation=enrollments.resume_enrollment,
        chosen=_move,
        destructive=True,
        open_world=True,
    ),
)
