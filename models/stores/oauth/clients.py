"""OAuth clients: registered ones, and those whose metadata document a worker reads."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.ids import new_id
from models.rules.oauth.clients import ClientMetadata
from models.rules.oauth.lives import DOCUMENT_LIFE, DOCUMENT_RETRY, REGISTRATIONS_A_DAY, UNUSED_REGISTRATIONS
from models.rules.subjects import Subject
from models.tables import OauthClient

PREFIX = "client"
WALL = text("select date_trunc('milliseconds', clock_timestamp())")
# Counted one after the other, so that many at once are not more than the limit.
LOCK = text("select pg_advisory_xact_lock(hashtextextended('oauth:registrations', 0))")
OF_NETWORK = text(
    "select count(*) from oauth_clients"
    " where network = :network and created_at > (select clock_timestamp()) - interval '1 day'"
)
UNUSED = text("select count(*) from oauth_clients where used_at is null")


async def wall_time(session: AsyncSession) -> datetime:
    """The present moment of browsers and clients, UTC, in milliseconds: virtual time does not move it."""
    now: datetime = (await session.execute(WALL)).scalar_one()
    return now


async def has_room(session: AsyncSession, network: bytes) -> bool:
    """Whether one more client may be registered from this network (a keyed hash), others waiting for the answer."""
    await session.execute(LOCK)
    of_network = await session.scalar(OF_NETWORK, {"network": network}) or 0
    return of_network < REGISTRATIONS_A_DAY and (await session.scalar(UNUSED) or 0) < UNUSED_REGISTRATIONS


async def register(
    session: AsyncSession, metadata: ClientMetadata, *, secret_hash: bytes | None, network: bytes
) -> OauthClient:
    """Add a client."""
    now = await wall_time(session)
    client = OauthClient(id=new_id(PREFIX, now), network=network, secret_hash=secret_hash, created_at=now)
    _tell(client, metadata)
    session.add(client)
    await session.flush()
    return client


def _tell(client: OauthClient, metadata: ClientMetadata) -> None:
    client.name, client.redirect_uris = metadata.name, list(metadata.redirect_uris)
    client.auth_method, client.grant_types = metadata.auth_method, list(metadata.grant_types)
    client.scope = metadata.scope


async def find(session: AsyncSession, client_id: str) -> OauthClient | None:
    """The client that calls itself so: by its id, or by the address of its document."""
    query = select(OauthClient).where(col(OauthClient.url) == client_id)
    if client_id.startswith(f"{PREFIX}_"):
        query = select(OauthClient).where(col(OauthClient.id) == client_id, col(OauthClient.url).is_(None))
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()


async def of_document(session: AsyncSession, url: str, *, network: bytes) -> OauthClient | None:
    """The client whose metadata document is there, locked; added when nobody has asked for it before.

    Null when it is not known, and there is no room for more of this network.
    """
    query = select(OauthClient).where(col(OauthClient.url) == url).with_for_update()
    if (known := (await session.scalars(query)).one_or_none()) is not None:
        return known
    if not await has_room(session, network):
        return None
    now = await wall_time(session)
    fresh = {"id": new_id(PREFIX, now), "url": url, "created_at": now, "rings": 0, "answered": 0, "network": network}
    told = {"name": "", "redirect_uris": [], "auth_method": "none", "grant_types": []}
    await session.execute(insert(OauthClient).values(fresh | told).on_conflict_do_nothing())
    return (await session.scalars(query)).one()


def subject(client: OauthClient) -> Subject:
    """The client as a row that a worker is rung for."""
    return Subject("client", client.id)


def is_fresh(client: OauthClient, now: datetime) -> bool:
    """Whether what is kept of a document may be used without reading it again."""
    return client.fetched_at is not None and client.fetched_at > now - DOCUMENT_LIFE


def has_just_failed(client: OauthClient, now: datetime) -> bool:
    """Whether reading the document failed so lately that nobody tries again yet."""
    return client.failed_at is not None and client.failed_at > now - DOCUMENT_RETRY


@dataclass(frozen=True, slots=True)
class Wanted:
    """A document to read; `url` is null when nobody waits for it any more."""

    url: str | None


async def next_document(session: AsyncSession, row_id: str) -> Wanted:
    """Say whether the document of a client is to be read, and answer the rings up to now."""
    client = await _locked(session, row_id)
    now = await wall_time(session)
    if client is None:
        return Wanted(None)
    client.answered = client.rings
    done = client.url is None or is_fresh(client, now) or has_just_failed(client, now)
    return Wanted(None if done else client.url)


async def note_document(session: AsyncSession, row_id: str, read: ClientMetadata | str) -> None:
    """Write what a document said, or why it could not be taken."""
    client = await _locked(session, row_id)
    if client is None:
        return
    now = await wall_time(session)
    if isinstance(read, str):
        client.failed_at, client.failure = now, read
        return
    _tell(client, read)
    client.fetched_at, client.failed_at, client.failure = now, None, None


async def _locked(session: AsyncSession, row_id: str) -> OauthClient | None:
    query = select(OauthClient).where(col(OauthClient.id) == row_id).with_for_update()
    return (await session.scalars(query.execution_options(populate_existing=True))).one_or_none()
