"""Signing up, confirming the address, and the workspace itself (contract, section 4)."""

import hashlib
import json
import secrets
from datetime import datetime
from math import ceil
from urllib.parse import unquote

from pydantic import ValidationError
from starlette.requests import Request

from api.access.keys import new_key
from api.access.schemas import (
    Attribution,
    ChangeWorkspace,
    SignUp,
    VerificationSent,
    VerificationView,
    Verify,
    WorkspaceCreated,
    WorkspaceView,
)
from api.kernel.operation import Context, Effect, Noun, operation
from models.access.rules.keys import ALL_SCOPES, Power, Scope
from models.access.rules.signup import (
    DAY,
    DISPOSABLE_DOMAINS,
    LINK_LIFE,
    RESENDS_A_DAY,
    TOKEN_BYTES,
    MailKind,
    address_key,
    is_disposable,
)
from models.access.store import mails, workspaces
from models.access.tables import Workspace
from models.base.errors import Conflict, InvalidRequest, InvalidVerificationLink, RateLimited
from models.base.ids import new_id
from models.base.tenants import Tenant
from models.billing.rules.prices import SIGNUP_CREDITS, SIGNUP_LIFE
from models.billing.store import credits

ACCOUNT = Noun("Account", "The workspace: signing up, confirming the address, its settings, and who did what.")

SIGNUP = "signup"
NETWORK_PURPOSE = "signup-network"
FIRST_KEY = "First key"
FIRST_VISIT = "svc_attr"
"""The cookie in which a website keeps how a visitor came."""


def with_first_visit(ask: SignUp, request: Request) -> SignUp:
    """Take the attribution from the first-visit cookie unless the body gives one."""
    cookie = request.cookies.get(FIRST_VISIT)
    if ask.attribution is not None or cookie is None:
        return ask
    return ask.model_copy(update={"attribution": first_visit(cookie)})


def first_visit(cookie: str) -> Attribution | None:
    """Return what the first-visit cookie says, URL-encoded JSON of the same fields; null when it is malformed."""
    try:
        attribution = Attribution.model_validate_json(json.dumps(json.loads(unquote(cookie, errors="strict"))))
    except (ValidationError, ValueError, RecursionError):
        return None
    return None if "\\u0000" in attribution.model_dump_json() else attribution


@operation(
    "workspaces.create",
    scope=None,
    effect=Effect.WRITE,
    route=ACCOUNT.post("/workspaces", status=201, completed=with_first_visit),
)
async def create_workspace(ctx: Context, ask: SignUp) -> WorkspaceCreated:
    """Make a workspace. The key in the answer is shown this once; a confirmation link is mailed to `email`."""
    if is_disposable(ask.email, DISPOSABLE_DOMAINS):
        raise InvalidRequest(
            "Addresses of services that lend mailboxes are not accepted.",
            field="email",
            fix="Sign up with an address that you keep.",
        )
    key = address_key(ask.email)
    await workspaces.lock_address(ctx.session, key)
    now = await ctx.read_clock()
    await _check_network(ctx)
    if await workspaces.is_address_taken(ctx.session, key, now):
        raise Conflict("There is a workspace with this address already.", field="email")
    workspace = Workspace(
        id=new_id("ws", now),
        name=ask.name,
        email=ask.email,
        email_key=key,
        first_name=ask.first_name,
        marketing_opt_in=ask.marketing_opt_in,
        attribution=ask.attribution.model_dump(mode="json") if ask.attribution else None,
        created_at=now,
    )
    ctx.session.add(workspace)
    await ctx.session.flush()
    power = Power(scopes=ALL_SCOPES)
    _, secret = await new_key(ctx, Tenant(workspace.id), name=FIRST_KEY, power=power, expires_at=None)
    if ctx.settings.email_verification:
        await _mail_link(ctx, workspace)
        balance = 0
    else:
        balance = await _grant(ctx, workspace)
    return WorkspaceCreated(
        id=workspace.id,
        name=workspace.name,
        email=workspace.email,
        first_name=workspace.first_name,
        marketing_opt_in=workspace.marketing_opt_in,
        email_verified=False,
        balance_credits=balance,
        created_at=now,
        api_key=secret,
    )


async def _check_network(ctx: Context) -> None:
    """Let one network make so many workspaces a day. What is refused afterwards is not counted: it rolls back."""
    network = ctx.vault.keyed_hash(NETWORK_PURPOSE, ctx.network)
    if await workspaces.count_signup(ctx.session, network, ctx.now) > ctx.settings.signups_a_day:
        midnight = credits.caps_reset_at(ctx.now)
        raise RateLimited(max(1, ceil((midnight - ctx.now).total_seconds())))


@operation(
    "signup",
    scope=None,
    effect=Effect.WRITE,
    route=ACCOUNT.post("/signup", status=201, completed=with_first_visit),
)
async def sign_up(ctx: Context, ask: SignUp) -> WorkspaceCreated:
    """The same as `POST /v1/workspaces`."""
    return await create_workspace.handler(ctx, ask)


