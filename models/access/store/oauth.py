"""OAuth: clients, sign-ins under way, grants (keys of kind `oauth`) and their tokens (contract, section 8)."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import delete, func, literal, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.access.rules.keys import CURRENT_VERSION, SECRET_BYTES, KeyKind, key_secret
from models.access.rules.oauth import (
    ACCESS_LIFE,
    ACCESS_PREFIX,
    DOCUMENT_LIFE,
    DOCUMENT_RETRY,
    GRANT_LIFE,
    MAILS_AN_HOUR,
    REFRESH_GRANT,
    REFRESH_PREFIX,
    REGISTRATIONS_A_DAY,
    UNUSED_REGISTRATIONS,
    ClientMetadata,
    TokenKind,
    host_of,
)
from models.access.tables import ApiKey, AuditEntry, OauthClient, OauthGrant, OauthSignIn, OauthToken, Workspace
from models.base.database import service_time
from models.base.ids import new_id
from models.base.steps import Subject

PREFIX = "client"
WALL = text("select date_trunc('milliseconds', clock_timestamp())")
# Registrations are counted one after the other, so that concurrent ones cannot pass the limit.
LOCK = text("select pg_advisory_xact_lock(hashtextextended('oauth:registrations', 0))")
OF_NETWORK = text(
    "select count(*) from oauth_clients"
    " where network = :network and created_at > (select clock_timestamp()) - interval '1 day'"
)
UNUSED = text("select count(*) from oauth_clients where used_at is null")


async def wall_time(session: AsyncSession) -> datetime:
    """Return the present moment of browsers and clients, UTC, in milliseconds: virtual time does not move it."""
    now: datetime = (await session.execute(WALL)).scalar_one()
    return now


async def has_room_for_client(session: AsyncSession, network: bytes) -> bool:
    """Return whether this network (a keyed hash) may register one more client; other registrations wait meanwhile."""
    await session.execute(LOCK)
    of_network = await session.scalar(OF_NETWORK, {"network": network}) or 0
    return of_network < REGISTRATIONS_A_DAY and (await session.scalar(UNUSED) or 0) < UNUSED_REGISTRATIONS


async def register_client(
    session: AsyncSession, metadata: ClientMetadata, *, secret_hash: bytes | None, network: bytes
) -> OauthClient:
    """Add a client."""
    now = await wall_time(session)
    client = OauthClient(id=new_id(PREFIX, now), network=network, secret_hash=secret_hash, created_at=now)
    _take_over(client, metadata)
    session.add(client)
    await session.flush()
    return client


def _take_over(client: OauthClient, metadata: ClientMetadata) -> None:
    client.name, client.redirect_uris = metadata.name, list(metadata.redirect_uris)
    client.auth_method, client.grant_types = metadata.auth_method, list(metadata.grant_types)
    client.scope = metadata.scope


async def load_client(session: AsyncSession, client_id: str) -> OauthClient | None:
    """Return the client with this id or metadata document address, null when there is none."""
    query = select(OauthClient).where(col(OauthClient.url) == client_id)
    if client_id.startswith(f"{PREFIX}_"):
        query = select(OauthClient).where(col(OauthClient.id) == client_id, col(OauthClient.url).is_(None))
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def client_of_document(session: AsyncSession, url: str, *, network: bytes) -> OauthClient | None:
    """Lock the client with this metadata document and return it; add it when it is new.

    Null when it is unknown and this network may register no more.
    """
    query = select(OauthClient).where(col(OauthClient.url) == url).with_for_update()
    if (known := (await session.scalars(query)).one_or_none()) is not None:
        return known
    if not await has_room_for_client(session, network):
        return None
    now = await wall_time(session)
    fresh = {"id": new_id(PREFIX, now), "url": url, "created_at": now, "rings": 0, "answered": 0, "network": network}
    unread = {"name": "", "redirect_uris": [], "auth_method": "none", "grant_types": []}
    await session.execute(insert(OauthClient).values(fresh | unread).on_conflict_do_nothing())
    return (await session.scalars(query)).one()


def client_subject(client: OauthClient) -> Subject:
    """Return the waiting row of a client."""
    return Subject("client", client.id)


def is_fresh(client: OauthClient, now: datetime) -> bool:
    """Return whether the kept metadata may be used without reading the document again."""
    return client.fetched_at is not None and client.fetched_at > now - DOCUMENT_LIFE


def has_just_failed(client: OauthClient, now: datetime) -> bool:
    """Return whether reading the document failed less than `DOCUMENT_RETRY` ago."""
    return client.failed_at is not None and client.failed_at > now - DOCUMENT_RETRY


@dataclass(frozen=True, slots=True)
class DocumentToRead:
    """A metadata document to read; `url` is null when it need not be read."""

    url: str | None


async def next_document(session: AsyncSession, row_id: str) -> DocumentToRead:
    """Return whether the client's document is to be read, and mark every wake up to now as answered."""
    client = await _locked(session, row_id)
    now = await wall_time(session)
    if client is None:
        return DocumentToRead(None)
    client.answered = client.rings
    done = client.url is None or is_fresh(client, now) or has_just_failed(client, now)
    return DocumentToRead(None if done else client.url)


