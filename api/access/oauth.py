"""Refusals in the words of OAuth (RFC 6749, sections 4.1.2.1 and 5.2; RFC 7591; RFC 8707)."""

import asyncio
import hmac
import secrets
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from api.access.oauth_schemas import (
    ClientView,
    Credentials,
    ExchangeCode,
    Refresh,
    Register,
    Registered,
    RevokeToken,
    Tokens,
)
from api.kernel.operation import Context, Effect, operation
from models.access.rules.keys import ALL_SCOPES, Scope, is_live
from models.access.rules.oauth import (
    ACCESS_LIFE,
    FIRST_SCOPES,
    NONE,
    RefusedClient,
    TokenKind,
    is_document_address,
    read_registration,
    resource_of,
    scopes_of,
    scopes_text,
    verifies_challenge,
)
from models.access.store import oauth, workspaces
from models.access.store.oauth import hash_secret, wall_time
from models.access.tables import ApiKey, OauthClient
from models.base.database import Database
from models.base.errors import NotFound, RateLimited, UpstreamError


class OAuthRefused(Exception):
    """An OAuth error. `status` is that of JSON answers; on the way back to a client it is a redirect."""

    def __init__(self, code: str, description: str, *, status: int = 400) -> None:
        super().__init__(code)
        self.code = code
        self.description = description
        self.status = status


def invalid_client() -> OAuthRefused:
    """The client is not known, or does not prove who it is."""
    return OAuthRefused("invalid_client", "The client is unknown, or its secret is wrong.", status=401)


def invalid_grant() -> OAuthRefused:
    """One answer for codes and tokens that are unknown, used, expired, or another client's."""
    return OAuthRefused("invalid_grant", "This is unknown, was used, has expired, or is another client's.")


# Clients.


NETWORK_PURPOSE = "oauth-network"
SECRET_BYTES = 32
READ_SECONDS = 15.0
"""For a worker to read a client's document; the person waits."""
LOOK_SECONDS = 0.1
TOO_MANY_SECONDS = int(timedelta(hours=1).total_seconds())
UNKNOWN = "This application is not known here. Remove the connection in the application and add it again."


@operation("oauth.register", scope=None, effect=Effect.WRITE)
async def register_oauth_client(ctx: Context, ask: Register) -> Registered:
    """Register a client (RFC 7591)."""
    try:
        metadata = read_registration(ask.metadata)
    except RefusedClient as error:
        raise OAuthRefused(error.code, str(error)) from None
    network = _network(ctx)
    if not await oauth.has_room_for_client(ctx.session, network):
        raise RateLimited(TOO_MANY_SECONDS)
    secret = None if metadata.auth_method == NONE else secrets.token_urlsafe(SECRET_BYTES)
    hashed = None if secret is None else hash_secret(secret)
    made = await oauth.register_client(ctx.session, metadata, secret_hash=hashed, network=network)
    return Registered(
        client_id=made.id,
        client_id_issued_at=int(made.created_at.timestamp()),
        client_name=made.name,
        redirect_uris=made.redirect_uris,
        grant_types=made.grant_types,
        response_types=["code"],
        token_endpoint_auth_method=made.auth_method,
        scope=_usual(made),
        client_secret=secret,
        client_secret_expires_at=None if secret is None else 0,
    )


@operation("oauth.client", scope=None, effect=Effect.WRITE)
async def find_client(ctx: Context, client_id: str) -> ClientView:
    """Find a client; one that has a metadata document is read by a worker when it was not lately."""
    if not is_document_address(client_id, loopback=ctx.settings.webhook_loopback):
        return _view(await oauth.load_client(ctx.session, client_id))
    client = await oauth.client_of_document(ctx.session, client_id, network=_network(ctx))
    if client is None:
        raise RateLimited(TOO_MANY_SECONDS)
    now = await oauth.wall_time(ctx.session)
    if oauth.has_just_failed(client, now):
        raise _unreadable(client)
    if not oauth.is_fresh(client, now):
        await ctx.wake(oauth.client_subject(client))
        ctx.afterwards = lambda database: _once_read(database, client_id)
    return ClientView(client_id=client_id, name=client.name, redirect_uris=client.redirect_uris, scope=client.scope)


async def authenticated(session: AsyncSession, credentials: Credentials) -> OauthClient:
    """The client that these credentials are of. Raises `Refused`."""
    client = await oauth.load_client(session, credentials.client_id)
    if client is None or (client.url is not None and client.fetched_at is None):
        raise invalid_client()
    given = None if credentials.secret is None else hash_secret(credentials.secret)
    if client.secret_hash is None:
        if given is not None:
            raise invalid_client()
    elif given is None or not hmac.compare_digest(given, client.secret_hash):
        raise invalid_client()
    return client


async def _once_read(database: Database, client_id: str) -> ClientView:
    deadline = asyncio.get_running_loop().time() + READ_SECONDS
    while True:
        async with database.reading() as session:
            client = await oauth.load_client(session, client_id)
            now = await oauth.wall_time(session)
        if client is not None and oauth.is_fresh(client, now):
            return _view(client)
        if client is not None and oauth.has_just_failed(client, now):
            raise _unreadable(client)
        if asyncio.get_running_loop().time() >= deadline:
            raise UpstreamError("The application's description could not be read in time. Try again.")
        await asyncio.sleep(LOOK_SECONDS)


