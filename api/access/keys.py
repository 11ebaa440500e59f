"""API keys: made, changed, rotated and revoked by callers at least as wide (contract, sections 2 and 4)."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.access.schemas import ChangeKey, CreateKey, GrantedTo, KeyCreated, KeyView, RotateKey
from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing, PageAsk
from models.access.rules.keys import SECRET_BYTES, Power, Scope, is_live, key_secret
from models.access.store import oauth, workspaces
from models.access.store.keys import (
    NewKey,
    add_key,
    find_key,
    other_administrators,
    page_of_keys,
    power_of,
    spent_on_day,
)
from models.access.tables import ApiKey
from models.base.errors import Conflict, Forbidden, InvalidRequest, NotFound, Unauthorized
from models.base.tenants import Tenant

KEYS = Noun("API keys", "Keys of a workspace: their scopes, caps, rotation and end.")

LAST_DIGITS = 4
GRANT = "oauth"
"""The kind of keys that are grants: made by signing in alone."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key and what is to become of it."""

    key_id: str
    change: ChangeKey


@dataclass(frozen=True, slots=True)
class KeyRotation:
    """A key that is to get a new secret."""

    key_id: str
    rotation: RotateKey


@operation("api_keys.list", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=KEYS.get("/api-keys"))
async def list_keys(ctx: Context, ask: PageAsk) -> Listing[KeyView]:
    """Every key of the workspace, revoked ones included."""
    paging = ctx.paging(ask)
    found = await page_of_keys(ctx.session, ctx.tenant.workspace_id, paging.page)
    shown = await _views(ctx, found.rows)
    return paging.listing(found, lambda key: shown[key.id])


@operation("api_keys.get", scope=Scope.ACCOUNT_READ, effect=Effect.READ, route=KEYS.get("/api-keys/{key_id:id}"))
async def get_key(ctx: Context, key_id: str) -> KeyView:
    """One key."""
    return await _view(ctx, await _find(ctx, key_id))


@operation(
    "api_keys.create",
    scope=Scope.ACCOUNT_WRITE,
    effect=Effect.WRITE,
    route=KEYS.post("/api-keys", status=201, location="/api-keys/{answer.id}"),
)
async def create_key(ctx: Context, ask: CreateKey) -> KeyCreated:
    """Make a key that is no wider than the caller's. Its secret is shown this once."""
    own = await _enter(ctx)
    _check_expiry(ctx, ask.expires_at)
    power = Power(ask.scopes, ask.daily_cap_credits, ask.customer_id)
    _check_width(power, own)
    await _check_customer(ctx, ask.customer_id)
    account = Tenant(ctx.tenant.workspace_id)
    key, secret = await new_key(ctx, account, name=ask.name, power=power, expires_at=ask.expires_at)
    await ctx.note("api_key.created", subject_id=key.id, data={"scopes": list(key.scopes)})
    return KeyCreated(**(await _view(ctx, key)).model_dump(), secret=secret)


@operation("api_keys.change", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE, route=KEYS.patch("/api-keys/{key_id:id}"))
async def change_key(ctx: Context, ask: KeyChange) -> KeyView:
    """Change a key; a field that is left out stays, `null` takes a cap or an expiry away."""
    own = await _enter(ctx)
    key = await _live(ctx, ask.key_id)
    change, given = ask.change, ask.change.model_fields_set
    for name in given & {"name", "scopes"}:
        if getattr(change, name) is None:
            raise InvalidRequest(f"{name} cannot be null.", field=name)
    before = power_of(key)
    after = Power(
        scopes=before.scopes if change.scopes is None else change.scopes,
        daily_cap_credits=change.daily_cap_credits if "daily_cap_credits" in given else before.daily_cap_credits,
        customer_id=before.customer_id,
    )
    _check_width(before, own)
    _check_width(after, own)
    if key.kind == GRANT:
        _check_consent(change, before)
    if "expires_at" in given:
        _check_expiry(ctx, change.expires_at)
        key.expires_at = change.expires_at
    if key.kind != GRANT and before.administers and not after.administers:
        await _check_last(ctx, key)
    key.name = change.name or key.name
    key.scopes, key.daily_cap_credits = sorted(after.scopes), after.daily_cap_credits
    await ctx.note("api_key.changed", subject_id=key.id, data={"fields": sorted(given)})
    return await _view(ctx, key)


@operation(
    "api_keys.rotate", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE, route=KEYS.post("/api-keys/{key_id:id}/rotate")
)
async def rotate_key(ctx: Context, ask: KeyRotation) -> KeyCreated:
    """Give a key a new secret, shown this once. The previous one works until the overlap is over."""
    own = await _enter(ctx)
    key = await _live(ctx, ask.key_id)
    _check_width(power_of(key), own)
    if key.kind == GRANT:
        raise Conflict("A grant has no secret of its own: its client renews its own tokens.")
    overlap = timedelta(seconds=ask.rotation.overlap_seconds)
    secret = _new_secret()
    key.previous_hash = key.secret_hash if overlap else None
    key.previous_expires_at = ctx.now + overlap if overlap else None
    key.secret_hash, key.last4 = _hash(secret), secret[-LAST_DIGITS:]
    await ctx.note("api_key.rotated", subject_id=key.id, data={"overlap_seconds": ask.rotation.overlap_seconds})
    return KeyCreated(**(await _view(ctx, key)).model_dump(), secret=secret)


