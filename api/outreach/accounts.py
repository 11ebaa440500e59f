"""Outreach accounts with their limits, and the settings of outreach (contract, section 7).

The API makes no call to the provider: it writes what is wanted, wakes the account, and looks at the row until the
worker has done it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.outreach.accounts_schemas import (
    RISK_WARNING,
    AccountConnecting,
    AccountView,
    ChangeLimits,
    ChangeSettings,
    ConnectAccount,
    LimitsView,
    ListAccounts,
    SettingsView,
    changed_caps,
)
from models.access.rules.keys import Scope
from models.base.database import Database, service_time
from models.base.errors import (
    AccountConnectUnavailable,
    Conflict,
    InvalidRequest,
    NotFound,
    UpstreamBusy,
    UpstreamError,
)
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.engine import outreach_plans
from models.outreach.engine import account_states, account_steps, connect, stop
from models.outreach.engine.connect import LINK_PURPOSE, UNFINISHED, ConnectFailure
from models.outreach.rules.caps import CAPS, cap_problem, hours_problems, workspace_cap_problem
from models.outreach.rules.states import AccountStatus, FieldProblem
from models.outreach.store import accounts, calendars
from models.outreach.store.accounts import LockedAccount
from models.outreach.tables import OutreachAccount

ACCOUNTS = Noun("Outreach accounts", "Accounts at the network, their limits, and how outreach is set.")

WAIT_SECONDS = 20
"""How long a call waits for what the worker does at the provider."""
LOOK_SECONDS = 0.05
BUSY_SECONDS = 5


@operation(
    "outreach_accounts.list", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=ACCOUNTS.get("/outreach/accounts")
)
async def list_accounts(ctx: Context, ask: ListAccounts) -> Listing[AccountView]:
    """Every account, newest first."""
    paging = ctx.paging(ask)
    rules = await accounts.read_settings(ctx.session, ctx.tenant)
    found = await accounts.page_of_accounts(ctx.session, ctx.tenant, paging.page, status=ask.status)
    return paging.listing(found, lambda row: AccountView.of(row, rules, ctx.now))


@operation(
    "outreach_accounts.get",
    scope=Scope.OUTREACH_READ,
    effect=Effect.READ,
    route=ACCOUNTS.get("/outreach/accounts/{account_id:id}"),
)
async def get_account(ctx: Context, account_id: str) -> AccountView:
    """One account."""
    row = await accounts.load_account(ctx.session, ctx.tenant, account_id)
    return AccountView.of(row, await accounts.read_settings(ctx.session, ctx.tenant), ctx.now)


@operation(
    "outreach_accounts.connect",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.post("/outreach/accounts", status=201, location="/outreach/accounts/{answer.account.id}"),
    fails=[502],
)
async def connect_account(ctx: Context, ask: ConnectAccount) -> AccountConnecting:
    """Get a link by which the owner of a network account signs in. {price.account} a month once it is connected."""
    await _may_connect(ctx)
    await outreach_plans.check_can_connect(
        ctx.session, ctx.tenant.workspace_id, configured=ctx.settings.stripe_api_key is not None
    )
    rules = await accounts.lock_settings(ctx.session, ctx.tenant)
    now = await ctx.read_clock()
    open_ones = await accounts.unfinished_accounts(ctx.session, ctx.tenant)
    account = next((one for one in open_ones if one.name == ask.name), None)
    if account is None:
        if len(open_ones) >= UNFINISHED:
            raise Conflict(
                f"{UNFINISHED} sign-ins are unfinished.", fix="Finish or remove one of them.", limit=UNFINISHED
            )
        account = accounts.new_account(ctx.tenant, name=ask.name, now=now)
        ctx.session.add(account)
    return await _with_link(ctx, LockedAccount(account, rules, now))


@operation(
    "outreach_accounts.reconnect",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.post("/outreach/accounts/{account_id:id}/reconnect"),
    fails=[502],
)
async def reconnect_account(ctx: Context, account_id: str) -> AccountConnecting:
    """Get a link by which the owner signs in again. Resume the account afterwards."""
    await _may_connect(ctx)
    held = await _held(ctx, account_id)
    if held.account.status not in (
        AccountStatus.CONNECTING,
        AccountStatus.DISCONNECTED,
        AccountStatus.NEEDS_REVIEW,
    ):
        raise Conflict("This account is connected.", status=held.account.status)
    if held.account.connected_at is None:
        await outreach_plans.check_can_connect(
            ctx.session, ctx.tenant.workspace_id, configured=ctx.settings.stripe_api_key is not None
        )
    return await _with_link(ctx, held)


@operation(
    "outreach_accounts.pause",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.post("/outreach/accounts/{account_id:id}/pause"),
)
async def pause_account(ctx: Context, account_id: str) -> AccountView:
    """Send nothing from this account until it is resumed."""
    held = await _held(ctx, account_id)
    await account_states.pause_account_by_hand(ctx.session, held)
    await ctx.wake(accounts.account_subject(account_id))
    return AccountView.of(held.account, held.rules, held.now)


@operation(
    "outreach_accounts.resume",
    scope=Scope.OUTREACH_SEND,
    effect=Effect.WRITE,
    route=ACCOUNTS.post("/outreach/accounts/{account_id:id}/resume"),
)
async def resume_account(ctx: Context, account_id: str) -> AccountView:
    """Send again. Needed after a pause by hand, a disconnect or a restriction; a network pause ends by itself."""
    await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)
    held = await _held(ctx, account_id)
    asked = await account_states.resume_by_hand(ctx.session, held)
    await ctx.wake(accounts.account_subject(account_id))
    if asked:
        tenant = ctx.tenant
        ctx.afterwards = lambda database: _reviewed(database, tenant, account_id)
    return AccountView.of(held.account, held.rules, held.now)


@operation(
    "outreach_accounts.delete",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.delete("/outreach/accounts/{account_id:id}"),
)
async def delete_account(ctx: Context, account_id: str) -> None:
    """Remove an account. Its open enrollments fail; its messages are deleted after 30 days."""
    held = await accounts.lock_account(ctx.session, ctx.tenant, account_id)
    await stop.remove_account(ctx.session, held)
    await ctx.note("outreach_account.removed", subject_id=account_id)
    await ctx.wake(accounts.account_subject(account_id))


async def _may_connect(ctx: Context) -> None:
    if not ctx.settings.unipile_api_key:
        raise AccountConnectUnavailable("Connecting outreach accounts is switched off on this server.")
    await accounts.refuse_unverified(ctx.session, ctx.tenant, needed=ctx.settings.email_verification)


async def _held(ctx: Context, account_id: str) -> LockedAccount:
    held = await accounts.lock_account(ctx.session, ctx.tenant, account_id)
    if held.account.status == AccountStatus.REMOVED:
        raise NotFound("This outreach account was removed.")
    ctx.now = held.now
    return held


async def _with_link(ctx: Context, held: LockedAccount) -> AccountConnecting:
    """Ask for a link; the answer is given once the worker has made it."""
    account = held.account
    connect.ask_link(account, held.now)
    await ctx.wake(accounts.account_subject(account.id))
    tenant, vault, account_id = ctx.tenant, ctx.vault, account.id
    ctx.afterwards = lambda database: _linked(database, vault, tenant, account_id)
    view = AccountView.of(account, held.rules, held.now)
    return AccountConnecting(account=view, connect_url="", expires_at=account.connect_expires_at or held.now)


async def _linked(database: Database, vault: Vault, tenant: Tenant, account_id: str) -> AccountConnecting:
    held = await _waited(
        database, tenant, account_id, lambda row: row.connect_url is not None or row.connect_failure is not None
    )
    account = held.account
    if account.connect_url is None or account.connect_expires_at is None:
        raise _refusal(account.connect_failure)
    return AccountConnecting(
        account=AccountView.of(account, held.rules, held.now),
        connect_url=vault.open(LINK_PURPOSE, account.connect_url).decode(),
        expires_at=account.connect_expires_at,
    )


def _refusal(failure: str | None) -> Exception:
    if failure == ConnectFailure.UNAVAILABLE:
        return AccountConnectUnavailable("The outreach provider refuses this server. Its operator has to look.")
    if failure == ConnectFailure.UPSTREAM:
        return UpstreamError("The outreach provider made no link.")
    return UpstreamBusy(status=503, retry_after=BUSY_SECONDS)


async def _reviewed(database: Database, tenant: Tenant, account_id: str) -> AccountView:
    held = await _waited(database, tenant, account_id, lambda row: row.review_asked_at is None)
    account = held.account
    rests = account.status in (AccountStatus.DISCONNECTED, AccountStatus.NEEDS_REVIEW)
    if rests and account.next_look_at is not None:  # the provider gave no answer that says anything
        raise UpstreamBusy(status=503, retry_after=BUSY_SECONDS)
    accounts.refuse_unready(account, held.now)
    return AccountView.of(account, held.rules, held.now)


async def _waited(
    database: Database, tenant: Tenant, account_id: str, done: Callable[[OutreachAccount], bool]
) -> LockedAccount:
    """The account once the worker has done what is waited for. Raises `UpstreamBusy` when that takes too long."""
    deadline = asyncio.get_running_loop().time() + WAIT_SECONDS
    while asyncio.get_running_loop().time() < deadline:
        async with database.reading() as session:
            account = await accounts.load_account(session, tenant, account_id)
            if done(account):
                return LockedAccount(
                    account, await accounts.read_settings(session, tenant), await service_time(session)
                )
        await asyncio.sleep(LOOK_SECONDS)
    raise UpstreamBusy(status=503, retry_after=BUSY_SECONDS)


HOURS = ("time_zone", "start_hour", "end_hour", "days")


@operation(
    "outreach_settings.get", scope=Scope.OUTREACH_READ, effect=Effect.READ, route=ACCOUNTS.get("/outreach/settings")
)
async def get_settings(ctx: Context, _: None) -> SettingsView:
    """Working hours, and the caps that were lowered for all accounts."""
    return SettingsView.of(await accounts.read_settings(ctx.session, ctx.tenant))


@operation(
    "outreach_settings.change",
    scope=Scope.OUTREACH_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNTS.patch("/outreach/settings"),
)
async def change_settings(ctx: Context, ask: ChangeSettings) -> SettingsView:
    """Change working hours or lower caps. Planned steps are scheduled again."""
    row = await accounts.lock_settings_row(ctx.session, ctx.tenant)
    now = await ctx.read_clock()
    before = accounts.rules_of(row)
    for name in HOURS:
        if name in ask.model_fields_set:
            if getattr(ask, name) is None:
                raise InvalidRequest(f"{name} cannot be null.", field=name)
            setattr(row, name, getattr(ask, name))
    refuse_problems(
        hours_problems(time_zone=row.time_zone, start_hour=row.start_hour, end_hour=row.end_hour, days=row.days)
    )
    given = ask.given()
    refuse_problems(
        [
            problem
            for cap, value in given.items()
            if value is not None and (problem := workspace_cap_problem(cap, value))
        ]
    )
    row.days = sorted(row.days)
    row.caps = changed_caps(row.caps, given)
    after = accounts.rules_of(row)
    if after != before:
        row.updated_at = now
        await ctx.note("outreach.settings.changed", data={"fields": sorted(ask.model_fields_set)})
        await account_steps.ask_tenant(ctx.session, ctx.tenant)
    return SettingsView.of(after)


def refuse_problems(problems: Sequence[FieldProblem]) -> None:
    """Refuse what the rules find wrong first. Raises `InvalidRequest`."""
    for problem in problems:
        raise InvalidRequest(f"{problem.field} {problem.message}.", field=problem.field)


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
    account = await accounts.load_account(ctx.session, ctx.tenant, account_id)
    rules = await accounts.read_settings(ctx.session, ctx.tenant)
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
        ctx.woken.append(accounts.account_subject(account.id))
    usage = await calendars.usage(ctx.session, [account], ctx.now)
    warning = RISK_WARNING if raised else None
    return LimitsView.of(account, held.rules, usage[account.id], ctx.now, risk_warning=warning)
