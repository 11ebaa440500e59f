"""Profiles and companies asked for by id, URL, domain or name.

What is known already is looked up first; what the source answers is kept and charged in one transaction.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import service_time
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.billing.rules import prices
from models.billing.rules.prices import CreditCharge
from models.market import store as market_store
from models.market.companies import CompanyDetails
from models.market.store import KnownCompany
from models.people.rules.profiles import Profile
from models.people.store import people, profiles, suppressions
from models.people.store.people import KnownPerson
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
    """What is known of one input. `status` is null for a person who is to be fetched live.

    `key` names the person within the request: the profile id, or the URL of a person who is not known yet.
    """

    wanted: WantedPerson
    key: str
    person: str | None
    status: RowStatus | None = None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True)
class _Register:
    """What is known of the people of a request: hashes of their URLs, owners of the hashes, suppressions, copies."""

    hashes: Mapping[str, bytes]
    owners: Mapping[bytes, str]
    suppressed: Collection[bytes]
    known: Mapping[str, KnownPerson]
    cached: Mapping[str, Profile]

    def input_of(self, wanted: WantedPerson) -> FetchInput:
        """Return one input as if it were the only one of its request."""
        url_hash = self.hashes[wanted.url] if wanted.url is not None else None
        profile_id = wanted.profile_id if url_hash is None else self.owners.get(url_hash)
        known = self.known.get(profile_id) if profile_id is not None else None
        person = known.profile_id if known is not None else None
        key = person or wanted.url or wanted.input
        if (known is not None and known.suppressed) or url_hash in self.suppressed:
            return FetchInput(wanted, key, person, RowStatus.SUPPRESSED)
        if person is None and wanted.url is None:
            return FetchInput(wanted, key, person, RowStatus.NOT_FOUND)
        copy = self.cached.get(person) if person is not None else None
        return FetchInput(wanted, key, person, RowStatus.CACHED if copy is not None else None, copy)


async def read_fetch_inputs(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> list[FetchInput]:
    """Return how each input stands now, in input order; an input of a person named before is a duplicate."""
    hashes = {one.url: people.url_hash(vault, one.url) for one in ask.wanted if one.url is not None}
    owners = await people.owners_of_keys(session, hashes.values())
    suppressed = await people.suppressed_keys(session, tenant, hashes.values())
    profile_ids = {one.profile_id if one.url is None else owners.get(hashes[one.url]) for one in ask.wanted} - {None}
    known = await people.known_people(session, tenant, {one for one in profile_ids if one is not None}, run_id="")
    cached = await _fresh(session, {each.profile_id for each in known.values()}, max_age_days=ask.max_age_days)
    register = _Register(hashes, owners, suppressed, known, cached)
    inputs: list[FetchInput] = []
    keys: set[str] = set()
    for one in ask.wanted:
        given = register.input_of(one)
        if given.key in keys and given.status is not RowStatus.SUPPRESSED:
            given = replace(given, status=RowStatus.DUPLICATE, profile=None)
        keys.add(given.key)
        inputs.append(given)
    return inputs


async def _fresh(session: AsyncSession, profile_ids: Collection[str], *, max_age_days: int) -> dict[str, Profile]:
    oldest = await service_time(session) - timedelta(days=max_age_days)
    cached = await people.cached_profiles(session, profile_ids)
    return {one: copy for one, copy in cached.items() if copy.fetched_at is not None and copy.fetched_at > oldest}


@dataclass(frozen=True, slots=True)
class Fetched:
    """The profiles that the source gave, by profile id; `again` are the keys of people it refused for now."""

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
    """Return the row of each input and its charges; the caller has locked the people.

    New copies of profiles are cached, and the tenant may read every copy that it is given from now on.
    """
    now = await service_time(session)
    rows: list[FetchedRow] = []
    charges: list[CreditCharge] = []
    for given in await read_fetch_inputs(session, vault, tenant, ask):
        status, profile, person, price = given.status, given.profile, given.person, 0
        if status is None and person is not None and person in fetched.profiles:
            profile = fetched.profiles[person].model_copy(update={"id": person, "fetched_at": now})
            status, price = RowStatus.FOUND, prices.LIVE_PROFILE
            await people.store_profiles(session, {person: profile})
            charges.append(CreditCharge(f"live:{subject_id}:{person}", "live_profile", subject_id, price))
        elif status is None:
            status = RowStatus.ERROR if given.key in fetched.again else RowStatus.NOT_FOUND
        rows.append(
            FetchedRow(
                input=given.wanted.input, status=status, profile_id=person, profile=profile, charged_credits=price
            )
        )
    await profiles.give_copies(
        session, tenant, [row.profile_id for row in rows if row.profile is not None and row.profile_id]
    )
    return Settled(tuple(rows), charges)


async def from_cache(session: AsyncSession, vault: Vault, tenant: Tenant, ask: FetchAsk) -> FetchResult | None:
    """Return the result when no person is to be fetched live; lock the people and look again under their locks."""
    inputs = await read_fetch_inputs(session, vault, tenant, ask)
    if any(given.status is None for given in inputs):
        return None
    await people.lock_people(session, known_ids(inputs))
    made = await fetch_results(session, vault, tenant, ask, fetched=Fetched({}, ()), subject_id="")
    return FetchResult(rows=made.rows)


def marks_of_fetch(vault: Vault, ask: FetchAsk) -> set[str]:
    """Return the suppression marks of every person whom the request itself names."""
    return {one.profile_id or suppressions.mark_of_key(people.url_hash(vault, one.url or "")) for one in ask.wanted}


def known_ids(inputs: Sequence[FetchInput]) -> set[str]:
    """Return the profile ids of the people among the inputs who are known."""
    return {given.person for given in inputs if given.person is not None}


async def settle_fetch(
    session: AsyncSession,
    vault: Vault,
    call: BegunCall,
    *,
    ask: FetchAsk,
    people_ids: Collection[str],
    fetched: Fetched,
) -> None:
    """Charge and keep the result; `people_ids` are all people concerned. Raises what `pay` raises."""
    await people.lock_people(session, people_ids)
    row = await running(session, call.id)
    if row is None:
        return
    made = await fetch_results(session, vault, call.tenant, ask, fetched=fetched, subject_id=call.id)
    await pay(session, call.payer, made.charges)
    complete_call(
        vault, row, FetchResult(rows=made.rows), about=(each.profile_id for each in made.rows if each.profile_id)
    )


@dataclass(frozen=True, slots=True)
class CompanyInput:
    """What is known of one input; `status` is null for a company to be looked up live."""

    wanted: WantedCompany
    status: CompanyStatus | None = None
    known: KnownCompany | None = None


async def read_company_inputs(session: AsyncSession, ask: CompaniesAsk) -> list[CompanyInput]:
    """Return how each input stands now, in input order; an input of a company named before is a duplicate."""
    by_id = await market_store.companies_by_id(session, {one.company_id for one in ask.wanted if one.company_id})
    by_domain = await market_store.companies_at_domains(session, {one.domain for one in ask.wanted if one.domain})
    inputs: list[CompanyInput] = []
    keys: set[str] = set()
    for one in ask.wanted:
        if one.name is not None:
            choices = await market_store.companies_named(session, one.name)
            known = choices[0] if len(choices) == 1 else None
        else:
            known = by_id.get(one.company_id or "") or by_domain.get(one.domain or "")
        given = _company_input(one, known)
        key = given.known.id if given.known else one.company_id or one.domain or (one.name or "").casefold()
        inputs.append(replace(given, status=CompanyStatus.DUPLICATE) if key in keys else given)
        keys.add(key)
    return inputs


def _company_input(wanted: WantedCompany, known: KnownCompany | None) -> CompanyInput:
    if known is not None and known.fresh:
        return CompanyInput(wanted, CompanyStatus.CACHED, known)
    if wanted.company_id is not None and known is None and not wanted.shipped:
        return CompanyInput(wanted, CompanyStatus.NOT_FOUND)
    return CompanyInput(wanted)


@dataclass(frozen=True, slots=True)
class CompanyAnswer:
    """The company that the source found for one input; `suggested` is the id it gets if it has none yet."""

    source_id: str
    details: CompanyDetails
    suggested: str | None


def company_results(inputs: Sequence[CompanyInput]) -> CompaniesResult:
    """Return the result when no company is to be looked up live."""
    return CompaniesResult(rows=tuple(_row(given) for given in inputs))


def _row(given: CompanyInput) -> CompanyRow:
    known = given.known if given.status is CompanyStatus.CACHED else None
    return CompanyRow(
        input=given.wanted.input,
        status=given.status or CompanyStatus.NOT_FOUND,
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
    """Keep and charge the companies found, by the position of their inputs. Raises what `pay` raises, keeping none."""
    await market_store.lock_companies(session)
    row = await running(session, call.id)
    if row is None:
        return
    rows: list[CompanyRow] = []
    charges: list[CreditCharge] = []
    named: set[str] = set()
    for position, given in enumerate(await read_company_inputs(session, ask)):
        answer = found.get(position)
        if given.status is not None or answer is None:
            rows.append(_row(given))
            named |= {given.known.id} if given.known else set()
            continue
        company_id = await market_store.keep_company(
            session, source=source, source_id=answer.source_id, details=answer.details, suggested=answer.suggested
        )
        if company_id in named:
            rows.append(CompanyRow(input=given.wanted.input, status=CompanyStatus.DUPLICATE))
            continue
        named.add(company_id)
        charges.append(CreditCharge(f"company:{call.id}:{company_id}", "live_company", call.id, prices.LIVE_COMPANY))
        rows.append(
            CompanyRow(
                input=given.wanted.input,
                status=CompanyStatus.FOUND,
                company_id=company_id,
                details=answer.details,
                charged_credits=prices.LIVE_COMPANY,
            )
        )
    await pay(session, call.payer, charges)
    complete_call(vault, row, CompaniesResult(rows=tuple(rows)), about=())
