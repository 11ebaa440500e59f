"""Actions: approving and rejecting held steps, settling uncertain ones, and direct sends.

A direct send is one invite, message, visit or withdrawal for one person (contract, section 7). Settling records what a
person saw on the network about an action whose outcome the service could not read back.
"""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.outreach.actions_schemas import (
    ActionPreview,
    ActionView,
    ApproveAction,
    ListActions,
    RenderedText,
    SendAsk,
    SettleAction,
    Settlement,
)
from api.people.named_people import find_person, in_body
from api.people.schemas import NamePerson
from api.sourcing.runs_schemas import WouldFail
from models.access.rules.keys import Scope
from models.base import outbox
from models.base.errors import InvalidRequest, OutreachCapReached, ServiceError
from models.base.steps import Subject
from models.outreach.engine.actions import (
    DraftSend,
    PlannedSend,
    approve,
    cancel_send,
    cap_of,
    prepare_send,
    preview_approval,
    queue_send,
    refuse_capped,
    reject,
    send_subject,
    settle,
)
from models.outreach.engine.plan import Writer
from models.outreach.rules.actions import ACTION_SPECS, CONTACTING, TEXT_OWNERS, ActionType
from models.outreach.rules.sequences import Placeholder, placeholders_of, unknown_placeholders
from models.outreach.rules.slots import Slot, SlotRefusal
from models.outreach.rules.texts import Caution
from models.outreach.store import accounts, actions, calendars, sequences
from models.outreach.tables import Action, OutreachAccount
from models.people.store import suppressions

ACTIONS = Noun("Outreach actions", "Single steps, and direct sends.")


@dataclass(frozen=True, slots=True)
class Approval:
    """One held action, and what was previewed of it."""

    action_id: str
    given: ApproveAction | None = None


@dataclass(frozen=True, slots=True)
class Settling:
    """One unknown action, and what became of it."""

    action_id: str
    ask: SettleAction


@operation(
    "outreach_actions.list", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=ACTIONS.get("/outreach/actions")
)
async def list_actions(ctx: Context, ask: ListActions) -> Listing[ActionView]:
    """Every action, newest first; `outcome=awaiting_approval` are those that wait for a person's approval."""
    paging = ctx.paging(ask)
    filters = actions.ActionFilters(ask.outcome, ask.enrollment_id, ask.sequence_id, ask.account_id, ask.profile_id)
    found = await actions.page_of_actions(ctx.session, ctx.tenant, filters, paging.page)
    hidden = await suppressions.suppressed_among(ctx.session, ctx.tenant, {row.profile_id for row in found.rows})
    return paging.listing(found, lambda row: ActionView.of(row, hidden=row.profile_id in hidden))


@operation(
    "outreach_actions.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=ACTIONS.get("/outreach/actions/{action_id:id}"),
)
async def get_action(ctx: Context, action_id: str) -> ActionView:
    """One action, with what moved its time."""
    row = await actions.load_action(ctx.session, ctx.tenant, action_id)
    hidden = await suppressions.suppressed_among(ctx.session, ctx.tenant, [row.profile_id])
    return ActionView.of(row, hidden=bool(hidden))


@operation(
    "outreach_actions.approve",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.SEND,
    route=ACTIONS.post("/outreach/actions/{action_id:id}/approve"),
)
async def approve_action(ctx: Context, ask: Approval) -> ActionView | ActionPreview:
    """Let a held step go out as it stands; `?dry_run=true` shows the message, its time and the `preview_hash`."""
    writer = writer_of(ctx)
    if not ctx.dry_run:
        await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
        # When the approval is refused because data changed, its enrollment requests a new one.
        ctx.if_refused = lambda session: actions.wake_action(session, ctx.tenant, ask.action_id)
    seen = await preview_approval(ctx.session, writer, ctx.tenant, ask.action_id)
    context, action = seen.context, seen.action
    ctx.now = context.now
    if ctx.dry_run:
        error = await in_the_way(ctx, context.account, seen.slot)
        return action_preview(action, seen.slot, error, preview_hash=seen.preview_hash)
    try:
        approve(seen, preview_hash=ask.given.preview_hash if ask.given else None)
    except OutreachCapReached as error:
        tell_cap(ctx, context.account, error)
        raise
    await ctx.wake(_subject(action))
    return ActionView.of(action)


@operation(
    "outreach_actions.reject",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACTIONS.post("/outreach/actions/{action_id:id}/reject"),
)
async def reject_action(ctx: Context, action_id: str) -> ActionView:
    """Skip a held step."""
    _, action = await reject(ctx.session, ctx.tenant, action_id)
    await ctx.wake(_subject(action))
    return ActionView.of(action)


@operation(
    "outreach_actions.cancel",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACTIONS.post("/outreach/actions/{action_id:id}/cancel"),
)
async def cancel_action(ctx: Context, action_id: str) -> ActionView:
    """Cancel a direct send that has not gone out."""
    _, action = await cancel_send(ctx.session, ctx.tenant, action_id)
    await ctx.wake(_subject(action))
    return ActionView.of(action)


@operation(
    "outreach_actions.settle",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACTIONS.post("/outreach/actions/{action_id:id}/settle"),
)
async def settle_action(ctx: Context, ask: Settling) -> ActionView:
    """Say what became of an action whose outcome is unknown. It is never sent again by itself."""
    sent = ask.ask.outcome is Settlement.SENT
    context, action = await settle(ctx.session, ctx.tenant, ask.action_id, sent=sent)
    ctx.now = context.now
    await ctx.note("outreach.action.settle", subject_id=action.id, data={"outcome": ask.ask.outcome.value})
    await ctx.wake(_subject(action))
    return ActionView.of(action)