@operation("workspaces.verify", scope=None, effect=Effect.WRITE, route=ACCOUNT.post("/workspaces/verify"), fails=[404])
async def verify(ctx: Context, ask: Verify) -> VerificationView:
    """Confirm the address with the token from the mailed link. It works once, and adds the signup credits."""
    link = await workspaces.find_link(ctx.session, hash_of(ask.token))
    if link is None:
        raise InvalidVerificationLink(INVALID_LINK)
    workspace = await workspaces.lock_workspace(ctx.session, link.workspace_id)
    await workspaces.lock_address(ctx.session, workspace.email_key)
    now = await ctx.read_clock()
    await ctx.session.refresh(link)
    if link.used_at is not None or link.expires_at <= now:
        raise InvalidVerificationLink(INVALID_LINK)
    if await workspaces.is_address_verified(ctx.session, workspace.email_key):
        raise Conflict("Another workspace has confirmed this address.")
    workspace.verified_at = now
    await ctx.session.flush()
    await workspaces.close_links(ctx.session, workspace.id, now)
    granted = await _grant(ctx, workspace)
    return VerificationView(
        workspace_id=workspace.id,
        verified_at=now,
        granted_credits=granted,
        balance_credits=await credits.balance(ctx.session, workspace.id),
    )


INVALID_LINK = "This confirmation link is invalid, was used, or has expired."


@operation(
    "workspace.send_verification",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=ACCOUNT.post("/workspace/verification"),
)
async def send_verification(ctx: Context, _: None) -> VerificationSent:
    """Mail the confirmation link again, at most three times a day."""
    workspace = await workspaces.lock_workspace(ctx.session, ctx.tenant.workspace_id)
    now = await ctx.read_clock()
    if workspace.verified_at is not None:
        raise Conflict("The address is confirmed already.")
    sent = await workspaces.resends_of_last_day(ctx.session, workspace, now)
    if len(sent) >= RESENDS_A_DAY:
        raise RateLimited(max(1, int((sent[-RESENDS_A_DAY] + DAY - now).total_seconds())))
    expires_at = await _mail_link(ctx, workspace)
    return VerificationSent(workspace_id=workspace.id, email=workspace.email, expires_at=expires_at)


@operation("workspace.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=ACCOUNT.get("/workspace"))
async def get_workspace(ctx: Context, _: None) -> WorkspaceView:
    """The workspace of the key."""
    return await _view(ctx, await workspaces.find_workspace(ctx.session, ctx.tenant.workspace_id))


@operation("workspace.change", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE, route=ACCOUNT.patch("/workspace"))
async def change_workspace(ctx: Context, ask: ChangeWorkspace) -> WorkspaceView:
    """Change the workspace; a field that is left out stays as it is."""
    given = ask.model_fields_set
    for name in given - {"first_name"}:
        if getattr(ask, name) is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    workspace = await workspaces.lock_workspace(ctx.session, ctx.tenant.workspace_id)
    for name in given:
        setattr(workspace, name, getattr(ask, name))
    await ctx.read_clock()
    await ctx.note("workspace.changed", subject_id=workspace.id, data={"fields": sorted(given)})
    return await _view(ctx, workspace)


def hash_of(token: str) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token.encode()).digest()


async def _mail_link(ctx: Context, workspace: Workspace) -> datetime:
    token = secrets.token_urlsafe(TOKEN_BYTES)
    workspaces.add_link(ctx.session, workspace.id, token_hash=hash_of(token), now=ctx.now)
    sealed = ctx.vault.seal(mails.SECRET_PURPOSE, token.encode())
    await ctx.wake(
        await mails.queue_mail(ctx.session, workspace.id, MailKind.VERIFICATION, sealed_token=sealed, now=ctx.now)
    )
    return ctx.now + LINK_LIFE


async def _grant(ctx: Context, workspace: Workspace) -> int:
    return await credits.grant_credits(
        ctx.session,
        workspace_id=workspace.id,
        source=SIGNUP,
        reference=SIGNUP,
        credits=SIGNUP_CREDITS,
        expires_at=ctx.now + SIGNUP_LIFE,
    )


async def _view(ctx: Context, workspace: Workspace) -> WorkspaceView:
    return WorkspaceView(
        id=workspace.id,
        name=workspace.name,
        email=workspace.email,
        first_name=workspace.first_name,
        marketing_opt_in=workspace.marketing_opt_in,
        email_verified=workspace.verified_at is not None,
        balance_credits=await credits.balance(ctx.session, workspace.id),
        low_balance_credits=workspace.low_balance_credits,
        api_version=ctx.version,
        suspended=workspace.suspended_at is not None,
        created_at=workspace.created_at,
    )