async def note_document(session: AsyncSession, row_id: str, read: ClientMetadata | str) -> None:
    """Write the metadata of a document, or why it was refused."""
    client = await _locked(session, row_id)
    if client is None:
        return
    now = await wall_time(session)
    if isinstance(read, str):
        client.failed_at, client.failure = now, read
        return
    _take_over(client, read)
    client.fetched_at, client.failed_at, client.failure = now, None, None


async def _locked(session: AsyncSession, row_id: str) -> OauthClient | None:
    query = select(OauthClient).where(col(OauthClient.id) == row_id).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


HOUR = timedelta(hours=1)


async def workspaces_of(session: AsyncSession, email_key: str, *, confirmed: bool) -> Sequence[Workspace]:
    """Return the workspaces of a mailbox that a person may sign in to, oldest first.

    `confirmed`: only those whose owner has confirmed the address; others may have been made with a stranger's address.
    """
    query = select(Workspace).where(
        col(Workspace.email_key) == email_key,
        col(Workspace.suspended_at).is_(None),
        or_(col(Workspace.verified_at).is_not(None), literal(not confirmed)),
    )
    return (await session.scalars(query.order_by(col(Workspace.created_at), col(Workspace.id)))).all()


async def may_mail_sign_in(session: AsyncSession, workspace_id: str, now: datetime) -> bool:
    """Return whether one more sign-in may be mailed to the owner of a workspace within this hour."""
    query = select(func.count()).where(
        col(OauthSignIn.workspace_id) == workspace_id, col(OauthSignIn.created_at) > now - HOUR
    )
    return (await session.scalar(query) or 0) < MAILS_AN_HOUR


async def find_sign_in(session: AsyncSession, link_hash: bytes) -> OauthSignIn | None:
    """Return the sign-in of a mailed link, whatever its state."""
    return (await session.scalars(select(OauthSignIn).where(col(OauthSignIn.link_hash) == link_hash))).one_or_none()


async def lock_sign_in(session: AsyncSession, link_hash: bytes) -> OauthSignIn | None:
    """Lock the sign-in of a mailed link and return it."""
    query = select(OauthSignIn).where(col(OauthSignIn.link_hash) == link_hash).with_for_update()
    return (await session.scalars(query)).one_or_none()


async def locked_by_code(session: AsyncSession, code_hash: bytes) -> OauthSignIn | None:
    """Lock the sign-in that gave a code and return it."""
    query = select(OauthSignIn).where(col(OauthSignIn.code_hash) == code_hash).with_for_update()
    return (await session.scalars(query)).one_or_none()


GRANT_PREFIX = "oauth"
LAST_DIGITS = 4


def hash_secret(secret: str) -> bytes:
    """Return the SHA-256 that is kept of a secret."""
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True, slots=True)
class Pair:
    """New tokens, shown once. `refresh` is null for a client that does not want one."""

    access: str
    refresh: str | None


async def create_grant(session: AsyncSession, sign_in: OauthSignIn, client: OauthClient) -> tuple[ApiKey, Pair]:
    """Add the grant of an exchanged code, with its first tokens."""
    if sign_in.workspace_id is None:
        raise AssertionError("a sign-in that gave a code has a workspace")
    now = await service_time(session)
    key = ApiKey(
        id=new_id(GRANT_PREFIX, now),
        kind=KeyKind.OAUTH,
        workspace_id=sign_in.workspace_id,
        name=client.name,
        prefix=ACCESS_PREFIX,
        last4="",
        scopes=sign_in.scopes,
        version=CURRENT_VERSION,
        created_at=now,
    )
    session.add(key)
    await session.flush()
    session.add(
        OauthGrant(
            id=key.id,
            client_id=client.id,
            client_name=client.name,
            redirect_host=host_of(sign_in.redirect_uri),
            resource=sign_in.resource,
        )
    )
    if client.used_at is None:
        client.used_at = await wall_time(session)
    await session.flush()
    pair = await issue_tokens(session, key, refreshes=REFRESH_GRANT in client.grant_types)
    await _note(session, key, "oauth.granted", now)
    return key, pair