def writer_of(ctx: Context) -> Writer:
    """Return what rendering a message needs: the vault, and the public URL that opt-out links begin with."""
    return Writer(ctx.vault, ctx.settings.public_url)


def _subject(action: Action) -> Subject:
    """The row that waits: a step's enrollment, or the direct send itself."""
    return send_subject(action.id) if action.enrollment_id is None else Subject("enrollment", action.enrollment_id)


def tell_cap(ctx: Context, account: OutreachAccount, error: OutreachCapReached) -> None:
    """Have a cap told of that an executing call met, although the call is refused and changes nothing."""
    cap = cap_of(error.cap)
    if cap is None:
        return
    account_id, at, now = account.id, error.next_available_at, ctx.now

    async def tell(session: AsyncSession) -> None:
        row = await accounts.load_account(session, ctx.tenant, account_id)  # the refused transaction's row is gone
        await calendars.tell_reached(session, row, cap, next_available_at=at, now=now)

    ctx.if_refused = tell


async def in_the_way(ctx: Context, account: OutreachAccount, slot: Slot | SlotRefusal) -> ServiceError | None:
    """The error that executing would give now, for what a preview reports instead of raising."""
    unverified = await accounts.unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    if unverified is not None:
        return unverified
    try:
        accounts.refuse_unready(account, ctx.now)
        refuse_capped(slot)
    except ServiceError as error:
        return error
    return None


def action_preview(
    action: Action,
    slot: Slot | SlotRefusal,
    error: ServiceError | None,
    *,
    preview_hash: str | None = None,
    warnings: list[Caution] | None = None,
) -> ActionPreview:
    """A preview of an action at its slot; `preview_hash` comes with one that is held."""
    blocked = error.details.get("next_available_at") if error is not None else None
    return ActionPreview(
        action_id=action.id if preview_hash is not None else None,
        type=ActionType(action.type),
        account_id=action.account_id,
        profile_id=action.profile_id,
        rendered=RenderedText(text=action.text),
        scheduled_at=slot.at if isinstance(slot, Slot) and error is None else None,
        next_available_at=blocked if isinstance(blocked, str) else None,
        why=[move.shown() for move in slot.why],
        warnings=warnings or [],
        would_fail=None if error is None else WouldFail(code=error.code),
        preview_hash=preview_hash,
    )


GIVEN = ("full_name", "first_name", "company")


@operation(
    "outreach_sends.create",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.SEND,
    route=ACTIONS.post("/outreach/sends", status=202, location="/outreach/actions/{answer.id}"),
)
async def send(ctx: Context, ask: SendAsk) -> ActionView | ActionPreview:
    """Queue one invite, message, profile visit or invite withdrawal, or preview it with `?dry_run=true`."""
    written = _text(ask)
    named = in_body(NamePerson(profile_id=ask.profile_id, profile_url=ask.profile_url))
    if not ctx.dry_run:
        await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    held = await accounts.lock_account(
        ctx.session, ctx.tenant, ask.account_id
    )  # before the people: the order of the locks
    profile_id = await find_person(ctx, named)
    given = {name: value for name in GIVEN if (value := getattr(ask, name)) is not None}
    draft = DraftSend(ask.account_id, ask.type, profile_id, written, given)
    planned = await prepare_send(ctx.session, writer_of(ctx), ctx.tenant, draft, api_key_id=ctx.caller.api_key_id)
    ctx.now = planned.held.now
    if ctx.dry_run:
        error = await in_the_way(ctx, held.account, planned.slot)
        return action_preview(planned.action, planned.slot, error, warnings=_warnings(planned, written))
    accounts.refuse_unready(held.account, ctx.now)
    try:
        refuse_capped(planned.slot)
    except OutreachCapReached as error:
        tell_cap(ctx, held.account, error)
        raise
    action = queue_send(ctx.session, planned)
    if ask.type in CONTACTING:
        await sequences.mark_contacted(ctx.session, ctx.tenant, [profile_id], ctx.now)
    await ctx.session.flush()
    await outbox.wake(ctx.session, send_subject(action.id))  # the dispatcher starts it: it knows whose it is
    return ActionView.of(action)


def _text(ask: SendAsk) -> str | None:
    """What is to be written, as given. Raises `InvalidRequest` with its field."""
    spec = ACTION_SPECS[ask.type]
    for field, owner in TEXT_OWNERS.items():
        if field != spec.text_field and getattr(ask, field) is not None:
            raise InvalidRequest(f"A {field} belongs to {owner.label}.", field=field)
    if spec.text_field is None:
        return None
    written: str = getattr(ask, spec.text_field) or ""
    if not spec.shortest_text <= len(written) <= spec.longest_text:
        least = f"{spec.shortest_text} to" if spec.shortest_text else "at most"
        raise InvalidRequest(f"A {spec.text_field} has {least} {spec.longest_text} characters.", field=spec.text_field)
    unknown = unknown_placeholders(written)
    if unknown:
        raise InvalidRequest(f"There is no value for {', '.join(unknown)}.", field=spec.text_field)
    return written or None


def _warnings(planned: PlannedSend, written: str | None) -> list[Caution]:
    """A first message should say how not to be written to."""
    first = planned.action.first_touch and written is not None
    lacks = first and Placeholder.PRIVACY_NOTICE not in placeholders_of(written or "")
    return [Caution.NO_PRIVACY_NOTICE] if lacks else []
