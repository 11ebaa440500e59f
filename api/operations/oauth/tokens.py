"""Tokens: codes and refresh tokens exchanged once, and what a second use of one ends (OAuth 2.1, sections 4.1, 4.3)."""

from datetime import timedelta

from api.operations.kernel import Context, Effect, operation
from api.operations.oauth.clients import authenticated
from api.operations.oauth.errors import Refused, invalid_grant
from api.schemas.oauth import ExchangeCode, Refresh, RevokeToken, Tokens
from models.rules.access import Scope, is_live
from models.rules.oauth import proofs
from models.rules.oauth.lives import ACCESS_LIFE
from models.stores import workspaces
from models.stores.oauth import grants, sign_ins
from models.stores.oauth.clients import wall_time
from models.tables import ApiKey

EXPIRES_IN = int(ACCESS_LIFE / timedelta(seconds=1))
REPLAYED = Tokens(error="invalid_grant")
"""What a second use is told; what the first one gave has been ended, and that stays written."""
CODE_USED, TOKEN_USED, REVOKED = "oauth.code_used_twice", "oauth.token_used_twice", "oauth.revoked_by_client"


@operation("oauth.exchange", scope=None, effect=Effect.WRITE)
async def exchange(ctx: Context, ask: ExchangeCode) -> Tokens:
    """Exchange a code for the first tokens of a grant. A code that comes again ends the grant."""
    client = await authenticated(ctx.session, ask.client)
    sign_in = await sign_ins.locked_by_code(ctx.session, grants.hash_of(ask.code))
    if sign_in is None or sign_in.client_id != client.id:
        raise invalid_grant()
    if sign_in.grant_id is not None:
        await grants.revoke(ctx.session, sign_in.grant_id, action=CODE_USED)
        return REPLAYED
    now = await wall_time(ctx.session)
    if sign_in.code_expires_at is None or sign_in.code_expires_at <= now:
        raise invalid_grant()
    if not proofs.verifies(ask.code_verifier, sign_in.code_challenge):
        raise invalid_grant()
    if ask.redirect_uri is not None and ask.redirect_uri != sign_in.redirect_uri:
        raise invalid_grant()
    _check_resource(ctx, ask.resource, sign_in.resource)
    await _check_standing(ctx, sign_in.workspace_id)
    key, pair = await grants.create(ctx.session, sign_in, client)
    sign_in.grant_id = key.id
    return _tokens(key, pair)


@operation("oauth.refresh", scope=None, effect=Effect.WRITE)
async def refresh(ctx: Context, ask: Refresh) -> Tokens:
    """Exchange a refresh token for fresh tokens. One that comes again ends its grant: one of the two has stolen it."""
    client = await authenticated(ctx.session, ask.client)
    held = await grants.held(ctx.session, ask.refresh_token)
    if held is None or held.token.kind != grants.REFRESH or held.grant.client_id != client.id:
        raise invalid_grant()
    if held.token.used_at is not None:
        await grants.revoke(ctx.session, held.key.id, action=TOKEN_USED)
        return REPLAYED
    now = await ctx.read_clock()
    if not is_live(revoked_at=held.key.revoked_at, expires_at=held.key.expires_at, now=now):
        raise invalid_grant()
    await _check_standing(ctx, held.key.workspace_id)
    _check_resource(ctx, ask.resource, held.grant.resource)
    wanted = proofs.scopes_of(ask.scope) if ask.scope else frozenset()
    if wanted is None or not wanted <= set(held.key.scopes):
        raise Refused("invalid_scope", "A refresh token gives no more than was granted.")
    return _tokens(held.key, await grants.rotate(ctx.session, held))


@operation("oauth.revoke", scope=None, effect=Effect.WRITE)
async def revoke(ctx: Context, ask: RevokeToken) -> None:
    """End a token (RFC 7009): a refresh token with its whole grant, an access token alone. Unknown ones are ended."""
    client = await authenticated(ctx.session, ask.client)
    held = await grants.held(ctx.session, ask.token)
    if held is None:
        return
    if held.grant.client_id != client.id:
        raise Refused("invalid_request", "This token was given to another client.")
    if held.token.kind == grants.REFRESH:
        await grants.revoke(ctx.session, held.key.id, action=REVOKED)
    else:
        await grants.forget(ctx.session, held.token)


def _check_resource(ctx: Context, asked: str | None, granted: str) -> None:
    """A token is for the audience that was consented to. Raises `Refused`."""
    if asked is not None and proofs.resource_of(ctx.settings.public_url, asked) != granted:
        raise Refused("invalid_target", "This resource is not the one that was consented to.")


async def _check_standing(ctx: Context, workspace_id: str | None) -> None:
    """Whether the workspace may still be reached. Raises `Refused`."""
    if workspace_id is None:
        raise AssertionError("a sign-in that gave a code has a workspace")
    if (await workspaces.find(ctx.session, workspace_id)).suspended_at is not None:
        raise invalid_grant()


def _tokens(key: ApiKey, pair: grants.Pair) -> Tokens:
    return Tokens(
        access_token=pair.access,
        expires_in=EXPIRES_IN,
        scope=proofs.written([Scope(scope) for scope in key.scopes]),
        refresh_token=pair.refresh,
    )
