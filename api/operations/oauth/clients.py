"""Clients: registering, finding, and proving who one is."""

import asyncio
import hmac
import secrets
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from api.operations.kernel import Context, Effect, operation
from api.operations.oauth.errors import Refused, invalid_client
from api.schemas.oauth import ClientView, Credentials, Register, Registered
from models.database import Database
from models.errors import NotFound, RateLimited, UpstreamError
from models.rules.access import ALL_SCOPES, Scope
from models.rules.oauth import proofs
from models.rules.oauth.clients import NONE, RefusedClient, is_document_address, read
from models.stores.oauth import clients
from models.stores.oauth.grants import hash_of
from models.tables import OauthClient

NETWORK_PURPOSE = "oauth-network"
SECRET_BYTES = 32
READ_SECONDS = 15.0
"""For a worker to read a client's document; the person waits."""
LOOK_SECONDS = 0.1
TOO_MANY_SECONDS = int(timedelta(hours=1).total_seconds())
UNKNOWN = "This application is not known here. Remove the connection in the application and add it again."


@operation("oauth.register", scope=None, effect=Effect.WRITE)
async def register(ctx: Context, ask: Register) -> Registered:
    """Register a client (RFC 7591)."""
    try:
        metadata = read(ask.metadata)
    except RefusedClient as error:
        raise Refused(error.code, str(error)) from None
    network = _network(ctx)
    if not await clients.has_room(ctx.session, network):
        raise RateLimited(TOO_MANY_SECONDS)
    secret = None if metadata.auth_method == NONE else secrets.token_urlsafe(SECRET_BYTES)
    hashed = None if secret is None else hash_of(secret)
    made = await clients.register(ctx.session, metadata, secret_hash=hashed, network=network)
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
        return _view(await clients.find(ctx.session, client_id))
    client = await clients.of_document(ctx.session, client_id, network=_network(ctx))
    if client is None:
        raise RateLimited(TOO_MANY_SECONDS)
    now = await clients.wall_time(ctx.session)
    if clients.has_just_failed(client, now):
        raise _unreadable(client)
    if not clients.is_fresh(client, now):
        await ctx.ring(clients.subject(client))
        ctx.afterwards = lambda database: _once_read(database, client_id)
    return ClientView(client_id=client_id, name=client.name, redirect_uris=client.redirect_uris, scope=client.scope)


async def authenticated(session: AsyncSession, credentials: Credentials) -> OauthClient:
    """The client that these credentials are of. Raises `Refused`."""
    client = await clients.find(session, credentials.client_id)
    if client is None or (client.url is not None and client.fetched_at is None):
        raise invalid_client()
    given = None if credentials.secret is None else hash_of(credentials.secret)
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
            client = await clients.find(session, client_id)
            now = await clients.wall_time(session)
        if client is not None and clients.is_fresh(client, now):
            return _view(client)
        if client is not None and clients.has_just_failed(client, now):
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
    return proofs.written(asked or frozenset(proofs.FIRST_SCOPES))


def _network(ctx: Context) -> bytes:
    return ctx.vault.keyed_hash(NETWORK_PURPOSE, ctx.network)
