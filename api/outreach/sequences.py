"""Sequences and their templates (specification, "Sequence"; contract, section 7)."""

from collections.abc import Sequence
from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.outreach.sequences_schemas import (
    ChangeSequence,
    CreateSequence,
    ListSequences,
    SequenceView,
    StepAsk,
    TemplateView,
    shown_steps,
)
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest, NotFound
from models.base.ids import new_id
from models.outreach.rules.sequences import (
    TEMPLATES,
    SequenceStep,
    sequence_problems,
    steps_of,
    stored_steps,
    template,
    with_ids,
)
from models.outreach.rules.states import AccountStatus, FieldProblem
from models.outreach.store import accounts, sequences
from models.outreach.store.sequences import Counts, DraftSequence
from models.outreach.tables import OutreachSequence

OUTREACH = Noun("Outreach", "Sequences, and the people in them.")


@dataclass(frozen=True, slots=True)
class SequenceChange:
    """A sequence and what is to become of it."""

    sequence_id: str
    change: ChangeSequence


@operation(
    "outreach_templates.list", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=OUTREACH.get("/outreach/templates")
)
async def list_templates(_: Context, __: None) -> Listing[TemplateView]:
    """The ready sequences: `network_first` and `network_invite_note_message`."""
    return Listing(
        data=[
            TemplateView(
                id=one.name,
                name=one.name,
                title=one.title,
                description=one.description,
                steps=shown_steps(one.steps),
            )
            for one in TEMPLATES
        ]
    )


@operation(
    "outreach_sequences.create",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=OUTREACH.post("/outreach/sequences", status=201, location="/outreach/sequences/{answer.id}"),
)
async def create_sequence(ctx: Context, ask: CreateSequence) -> SequenceView:
    """Save a sequence, from its fields or from a template. Sends nothing and costs nothing."""
    name, asked = _asked(ask)
    account = await accounts.load_account(ctx.session, ctx.tenant, ask.account_id)
    if account.status == AccountStatus.REMOVED:
        raise NotFound("This outreach account was removed.", field="account_id")
    draft = DraftSequence(
        account_id=account.id,
        name=name,
        steps=_checked(ctx, asked, (), daily_pace_limit=ask.daily_pace_limit),
        approve_every_message=ask.approve_every_message,
        daily_pace_limit=ask.daily_pace_limit,
    )
    return SequenceView.of(await sequences.add_sequence(ctx.session, ctx.tenant, draft, now=ctx.now), Counts())


def _asked(ask: CreateSequence) -> tuple[str, Sequence[SequenceStep]]:
    if ask.template is not None:
        if ask.steps is not None:
            raise InvalidRequest("Give either a template or steps.", field="steps")
        ready = template(ask.template)
        return ask.name or ready.title, ready.steps
    if ask.name is None:
        raise InvalidRequest("A sequence without a template needs a name.", field="name")
    if ask.steps is None:
        raise InvalidRequest("A sequence without a template needs steps.", field="steps")
    return ask.name, _steps(ask.steps)


def _steps(asked: Sequence[StepAsk]) -> list[SequenceStep]:
    return [one.step() for one in asked]


def _checked(
    ctx: Context, asked: Sequence[SequenceStep], current: Sequence[SequenceStep], *, daily_pace_limit: int | None
) -> Sequence[SequenceStep]:
    """The steps with their ids. Raises `InvalidRequest` with the field of the first problem."""
    _refuse(sequence_problems(asked, daily_pace_limit=daily_pace_limit))
    steps, problems = with_ids(asked, current, lambda: new_id("step", ctx.now))
    _refuse(problems)
    return steps


def _refuse(problems: Sequence[FieldProblem]) -> None:
    for problem in problems:
        raise InvalidRequest(f"{problem.field.rpartition('.')[2]} {problem.message}.", field=problem.field)


@operation(
    "outreach_sequences.list", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=OUTREACH.get("/outreach/sequences")
)
async def list_sequences(ctx: Context, ask: ListSequences) -> Listing[SequenceView]:
    """Sequences, newest first; archived ones only with `status=archived`."""
    paging = ctx.paging(ask)
    found = await sequences.page_of_sequences(ctx.session, ctx.tenant, paging.page, status=ask.status)
    counts = await sequences.count_enrollments(ctx.session, [row.id for row in found.rows])
    return paging.listing(found, lambda row: SequenceView.of(row, counts.get(row.id, Counts())))


@operation(
    "outreach_sequences.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=OUTREACH.get("/outreach/sequences/{sequence_id:id}"),
)
async def get_sequence(ctx: Context, sequence_id: str) -> SequenceView:
    """One sequence, with how many people are in it."""
    return await _view(ctx, await sequences.load_sequence(ctx.session, ctx.tenant, sequence_id))


NEVER_NULL = frozenset({"name", "steps", "approve_every_message", "status"})
WITHOUT_EFFECT = frozenset({"name"})
"""Fields whose change affects no enrolled person."""


@operation(
    "outreach_sequences.change",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=OUTREACH.patch("/outreach/sequences/{sequence_id:id}"),
)
async def change_sequence(ctx: Context, ask: SequenceChange) -> SequenceView:
    """Change name, steps, pace or status; steps are matched by their `id`, and started ones are never repeated."""
    change, given = ask.change, ask.change.model_fields_set
    for name in sorted(given & NEVER_NULL):
        if getattr(change, name) is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    row = await sequences.lock_sequence(ctx.session, ctx.tenant, ask.sequence_id)
    changed = {name: value for name, value in _values(ctx, row, change).items() if getattr(row, name) != value}
    if changed:
        for name, value in changed.items():
            setattr(row, name, value)
        row.version, row.updated_at = row.version + 1, ctx.now
        if changed.keys() - WITHOUT_EFFECT:
            await sequences.wake_sequence(ctx.session, row.id)
    return await _view(ctx, row)


def _values(ctx: Context, row: OutreachSequence, change: ChangeSequence) -> dict[str, object]:
    """What the row's columns become. Raises `InvalidRequest`."""
    given = change.model_fields_set
    values: dict[str, object] = {name: getattr(change, name) for name in given - {"steps"}}
    current = steps_of(row.steps)
    asked = _steps(change.steps) if change.steps is not None else current
    pace = change.daily_pace_limit if "daily_pace_limit" in given else row.daily_pace_limit
    steps = _checked(ctx, asked, current, daily_pace_limit=pace)
    return values | {"steps": stored_steps(steps)}


@operation(
    "outreach_sequences.delete",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=OUTREACH.delete("/outreach/sequences/{sequence_id:id}"),
)
async def delete_sequence(ctx: Context, sequence_id: str) -> None:
    """Delete a sequence; 409 while enrollments are open: stop them, or archive it."""
    await sequences.remove_sequence(ctx.session, ctx.tenant, sequence_id)


async def _view(ctx: Context, row: OutreachSequence) -> SequenceView:
    counts = await sequences.count_enrollments(ctx.session, [row.id])
    return SequenceView.of(row, counts.get(row.id, Counts()))