def _view(client: OauthClient | None) -> ClientView:
    if client is None:
        raise NotFound(UNKNOWN)
    return ClientView(
        client_id=client.client_id, name=client.name, redirect_uris=client.redirect_uris, scope=client.scope
    )


def _unreadable(client: OauthClient) -> UpstreamError:
    return UpstreamError(f"The application's description cannot be used. {client.failure}")


def _usual(client: OauthClient) -> str:
    """The scopes that a client gets to ask for when it names none."""
    asked = frozenset(Scope(word) for word in (client.scope or "").split() if word in ALL_SCOPES)
    return scopes_text(asked or frozenset(FIRST_SCOPES))


def _network(ctx: Context) -> bytes:
    return ctx.vault.keyed_hash(NETWORK_PURPOSE, ctx.network)


# Tokens (OAuth 2.1, sections 4.1, 4.3).


EXPIRES_IN = int(ACCESS_LIFE / timedelta(seconds=1))
REPLAYED = Tokens(error="invalid_grant")
"""What a second use is told; what the first one gave has been ended, and that stays written."""
CODE_USED, TOKEN_USED, REVOKED = "oauth.code_used_twice", "oauth.token_used_twice", "oauth.revoked_by_client"


@operation("oauth.exchange", scope=None, effect=Effect.WRITE)
async def exchange(ctx: Context, ask: ExchangeCode) -> Tokens:
    """Exchange a code for the first tokens of a grant. A code that comes again ends the grant."""
    client = await authenticated(ctx.session, ask.client)
    sign_in = await oauth.locked_by_code(ctx.session, oauth.hash_secret(ask.code))
    if sign_in is None or sign_in.client_id != client.id:
        raise invalid_grant()
    if sign_in.grant_id is not None:
        await oauth.revoke_grant(ctx.session, sign_in.grant_id, action=CODE_USED)
        return REPLAYED
    now = await wall_time(ctx.session)
    if sign_in.code_expires_at is None or sign_in.code_expires_at <= now:
        raise invalid_grant()
    if not verifies_challenge(ask.code_verifier, sign_in.code_challenge):
        raise invalid_grant()
    if ask.redirect_uri is not None and ask.redirect_uri != sign_in.redirect_uri:
        raise invalid_grant()
    _check_resource(ctx, ask.resource, sign_in.resource)
    await _check_standing(ctx, sign_in.workspace_id)
    key, pair = await oauth.create_grant(ctx.session, sign_in, client)
    sign_in.grant_id = key.id
    return _tokens(key, pair)


@operation("oauth.refresh", scope=None, effect=Effect.WRITE)
async def refresh(ctx: Context, ask: Refresh) -> Tokens:
    """Exchange a refresh token for fresh tokens. One that comes again ends its grant: one of the two has stolen it."""
    client = await authenticated(ctx.session, ask.client)
    held = await oauth.lock_token(ctx.session, ask.refresh_token)
    if held is None or held.token.kind != TokenKind.REFRESH or held.grant.client_id != client.id:
        raise invalid_grant()
    if held.token.used_at is not None:
        await oauth.revoke_grant(ctx.session, held.key.id, action=TOKEN_USED)
        return REPLAYED
    now = await ctx.read_clock()
    if not is_live(revoked_at=held.key.revoked_at, expires_at=held.key.expires_at, now=now):
        raise invalid_grant()
    await _check_standing(ctx, held.key.workspace_id)
    _check_resource(ctx, ask.resource, held.grant.resource)
    wanted = scopes_of(ask.scope) if ask.scope else frozenset()
    if wanted is None or not wanted <= set(held.key.scopes):
        raise OAuthRefused("invalid_scope", "A refresh token gives no more than was granted.")
    return _tokens(held.key, await oauth.rotate_tokens(ctx.session, held))


@operation("oauth.revoke", scope=None, effect=Effect.WRITE)
async def revoke_token(ctx: Context, ask: RevokeToken) -> None:
    """End a token (RFC 7009): a refresh token with its whole grant, an access token alone. Unknown ones are ended."""
    client = await authenticated(ctx.session, ask.client)
    held = await oauth.lock_token(ctx.session, ask.token)
    if held is None:
        return
    if held.grant.client_id != client.id:
        raise OAuthRefused("invalid_request", "This token was given to another client.")
    if held.token.kind == TokenKind.REFRESH:
        await oauth.revoke_grant(ctx.session, held.key.id, action=REVOKED)
    else:
        await oauth.end_access_token(ctx.session, held.token)


def _check_resource(ctx: Context, asked: str | None, granted: str) -> None:
    """A token is for the audience that was consented to. Raises `Refused`."""
    if asked is not None and resource_of(ctx.settings.public_url, asked) != granted:
        raise OAuthRefused("invalid_target", "This resource is not the one that was consented to.")


async def _check_standing(ctx: Context, workspace_id: str | None) -> None:
    """Whether the workspace may still be reached. Raises `Refused`."""
    if workspace_id is None:
        raise AssertionError("a sign-in that gave a code has a workspace")
    if (await workspaces.find_workspace(ctx.session, workspace_id)).suspended_at is not None:
        raise invalid_grant()


def _tokens(key: ApiKey, pair: oauth.Pair) -> Tokens:
    return Tokens(
        access_token=pair.access,
        expires_in=EXPIRES_IN,
        scope=scopes_text([Scope(scope) for scope in key.scopes]),
        refresh_token=pair.refresh,
    )