async def issue_tokens(session: AsyncSession, key: ApiKey, *, refreshes: bool) -> Pair:
    """Give a grant new tokens; with a refresh token its lifetime starts again."""
    now, wall = await service_time(session), await wall_time(session)
    access = key_secret(secrets.token_bytes(SECRET_BYTES), prefix=ACCESS_PREFIX)
    refresh = key_secret(secrets.token_bytes(SECRET_BYTES), prefix=REFRESH_PREFIX) if refreshes else None
    key.last4, key.expires_at = access[-LAST_DIGITS:], now + (GRANT_LIFE if refreshes else ACCESS_LIFE)
    session.add(_token(access, key, TokenKind.ACCESS, made=wall, expires_at=wall + ACCESS_LIFE))
    if refresh is not None:
        session.add(_token(refresh, key, TokenKind.REFRESH, made=wall, expires_at=None))
    await session.flush()
    return Pair(access, refresh)


def _token(secret: str, key: ApiKey, kind: TokenKind, *, made: datetime, expires_at: datetime | None) -> OauthToken:
    return OauthToken(
        token_hash=hash_secret(secret), grant_id=key.id, kind=kind, created_at=made, expires_at=expires_at
    )


@dataclass(frozen=True, slots=True)
class HeldToken:
    """A locked token, whatever its state, with its grant and key."""

    token: OauthToken
    grant: OauthGrant
    key: ApiKey


async def lock_token(session: AsyncSession, secret: str) -> HeldToken | None:
    """Lock a token and return it with its grant as it is then; null for an unknown one."""
    query = select(OauthToken).where(col(OauthToken.token_hash) == hash_secret(secret)).with_for_update()
    token = (await session.scalars(query)).one_or_none()
    if token is None:
        return None
    found = select(OauthGrant, ApiKey).join(ApiKey, col(ApiKey.id) == col(OauthGrant.id))
    grant, key = (await session.execute(found.where(col(OauthGrant.id) == token.grant_id))).one()
    return HeldToken(token, grant, key)


async def rotate_tokens(session: AsyncSession, held: HeldToken) -> Pair:
    """Exchange a refresh token for new tokens."""
    held.token.used_at = await wall_time(session)
    return await issue_tokens(session, held.key, refreshes=True)


REVOKE = update(ApiKey).where(col(ApiKey.revoked_at).is_(None), col(ApiKey.kind) == KeyKind.OAUTH)


async def revoke_grant(session: AsyncSession, grant_id: str, *, action: str) -> None:
    """Revoke a grant with all its tokens. `action` names the reason in the audit trail."""
    now = await service_time(session)
    ended = REVOKE.where(col(ApiKey.id) == grant_id).values(revoked_at=now).returning(ApiKey)
    key = (await session.scalars(ended)).one_or_none()
    if key is not None:
        await _note(session, key, action, now)


async def end_access_token(session: AsyncSession, token: OauthToken) -> None:
    """Delete one access token; the grant stays."""
    await session.execute(delete(OauthToken).where(col(OauthToken.token_hash) == token.token_hash))


@dataclass(frozen=True, slots=True)
class Granted:
    """The client that a grant was given to, as it is shown."""

    client_id: str
    name: str
    redirect_host: str
    resource: str


async def grants_of_keys(session: AsyncSession, key_ids: Sequence[str]) -> dict[str, Granted]:
    """Return the client of each of these grants."""
    if not key_ids:
        return {}
    query = select(OauthGrant, OauthClient).join(OauthClient, col(OauthClient.id) == col(OauthGrant.client_id))
    rows = await session.execute(query.where(col(OauthGrant.id).in_(key_ids)))
    return {
        grant.id: Granted(client.client_id, grant.client_name, grant.redirect_host, grant.resource)
        for grant, client in rows
    }


async def _note(session: AsyncSession, key: ApiKey, action: str, now: datetime) -> None:
    """Write what became of a grant to the audit trail, as its own doing: the calls of OAuth carry no key."""
    session.add(
        AuditEntry(
            id=new_id("aud", now),
            workspace_id=key.workspace_id,
            tenant_id=key.workspace_id,
            api_key_id=key.id,
            action=action,
            subject_id=key.id,
            created_at=now,
        )
    )
    await session.flush()
