"""Grants, which are keys of kind `oauth`, and their tokens (contract, section 8)."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.ids import new_id
from models.rules.access import SECRET_BYTES, key_secret
from models.rules.oauth.lives import ACCESS_LIFE, GRANT_LIFE
from models.rules.oauth.proofs import ACCESS_PREFIX, REFRESH_PREFIX
from models.rules.oauth.redirects import host_of
from models.rules.versions import CURRENT
from models.stores import audit
from models.stores.oauth.clients import wall_time
from models.tables import ApiKey, OauthClient, OauthGrant, OauthSignIn, OauthToken
from models.tenancy import Tenant

PREFIX = "oauth"
ACCESS, REFRESH = "access", "refresh"
LAST_DIGITS = 4


def hash_of(secret: str) -> bytes:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode()).digest()


@dataclass(frozen=True, slots=True)
class Pair:
    """Fresh tokens, shown this once. `refresh` is null for a client that does not want one."""

    access: str
    refresh: str | None


async def create(session: AsyncSession, sign_in: OauthSignIn, client: OauthClient) -> tuple[ApiKey, Pair]:
    """Make the grant that a code stands for, with its first tokens."""
    if sign_in.workspace_id is None:
        raise AssertionError("a sign-in that gave a code has a workspace")
    now = await service_time(session)
    key = ApiKey(
        id=new_id(PREFIX, now),
        kind="oauth",
        workspace_id=sign_in.workspace_id,
        name=client.name,
        prefix=ACCESS_PREFIX,
        last4="",
        scopes=sign_in.scopes,
        version=CURRENT,
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
    pair = await issue(session, key, refreshes=_refreshes(client))
    await _note(session, key, "oauth.granted", now)
    return key, pair


def _refreshes(client: OauthClient) -> bool:
    return "refresh_token" in client.grant_types


async def issue(session: AsyncSession, key: ApiKey, *, refreshes: bool) -> Pair:
    """Give a grant fresh tokens; with a refresh token its life begins anew."""
    now, wall = await service_time(session), await wall_time(session)
    access = key_secret(secrets.token_bytes(SECRET_BYTES), prefix=ACCESS_PREFIX)
    refresh = key_secret(secrets.token_bytes(SECRET_BYTES), prefix=REFRESH_PREFIX) if refreshes else None
    key.last4, key.expires_at = access[-LAST_DIGITS:], now + (GRANT_LIFE if refreshes else ACCESS_LIFE)
    session.add(_token(access, key, ACCESS, made=wall, expires_at=wall + ACCESS_LIFE))
    if refresh is not None:
        session.add(_token(refresh, key, REFRESH, made=wall, expires_at=None))
    await session.flush()
    return Pair(access, refresh)


def _token(secret: str, key: ApiKey, kind: str, *, made: datetime, expires_at: datetime | None) -> OauthToken:
    return OauthToken(token_hash=hash_of(secret), grant_id=key.id, kind=kind, created_at=made, expires_at=expires_at)


@dataclass(frozen=True, slots=True)
class Held:
    """A token, whatever its state, with its grant; the token's row is closed to others."""

    token: OauthToken
    grant: OauthGrant
    key: ApiKey


async def held(session: AsyncSession, secret: str) -> Held | None:
    """Lock a token. What others write about its grant before is seen."""
    query = select(OauthToken).where(col(OauthToken.token_hash) == hash_of(secret)).with_for_update()
    token = (await session.scalars(query)).one_or_none()
    if token is None:
        return None
    found = select(OauthGrant, ApiKey).join(ApiKey, col(ApiKey.id) == col(OauthGrant.id))
    grant, key = (await session.execute(found.where(col(OauthGrant.id) == token.grant_id))).one()
    return Held(token, grant, key)


async def rotate(session: AsyncSession, held: Held) -> Pair:
    """Exchange a refresh token for fresh ones."""
    held.token.used_at = await wall_time(session)
    return await issue(session, held.key, refreshes=True)


REVOKE = update(ApiKey).where(col(ApiKey.revoked_at).is_(None), col(ApiKey.kind) == "oauth")


async def revoke(session: AsyncSession, grant_id: str, *, action: str) -> None:
    """End a grant with everything that it gave. `action` is what the audit trail calls the reason."""
    now = await service_time(session)
    ended = REVOKE.where(col(ApiKey.id) == grant_id).values(revoked_at=now).returning(ApiKey)
    key = (await session.scalars(ended)).one_or_none()
    if key is not None:
        await _note(session, key, action, now)


async def forget(session: AsyncSession, token: OauthToken) -> None:
    """End one access token alone."""
    await session.execute(delete(OauthToken).where(col(OauthToken.token_hash) == token.token_hash))


@dataclass(frozen=True, slots=True)
class Granted:
    """To whom a grant was given, as it is shown."""

    client_id: str
    name: str
    redirect_host: str
    resource: str


async def of_keys(session: AsyncSession, key_ids: Sequence[str]) -> dict[str, Granted]:
    """To whom each of these grants was given."""
    if not key_ids:
        return {}
    query = select(OauthGrant, OauthClient).join(OauthClient, col(OauthClient.id) == col(OauthGrant.client_id))
    rows = await session.execute(query.where(col(OauthGrant.id).in_(key_ids)))
    return {
        grant.id: Granted(client.client_id, grant.client_name, grant.redirect_host, grant.resource)
        for grant, client in rows
    }


async def _note(session: AsyncSession, key: ApiKey, action: str, now: datetime) -> None:
    tenant = Tenant(key.workspace_id)
    await audit.note(session, tenant, action=action, subject_id=key.id, api_key_id=key.id, now=now)
