"""Actions: approving and rejecting held steps, cancelling direct sends, settling what nobody could read back."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from api.operations.kernel import Context, Effect, operation
from api.schemas.lists import Listing
from api.schemas.outreach.actions import (
    ActionPreview,
    ActionView,
    ApproveAction,
    ListActions,
    RenderedText,
    SettleAction,
    Settlement,
)
from api.schemas.runs import WouldFail
from models.errors import OutreachCapReached, ServiceError
from models.rules.access import Scope
from models.rules.outreach.rendering import Caution
from models.rules.outreach.slots import Refusal, Slot
from models.rules.outreach.states import ActionType
from models.rules.subjects import Subject
from models.stores import suppressions
from models.stores.outreach import accounts, actions, approvals, limits, sends
from models.stores.outreach.texts import Writer
from models.tables import Action, OutreachAccount


@dataclass(frozen=True, slots=True)
class Approval:
    """One held action, and what was previewed of it."""

    action_id: str
    ask: ApproveAction


@dataclass(frozen=True, slots=True)
class Settling:
    """One unknown action, and what became of it."""

    action_id: str
    ask: SettleAction


@operation("outreach_actions.list", scope=Scope.OUTREACH_READ, effect=Effect.READ)
async def list_actions(ctx: Context, ask: ListActions) -> Listing[ActionView]:
    """Actions, newest first."""
    paging = ctx.paging(ask)
    filters = actions.Filters(ask.outcome, ask.enrollment_id, ask.sequence_id, ask.account_id, ask.profile_id)
    found = await actions.listed(ctx.session, ctx.tenant, filters, paging.page)
    hidden = await suppressions.among(ctx.session, ctx.tenant, {row.profile_id for row in found.rows})
    return paging.listing(found, lambda row: ActionView.of(row, hidden=row.profile_id in hidden))


@operation("outreach_actions.get", scope=Scope.OUTREACH_READ, effect=Effect.READ)
async def get_action(ctx: Context, action_id: str) -> ActionView:
    """One action."""
    row = await actions.get(ctx.session, ctx.tenant, action_id)
    hidden = await suppressions.among(ctx.session, ctx.tenant, [row.profile_id])
    return ActionView.of(row, hidden=bool(hidden))


@operation("outreach_actions.approve", scope=Scope.OUTREACH_SEND, effect=Effect.SEND)
async def approve_action(ctx: Context, ask: Approval) -> ActionView | ActionPreview:
    """Let a held step go out exactly as it stands, or preview it with the hash that binds an approval to it."""
    writer = writer_of(ctx)
    if not ctx.dry_run:
        await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
        # Whoever is refused because data changed finds the step held anew: its enrollment looks at it again.
        ctx.if_refused = lambda session: actions.ring(session, ctx.tenant, ask.action_id)
    seen = await approvals.preview(ctx.session, writer, ctx.tenant, ask.action_id)
    scene, action = seen.scene, seen.action
    ctx.now = scene.now
    if ctx.dry_run:
        error = await in_the_way(ctx, scene.account, seen.slot)
        return shown(action, seen.slot, error, preview_hash=seen.preview_hash)
    try:
        approvals.approve(seen, preview_hash=ask.ask.preview_hash)
    except OutreachCapReached as error:
        tell_cap(ctx, scene.account, error)
        raise
    await ctx.ring(_subject(action))
    return ActionView.of(action)


@operation("outreach_actions.reject", scope=Scope.OUTREACH_WRITE, effect=Effect.WRITE)
async def reject_action(ctx: Context, action_id: str) -> ActionView:
    """Skip a held step; its enrollment goes on with the next one."""
    _, action = await approvals.reject(ctx.session, ctx.tenant, action_id)
    await ctx.ring(_subject(action))
    return ActionView.of(action)


@operation("outreach_actions.cancel", scope=Scope.OUTREACH_WRITE, effect=Effect.WRITE)
async def cancel_action(ctx: Context, action_id: str) -> ActionView:
    """Cancel a direct send that has not gone out."""
    _, action = await approvals.cancel(ctx.session, ctx.tenant, action_id)
    await ctx.ring(_subject(action))
    return ActionView.of(action)


@operation("outreach_actions.settle", scope=Scope.OUTREACH_WRITE, effect=Effect.WRITE)
async def settle_action(ctx: Context, ask: Settling) -> ActionView:
    """Say what became of an action whose outcome is unknown: its enrollment goes on, or ends."""
    sent = ask.ask.outcome is Settlement.SENT
    scene, action = await approvals.settle(ctx.session, ctx.tenant, ask.action_id, sent=sent)
    ctx.now = scene.now
    await ctx.note("outreach.action.settle", subject_id=action.id, data={"outcome": ask.ask.outcome.value})
    await ctx.ring(_subject(action))
    return ActionView.of(action)


def writer_of(ctx: Context) -> Writer:
    """What it takes to write to somebody."""
    return Writer(ctx.vault, ctx.settings.public_url)


def _subject(action: Action) -> Subject:
    """The row that waits: a step's enrollment, or the direct send itself."""
    return sends.subject(action.id) if action.enrollment_id is None else Subject("enrollment", action.enrollment_id)


def tell_cap(ctx: Context, account: OutreachAccount, error: OutreachCapReached) -> None:
    """Have a cap told of that an executing call met, although the call is refused and changes nothing."""
    cap = approvals.cap_of(error.cap)
    if cap is None:
        return
    account_id, at, now = account.id, error.next_available_at, ctx.now

    async def tell(session: AsyncSession) -> None:
        row = await accounts.found(session, ctx.tenant, account_id)  # the refused transaction's row is gone
        await limits.tell_reached(session, row, cap, next_available_at=at, now=now)

    ctx.if_refused = tell


async def in_the_way(ctx: Context, account: OutreachAccount, slot: Slot | Refusal) -> ServiceError | None:
    """The error that executing would give now, for what a preview reports instead of raising."""
    unverified = await accounts.unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    if unverified is not None:
        return unverified
    try:
        accounts.refuse_unready(account, ctx.now)
        approvals.refuse_capped(slot)
    except ServiceError as error:
        return error
    return None


def shown(
    action: Action,
    slot: Slot | Refusal,
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
