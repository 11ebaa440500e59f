"""Sources of an enrollment: a run, a list, ids and given candidates, together and each person once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.errors import InvalidRequest
from models.secrets import Vault
from models.stores import people, people_lists, runs
from models.tables import Candidate, ListPerson
from models.tenancy import Tenant

MOST = 500
"""People of one enrollment, all sources together."""


@dataclass(frozen=True, slots=True)
class Given:
    """Somebody whom the caller names: by id or by canonical profile URL, and what the caller says of them."""

    profile_id: str | None = None
    profile_url: str | None = None
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sources:
    """Where the people come from. `limit` bounds run and list, each."""

    run_id: str | None = None
    list_id: str | None = None
    given: Sequence[Given] = ()
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Named:
    """A person to enroll. `profile_id` is the id that stands for them.

    It is null for somebody who was never met and is only previewed; `known` is false for an id that nobody has.
    """

    profile_id: str | None
    profile_url: str | None
    values: Mapping[str, str]
    known: bool = True


async def gather(session: AsyncSession, vault: Vault, tenant: Tenant, sources: Sources) -> list[Named]:
    """Everybody the sources name, each once, in the order run, list, ids, candidates. Writes and locks nothing.

    Raises `NotFound` for a run or list of somebody else, and `InvalidRequest` for more than 500 people.
    """
    given = [
        *(Given(profile_id=one) for one in await _of_run(session, tenant, sources)),
        *(Given(profile_id=one) for one in await _of_list(session, tenant, sources)),
        *sources.given,
    ]
    met = await _met(session, vault, {one.profile_url for one in given if one.profile_url is not None})
    asked = [one.profile_id or met.get(one.profile_url or "") for one in given]
    standing = await people.stands_for(session, {one for one in asked if one is not None})
    found = once(_named(one, profile_id, standing) for one, profile_id in zip(given, asked, strict=True))
    if len(found) > MOST:
        raise InvalidRequest(
            f"An enrollment takes at most {MOST} people; these are {len(found)}.", field=_last_field(sources)
        )
    return found


def _named(given: Given, profile_id: str | None, standing: Mapping[str, str]) -> Named:
    if profile_id is None:
        return Named(None, given.profile_url, given.values)
    known = profile_id in standing
    return Named(standing.get(profile_id, profile_id), given.profile_url, given.values, known=known)


def once(named: Iterable[Named]) -> list[Named]:
    """Each person at the first place they are named, with all that is said of them; the later word stands."""
    found: dict[str, Named] = {}
    for one in named:
        key = one.profile_id or one.profile_url or ""
        there = found.get(key)
        values = one.values if there is None else {**there.values, **one.values}
        url = one.profile_url or (there.profile_url if there else None)
        found[key] = Named(one.profile_id, url, values, known=one.known)
    return list(found.values())


def _last_field(sources: Sources) -> str:
    if any(one.profile_url is not None or one.values for one in sources.given):
        return "candidates"
    return "profile_ids" if sources.given else "limit"


async def _of_run(session: AsyncSession, tenant: Tenant, sources: Sources) -> Sequence[str]:
    if sources.run_id is None:
        return ()
    await runs.get(session, tenant, sources.run_id)
    query = select(col(Candidate.profile_id)).where(
        col(Candidate.run_id) == sources.run_id, col(Candidate.tenant_id) == tenant.id
    )
    return (await session.scalars(query.order_by(col(Candidate.position)).limit(sources.limit))).all()


async def _of_list(session: AsyncSession, tenant: Tenant, sources: Sources) -> Sequence[str]:
    if sources.list_id is None:
        return ()
    await people_lists.get(session, tenant, sources.list_id)
    query = select(col(ListPerson.profile_id)).where(col(ListPerson.list_id) == sources.list_id)
    order = (col(ListPerson.created_at).desc(), col(ListPerson.profile_id).desc())
    return (await session.scalars(query.order_by(*order).limit(sources.limit))).all()


MET = text("select hash, profile_id from person_keys where hash = any(cast(:hashes as bytea[]))")


async def _met(session: AsyncSession, vault: Vault, profile_urls: Iterable[str]) -> dict[str, str]:
    """Our ids of people by canonical URL, of those who were met before."""
    hashes = {people.url_hash(vault, url): url for url in profile_urls}
    rows = await session.execute(MET, {"hashes": list(hashes)})
    return {hashes[key_hash]: profile_id for key_hash, profile_id in rows}


async def held(session: AsyncSession, vault: Vault, tenant: Tenant, named: Sequence[Named]) -> list[Named]:
    """The same people, locked as they stand now; who was never met gets an id."""
    new = {one.profile_url for one in named if one.profile_id is None and one.profile_url is not None}
    made = await people.named(session, vault, new, workspace_id=tenant.workspace_id) if new else {}
    asked = [one.profile_id or made[one.profile_url or ""] for one in named]
    standing = await people.hold(session, asked)
    return once(
        Named(standing.get(profile_id, profile_id), one.profile_url, one.values, known=profile_id in standing)
        for one, profile_id in zip(named, asked, strict=True)
    )