@operation(
    "api_keys.revoke", scope=Scope.ACCOUNT_WRITE, effect=Effect.WRITE, route=KEYS.delete("/api-keys/{key_id:id}")
)
async def revoke_key(ctx: Context, key_id: str) -> None:
    """Revoke a key. It is refused from the next request on."""
    own = await _enter(ctx)
    key = await _find(ctx, key_id)
    _check_width(power_of(key), own)
    if key.revoked_at is not None:
        return
    administers = key.kind != GRANT and power_of(key).administers
    if administers and is_live(revoked_at=None, expires_at=key.expires_at, now=ctx.now):
        await _check_last(ctx, key)
    key.revoked_at = ctx.now
    key.previous_hash = key.previous_expires_at = None
    await ctx.note("api_key.revoked", subject_id=key.id)


async def new_key(
    ctx: Context, account: Tenant, *, name: str, power: Power, expires_at: datetime | None
) -> tuple[ApiKey, str]:
    """Make a key that pins the version of this request; returns it with its secret."""
    secret = _new_secret()
    new = NewKey(
        workspace_id=account.workspace_id,
        name=name,
        power=power,
        version=ctx.version,
        secret_hash=_hash(secret),
        last4=secret[-LAST_DIGITS:],
        expires_at=expires_at,
    )
    return await add_key(ctx.session, new, now=ctx.now), secret


async def _enter(ctx: Context) -> Power:
    """Lock the account's keys and read the caller's own again: it may have been narrowed since it was admitted."""
    await workspaces.lock_workspace(ctx.session, ctx.tenant.workspace_id)
    now = await ctx.read_clock()
    own = await find_key(ctx.session, ctx.tenant.workspace_id, ctx.caller.api_key_id)
    if own is None or not is_live(revoked_at=own.revoked_at, expires_at=own.expires_at, now=now):
        raise Unauthorized("The API key was revoked or has expired.")
    power = power_of(own)
    if not power.administers:
        raise Forbidden("The API key may no longer change keys.")
    return power


def _check_width(power: Power, own: Power) -> None:
    if not power.no_wider_than(own):
        raise Forbidden("A key can only make, change, rotate and revoke keys that are no wider than itself.")


async def _check_customer(ctx: Context, customer_id: str | None) -> None:
    if customer_id is None:
        return
    if await workspaces.find_customer(ctx.session, ctx.tenant.workspace_id, customer_id) is None:
        raise InvalidRequest("There is no such customer in this workspace.", field="customer_id")


def _check_expiry(ctx: Context, expires_at: datetime | None) -> None:
    if expires_at is not None and expires_at <= ctx.now:
        raise InvalidRequest("expires_at lies in the past.", field="expires_at")


async def _check_last(ctx: Context, key: ApiKey) -> None:
    if not await other_administrators(ctx.session, key.workspace_id, key.id, ctx.now):
        raise Conflict(f"This is the last key with {Scope.ACCOUNT_WRITE}.")


async def _find(ctx: Context, key_id: str) -> ApiKey:
    key = await find_key(ctx.session, ctx.tenant.workspace_id, key_id)
    if key is None:
        raise NotFound("There is no such key in this workspace.")
    return key


async def _live(ctx: Context, key_id: str) -> ApiKey:
    key = await _find(ctx, key_id)
    if key.revoked_at is not None:
        raise Conflict("This key is revoked.")
    return key


def _check_consent(change: ChangeKey, before: Power) -> None:
    """Refuse more scopes than the person consented to, and another expiry."""
    if change.scopes is not None and not change.scopes <= before.scopes:
        raise InvalidRequest("A grant cannot get more scopes: its client has to ask for them.", field="scopes")
    if "expires_at" in change.model_fields_set:
        raise InvalidRequest("A grant expires when it is not refreshed. Revoke it to end it.", field="expires_at")


async def _view(ctx: Context, key: ApiKey) -> KeyView:
    return (await _views(ctx, [key]))[key.id]


async def _views(ctx: Context, keys: Sequence[ApiKey]) -> dict[str, KeyView]:
    ids = [key.id for key in keys]
    spent = await spent_on_day(ctx.session, ids, ctx.now.date())
    granted = await oauth.grants_of_keys(ctx.session, [key.id for key in keys if key.kind == GRANT])
    return {key.id: _shown(key, spent.get(key.id, 0), granted.get(key.id)) for key in keys}


def _shown(key: ApiKey, spent_today: int, granted: oauth.Granted | None) -> KeyView:
    client = None if granted is None else GrantedTo.model_validate(granted, from_attributes=True)
    own = key.model_dump(include=set(KeyView.model_fields))
    return KeyView.model_validate(own | {"type": key.kind, "client": client, "spent_today_credits": spent_today})


def _new_secret() -> str:
    return key_secret(secrets.token_bytes(SECRET_BYTES))


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()
