"""Profiles asked for by id or URL: who is meant, what is known already, and the result charged in one transaction."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.clock import service_time
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.billing.rules.prices import CreditCharge
from models.market import store as market_store
from models.market.companies import CompanyDetails
from models.market.store import KnownCompany
from models.people.rules.profiles import Profile
from models.people.store import people, profiles, suppressions
from models.sourcing.engine.calls import BegunCall, complete_call, pay, running
from models.sourcing.rules.raw_calls import (
    CompaniesAsk,
    CompaniesResult,
    CompanyRow,
    CompanyStatus,
    FetchAsk,
    FetchedRow,
    FetchResult,
    RowStatus,
    WantedCompany,
    WantedPerson,
)


@dataclass(frozen=True, slots=True)
class FetchInput:
    """What is known of one input. `status` is null for somebody to be fetched live.

    `key` names the person within the request: our id, or the URL of somebody never met.
    """

    wanted: WantedPerson
    key: str
    person: str | None
    status: RowStatus | None = None
    profile: Profile | None = None


async def read_fetch_inputs(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> list[FetchInput]:
    """How each input stands now, in input order; of equal people the first counts."""
    hashes = {one.url: people.url_hash(vault, one.url) for one in ask.wanted if one.url is not None}
    owners = await people.owners_of_keys(session, hashes.values())
    blocked = await people.suppressed_keys(session, tenant, hashes.values())
    met = {one: _met(one, hashes, owners) for one in ask.wanted}
    known = await people.known_people(session, tenant, {who for who in met.values() if who is not None}, run_id="")
    cached = await _fresh(session, {each.profile_id for each in known.values()}, max_age_days=ask.max_age_days)
    standings: list[FetchInput] = []
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
        standings.append(FetchInput(one, key, person, status, profile))
    return standings


def _met(one: WantedPerson, hashes: Mapping[str, bytes], owners: Mapping[bytes, str]) -> str | None:
    return one.profile_id if one.url is None else owners.get(hashes[one.url])


async def _fresh(session: AsyncSession, profile_ids: Collection[str], *, max_age_days: int) -> dict[str, Profile]:
    oldest = await service_time(session) - timedelta(days=max_age_days)
    cached = await people.cached_profiles(session, profile_ids)
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
    charges: list[CreditCharge]


async def fetch_results(
    session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk, *, fetched: Fetched, subject_id: str
) -> Settled:
    """What becomes of each input of a caller who holds the people.

    New copies of profiles are cached; the tenant may read every copy that it is given from now on.
    """
    now = await service_time(session)
    rows: list[FetchedRow] = []
    charges: list[CreditCharge] = []
    for standing in await read_fetch_inputs(session, vault, tenant, ask):
        status, profile, price = standing.status, standing.profile, 0
        person = standing.person
        if status is None and person is not None and person in fetched.profiles:
            profile = fetched.profiles[person].model_copy(update={"id": person, "fetched_at": now})
            status, price = RowStatus.FOUND, prices.LIVE_PROFILE
            await people.store_profiles(session, {person: profile})
            charges.append(CreditCharge(f"live:{subject_id}:{person}", "live_profile", subject_id, price))
        elif status is None:
            status = RowStatus.ERROR if standing.key in fetched.again else RowStatus.NOT_FOUND
        rows.append(
            FetchedRow(
                input=standing.wanted.input, status=status, profile_id=person, profile=profile, charged_credits=price
            )
        )
    await profiles.give_copies(
        session, tenant, [row.profile_id for row in rows if row.profile is not None and row.profile_id]
    )
    return Settled(tuple(rows), charges)


async def from_cache(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> FetchResult | None:
    """The result, when nobody is to be fetched live. Takes the locks of the people and looks again under them."""
    standings = await read_fetch_inputs(session, vault, tenant, ask)
    if any(standing.status is None for standing in standings):
        return None
    await people.lock_people(session, persons(standings))
    nothing = Fetched({}, ())
    made = await fetch_results(session, vault, tenant, ask, fetched=nothing, subject_id="")
    return FetchResult(rows=made.rows)


def marks_of_fetch(vault: Vault, ask: FetchAsk) -> set[str]:
    """Marks of everybody whom the request itself names."""
    return {one.profile_id or suppressions.mark_of_key(people.url_hash(vault, one.url or "")) for one in ask.wanted}


def persons(standings: Sequence[FetchInput]) -> set[str]:
    """Everybody of the inputs whom we know."""
    return {standing.person for standing in standings if standing.person is not None}


async def settle_fetch(
    session: AsyncSession,
    vault: Vault,
    call: BegunCall,
    *,
    ask: FetchAsk,
    people_ids: Collection[str],
    fetched: Fetched,
) -> None:
    """Charge and keep the result; `people_ids` is everybody concerned. Raises what `pay` raises."""
    await people.lock_people(session, people_ids)
    row = await running(session, call.id)
    if row is None:
        return
    made = await fetch_results(session, vault, call.tenant, ask, fetched=fetched, subject_id=call.id)
    await pay(session, call.payer, made.charges)
    complete_call(
        vault, row, FetchResult(rows=made.rows), about=(each.profile_id for each in made.rows if each.profile_id)
    )


# Companies asked for by id, domain or name: what is known already, and the result charged in one transaction.


@dataclass(frozen=True, slots=True)
class CompanyInput:
    """What is known of one input; `status` is null for a company to be looked up live."""

    wanted: WantedCompany
    status: CompanyStatus | None = None
    known: KnownCompany | None = None


async def read_company_inputs(session: AsyncSession, ask: CompaniesAsk) -> list[CompanyInput]:
    """How each input stands now, in input order; of equal companies the first counts."""
    by_id = await market_store.by_ids(session, {one.company_id for one in ask.wanted if one.company_id})
    by_domain = await market_store.at_domains(session, {one.domain for one in ask.wanted if one.domain})
    standings: list[CompanyInput] = []
    met: set[str] = set()
    for one in ask.wanted:
        known = by_id.get(one.company_id or "") or by_domain.get(one.domain or "")
        if one.name is not None:
            choices = await market_store.companies_named(session, one.name)
            known = choices[0] if len(choices) == 1 else None
        fresh = known if known is not None and known.fresh else None
        mark = fresh.id if fresh else one.company_id or one.domain or (one.name or "").casefold()
        status: CompanyStatus | None = None
        if mark in met:
            status = CompanyStatus.DUPLICATE
        elif fresh is not None:
            status = CompanyStatus.CACHED
        elif one.company_id is not None and known is None and not one.shipped:
            status = CompanyStatus.NOT_FOUND
        met.add(mark)
        standings.append(CompanyInput(one, status, fresh))
    return standings


@dataclass(frozen=True, slots=True)
class CompanyAnswer:
    """What the source answered to one input. `suggested` is the id that the company gets if it has none yet."""

    source_id: str
    details: CompanyDetails
    suggested: str | None


def company_results(standings: Sequence[CompanyInput]) -> CompaniesResult:
    """The result, when nothing is to be looked up live."""
    return CompaniesResult(rows=tuple(_row(each) for each in standings))


def _row(standing: CompanyInput) -> CompanyRow:
    known = standing.known if standing.status is CompanyStatus.CACHED else None
    return CompanyRow(
        input=standing.wanted.input,
        status=standing.status or CompanyStatus.NOT_FOUND,
        company_id=known.id if known else None,
        details=known.details if known else None,
    )


async def settle_companies(
    session: AsyncSession,
    vault: Vault,
    call: BegunCall,
    *,
    source: str,
    ask: CompaniesAsk,
    found: Mapping[int, CompanyAnswer],
) -> None:
    """Keep, charge and answer what was found, by the places of the inputs. Raises what `pay` raises: nothing stays."""
    await market_store.lock_companies(session)
    row = await running(session, call.id)
    if row is None:
        return
    rows: list[CompanyRow] = []
    charges: list[CreditCharge] = []
    met: set[str] = set()
    for place, standing in enumerate(await read_company_inputs(session, ask)):
        answer = found.get(place)
        if standing.status is not None or answer is None:
            rows.append(_row(standing))
            met |= {standing.known.id} if standing.known else set()
            continue
        company_id = await market_store.keep_company(
            session, source=source, source_id=answer.source_id, details=answer.details, suggested=answer.suggested
        )
        if company_id in met:
            rows.append(CompanyRow(input=standing.wanted.input, status=CompanyStatus.DUPLICATE))
            continue
        met.add(company_id)
        charges.append(CreditCharge(f"company:{call.id}:{company_id}", "live_company", call.id, prices.LIVE_COMPANY))
        rows.append(
            CompanyRow(
                input=standing.wanted.input,
                status=CompanyStatus.FOUND,
                company_id=company_id,
                details=answer.details,
                charged_credits=prices.LIVE_COMPANY,
            )
        )
    await pay(session, call.payer, charges)
    complete_call(vault, row, CompaniesResult(rows=tuple(rows)), about=())
