"""Profiles asked for by id or URL: who is meant, what is known already, and the result charged in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.clock import service_time
from models.rules import pricing
from models.rules.grants import Charge
from models.rules.people import Profile
from models.rules.raw_calls import FetchAsk, FetchedRow, FetchResult, RowStatus, WantedPerson
from models.secrets import Vault
from models.stores import marks, people, profiles
from models.stores.upstream_calls.paying import pay
from models.stores.upstream_calls.rows import Begun, done, running
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Standing:
    """What is known of one input. `status` is null for somebody to be fetched live.

    `key` names the person within the request: our id, or the URL of somebody never met.
    """

    wanted: WantedPerson
    key: str
    person: str | None
    status: RowStatus | None = None
    profile: Profile | None = None


async def look(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> list[Standing]:
    """How each input stands now, in input order; of equal people the first counts."""
    hashes = {one.url: people.url_hash(vault, one.url) for one in ask.wanted if one.url is not None}
    owners = await people.owners(session, hashes.values())
    blocked = await people.suppressed_keys(session, tenant, hashes.values())
    met = {one: _met(one, hashes, owners) for one in ask.wanted}
    known = await people.known(session, tenant, {who for who in met.values() if who is not None}, run_id="")
    cached = await _fresh(session, {each.profile_id for each in known.values()}, max_age_days=ask.max_age_days)
    standings: list[Standing] = []
    keys: set[str] = set()
    for one in ask.wanted:
        who = met[one]
        standing = known.get(who) if who is not None else None
        person = standing.profile_id if standing is not None else None
        key = person or one.url or one.input
        status: RowStatus | None = None
        if (standing is not None and standing.suppressed) or (one.url is not None and hashes[one.url] in blocked):
            status = RowStatus.SUPPRESSED
        elif key in keys:
            status = RowStatus.DUPLICATE
        elif person is None and one.url is None:
            status = RowStatus.NOT_FOUND
        elif person in cached:
            status = RowStatus.CACHED
        keys.add(key)
        profile = cached[person] if person is not None and status is RowStatus.CACHED else None
        standings.append(Standing(one, key, person, status, profile))
    return standings


def _met(one: WantedPerson, hashes: Mapping[str, bytes], owners: Mapping[bytes, str]) -> str | None:
    return one.profile_id if one.url is None else owners.get(hashes[one.url])


async def _fresh(session: AsyncSession, profile_ids: Collection[str], *, max_age_days: int) -> dict[str, Profile]:
    oldest = await service_time(session) - timedelta(days=max_age_days)
    cached = await people.cached(session, profile_ids)
    return {one: copy for one, copy in cached.items() if copy.fetched_at is not None and copy.fetched_at > oldest}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What the source gave, by our ids; `again` are the keys of people it refused for now."""

    profiles: Mapping[str, Profile]
    again: Collection[str]


@dataclass(frozen=True, slots=True)
class Settled:
    """The rows of a request, and the charges for the live ones."""

    rows: tuple[FetchedRow, ...]
    charges: list[Charge]


async def settled(
    session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk, *, fetched: Fetched, subject_id: str
) -> Settled:
    """What becomes of each input of a caller who holds the people.

    New copies of profiles are cached; the tenant may read every copy that it is given from now on.
    """
    now = await service_time(session)
    rows: list[FetchedRow] = []
    charges: list[Charge] = []
    for standing in await look(session, vault, tenant, ask):
        status, profile, price = standing.status, standing.profile, 0
        person = standing.person
        if status is None and person is not None and person in fetched.profiles:
            profile = fetched.profiles[person].model_copy(update={"id": person, "fetched_at": now})
            status, price = RowStatus.FOUND, pricing.LIVE_PROFILE
            await people.store(session, {person: profile})
            charges.append(Charge(f"live:{subject_id}:{person}", "live_profile", subject_id, price))
        elif status is None:
            status = RowStatus.ERROR if standing.key in fetched.again else RowStatus.NOT_FOUND
        rows.append(
            FetchedRow(
                input=standing.wanted.input, status=status, profile_id=person, profile=profile, charged_credits=price
            )
        )
    await profiles.give(session, tenant, [row.profile_id for row in rows if row.profile is not None and row.profile_id])
    return Settled(tuple(rows), charges)


async def from_cache(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> FetchResult | None:
    """The result, when nobody is to be fetched live. Takes the locks of the people and looks again under them."""
    standings = await look(session, vault, tenant, ask)
    if any(standing.status is None for standing in standings):
        return None
    await people.hold(session, persons(standings))
    nothing = Fetched({}, ())
    made = await settled(session, vault, tenant, ask, fetched=nothing, subject_id="")
    return FetchResult(rows=made.rows)


def named(vault: Vault, ask: FetchAsk) -> set[str]:
    """Marks of everybody whom the request itself names."""
    return {one.profile_id or marks.of_key(people.url_hash(vault, one.url or "")) for one in ask.wanted}


def persons(standings: Sequence[Standing]) -> set[str]:
    """Everybody of the inputs whom we know."""
    return {standing.person for standing in standings if standing.person is not None}


async def settle(
    session: AsyncSession, vault: Vault, call: Begun, *, ask: FetchAsk, people_ids: Collection[str], fetched: Fetched
) -> None:
    """Charge and keep the result; `people_ids` is everybody concerned. Raises what `pay` raises."""
    await people.hold(session, people_ids)
    row = await running(session, call.id)
    if row is None:
        return
    made = await settled(session, vault, call.tenant, ask, fetched=fetched, subject_id=call.id)
    await pay(session, call.payer, made.charges)
    done(vault, row, FetchResult(rows=made.rows), about=(each.profile_id for each in made.rows if each.profile_id))
