"""Limits of an outreach account (specification, "Outreach caps"; contract, section 7)."""

from dataclasses import dataclass

from api.kernel.operation import Context, Effect, operation
from api.outreach.accounts import ACCOUNTS
from api.outreach.limits_schemas import RISK_WARNING, ChangeLimits, LimitsView
from api.outreach.settings import refuse_problems
from api.outreach.settings_schemas import changed_caps
from models.access.rules.keys import Scope
from models.base.errors import NotFound
from models.outreach.engine import account_states
from models.outreach.rules.caps import CAPS, cap_problem
from models.outreach.rules.states import AccountStatus
from models.outreach.store import accounts, calendars, sequences


@dataclass(frozen=True, slots=True)
class LimitsChange:
    """An account and what is to become of its caps."""

    account_id: str
    change: ChangeLimits


@operation(
    "outreach_limits.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=ACCOUNTS.get("/outreach/accounts/{account_id:id}/limits"),
)
async def get_limits(ctx: Context, account_id: str) -> LimitsView:
    """Today's caps of an account, what is used of them, and when there is room again."""
    account = await accounts.get_account(ctx.session, ctx.tenant, account_id)
    rules = await sequences.read_settings(ctx.session, ctx.tenant)
    usage = await calendars.usage(ctx.session, [account], ctx.now)
    return LimitsView.of(account, rules, usage[account.id], ctx.now)


@operation(
    "outreach_limits.change",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.patch("/outreach/accounts/{account_id:id}/limits"),
)
async def change_limits(ctx: Context, ask: LimitsChange) -> LimitsView:
    """Change an account's caps. Above the default only with `risk_acknowledged: true`."""
    held = await accounts.lock_account(ctx.session, ctx.tenant, ask.account_id)
    account, ctx.now = held.account, held.now
    if account.status == AccountStatus.REMOVED:
        raise NotFound("This outreach account was removed.")
    given = ask.change.given()
    acknowledged = ask.change.risk_acknowledged
    refuse_problems(
        [
            problem
            for cap, value in given.items()
            if value is not None and (problem := cap_problem(cap, value, risk_acknowledged=acknowledged))
        ]
    )
    raised = {cap.value: value for cap, value in given.items() if value is not None and value > CAPS[cap].default}
    if raised:
        await ctx.note("outreach.limits.raise", subject_id=account.id, data=raised)
    before = account.caps
    account.caps = changed_caps(before, given)
    if account.caps != before:
        account_states.ask_replanning(held)
        ctx.rung.append(accounts.account_subject(account.id))
    usage = await calendars.usage(ctx.session, [account], ctx.now)
    warning = RISK_WARNING if raised else None
    return LimitsView.of(account, held.rules, usage[account.id], ctx.now, risk_warning=warning)
