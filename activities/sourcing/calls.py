"""Looking companies up live: what the source is asked for each, and whether its answer is the company meant."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog

from activities.sourcing.people import PeopleCalls
from activities.steps import steps
from activities.upstream.ports.people import (
    CompanyClue,
    FetchStatus,
    PersonClues,
    SourceBusy,
    SourceRefusedQuery,
    SourceUnusable,
    TokenRefused,
)
from activities.upstream.ports.people import FoundCompany as Answer
from models.base.database import Database
from models.base.errors import ServiceError, UpstreamBusy, UpstreamError
from models.base.secrets import Vault
from models.base.steps import Queue, Step, served_step
from models.base.tenants import Tenant
from models.market import store as market_store
from models.market.reference import ShippedReference, reference
from models.market.store import Names
from models.people.rules.identity import PossiblePerson
from models.people.store import people
from models.people.store.people import Sighting
from models.sourcing.engine import calls, fetch, search
from models.sourcing.engine.calls import BegunCall
from models.sourcing.engine.fetch import CompanyAnswer, Fetched, read_company_inputs
from models.sourcing.engine.search import IdentifiedCandidate, PageFound
from models.sourcing.rules.raw_calls import (
    CallKind,
    CompaniesAsk,
    FetchAsk,
    FoundRow,
    MatchAsk,
    SearchAsk,
    WantedCompany,
    agrees,
)
from workflows import upstream_calls


async def look_up(
    database: Database, source: PeopleCalls, reference: ShippedReference, ask: CompaniesAsk
) -> dict[int, CompanyAnswer]:
    """Ask the source for each input that is not known yet, and return its answers by the position of the input.

    Raises what `People.companies` raises.
    """
    async with database.transaction() as session:
        standings = await read_company_inputs(session, ask)
        open_at = {place: each.wanted for place, each in enumerate(standings) if each.status is None}
        ids = {wanted.company_id for wanted in open_at.values() if wanted.company_id is not None}
        known = await market_store.source_names(session, source.source.name, ids)
    clues = {place: _clue(wanted, known.get(wanted.company_id or ""), reference) for place, wanted in open_at.items()}
    answers = await source.companies(list(clues.values())) if clues else ()
    return {
        place: CompanyAnswer(
            answer.source_id, answer.details, _suggested(open_at[place], answer.details.domain, reference)
        )
        for (place, clue), answer in zip(clues.items(), answers, strict=True)
        if answer is not None and _meant(clue, answer)
    }


def _meant(clue: CompanyClue, answer: Answer) -> bool:
    """Return whether the source's best match is the company asked for."""
    if clue.source_id is not None:
        return True
    return agrees(domain=clue.domain, name=clue.name, found=answer.details, other_names=answer.other_names)


def _clue(wanted: WantedCompany, known: Names | None, reference: ShippedReference) -> CompanyClue:
    """Return the parameters of the question."""
    if wanted.company_id is None:
        return CompanyClue(domain=wanted.domain, name=wanted.name)
    if known is not None and known.source_ids:
        return CompanyClue(source_id=known.source_ids[0], domain=next(iter(known.domains), None), name=known.name)
    company = reference.companies.get(wanted.company_id)
    if company.domain is not None:
        return CompanyClue(domain=company.domain)
    country = reference.places.country_name(company.country_code) if company.country_code else None
    return CompanyClue(name=company.name, country=country)


def _suggested(wanted: WantedCompany, domain: str | None, reference: ShippedReference) -> str | None:
    """Return the id suggested for a company: the one asked for, or that of the only shipped company at its domain."""
    if wanted.company_id is not None:
        return wanted.company_id
    at = reference.companies.at_domain(domain) if domain else ()
    return at[0].id if len(at) == 1 else None


# People who are not cached.


async def fetch_live(
    database: Database, vault: Vault, source: PeopleCalls, tenant: Tenant, ask: FetchAsk
) -> tuple[Fetched, set[str]]:
    """Fetch the people who are not cached in one call; also return the ids of all people of the request known by then.

    Raises what `People.fetch` raises.
    """
    async with database.transaction() as session:
        standings = await fetch.read_fetch_inputs(session, vault, tenant, ask)
        live = [standing for standing in standings if standing.status is None]
        named = await people.source_ids(session, source.source.name, fetch.known_ids(live))
        directory = await source.directory(session)
    # A person whom this source never named can be asked for by URL alone.
    keys = {
        named[one.person][-1] if one.person in named else one.wanted.url: one
        for one in live
        if one.person in named or one.wanted.url is not None
    }
    asked = {asked_with: one.person for asked_with, one in keys.items() if asked_with is not None}
    results = await source.fetch(list(asked), directory) if asked else ()
    owners = await source.owners(database, vault, asked, results, workspace_id=tenant.workspace_id)
    profiles = {
        owners[result.asked]: result.profile
        for result in results
        if result.status is FetchStatus.FOUND and result.profile is not None
    }
    again = {keys[result.asked].key for result in results if result.status is FetchStatus.RETRY}
    return Fetched(profiles, again), fetch.known_ids(standings) | profiles.keys()


# Calls that callers wait for.


log = structlog.get_logger(__name__)

DEFAULT_RETRY_SECONDS = 30


@steps
class RawCalls:
    """What a synchronous call asks of the database and of the people source."""

    def __init__(self, database: Database, vault: Vault, people: PeopleCalls) -> None:
        self._database = database
        self._vault = vault
        self._source = people
        self._make: Mapping[CallKind, Callable[[BegunCall], Awaitable[None]]] = {
            CallKind.SEARCH: self._search,
            CallKind.FETCH: self._fetch,
            CallKind.MATCH: self._match,
            CallKind.COMPANIES: self._companies,
        }

    @served_step(upstream_calls.UPSTREAM_CALL, Queue.UPSTREAM)
    async def call(self, step: Step) -> None:
        """Make the call once and write its end to its row; an ended or abandoned one is left alone."""
        begun = await self._database.run(lambda session: calls.begin_call(session, self._vault, step.id))
        if begun is None:
            return
        try:
            await self._make[begun.kind](begun)
        except SourceBusy as busy:
            await self._fail(begun, UpstreamBusy(status=busy.status, retry_after=_seconds(busy)))
        except (SourceUnusable, SourceRefusedQuery) as error:
            log.warning("raw_call.source_unusable", call_id=step.id, error=type(error).__name__)
            await self._fail(begun, UpstreamError("The data source gave no usable answer. Nothing was charged."))
        except ServiceError as error:  # the credits were spent elsewhere meanwhile
            await self._fail(begun, error)

    async def _identify(self, call: BegunCall, sightings: Sequence[Sighting]) -> dict[str, str]:
        """Return the profile id of each person whom the source named, by its id."""
        workspace_id = call.tenant.workspace_id
        return await self._database.run(
            lambda session: people.identify(session, self._vault, sightings, workspace_id=workspace_id)
        )

    async def _fail(self, call: BegunCall, error: ServiceError) -> None:
        await self._database.run(lambda session: calls.fail(session, call.id, error))

    async def _search(self, call: BegunCall) -> None:
        ask = SearchAsk.model_validate_json(call.ask)
        async with self._database.transaction() as session:
            directory = await self._source.directory(session, ask.filters)
            before = await search.page_before(session, call.tenant, ask.scroll_id, ask.page)
        token = before.next_token if before else None
        try:
            page = await self._source.search(ask.filters, directory, size=ask.limit, token=token)
        except TokenRefused:
            # The source forgot the search: begin it again; people already shown are sorted out as duplicates.
            page = await self._source.search(ask.filters, directory, size=ask.limit, token=None)
        name = self._source.source.name
        sightings = [Sighting(name, person.source_id, person.profile_url) for person in page.people]
        ids = await self._identify(call, sightings)
        found = PageFound(
            people=tuple(
                FoundRow(
                    profile_id=ids[person.source_id],
                    full_name=person.full_name,
                    title=person.title,
                    company=person.company,
                    location=person.location,
                    profile_url=person.profile_url,
                )
                for person in page.people
            ),
            next_token=page.next_token,
        )
        await self._database.run(lambda session: search.settle_search(session, self._vault, call, ask=ask, page=found))

    async def _fetch(self, call: BegunCall) -> None:
        ask = FetchAsk.model_validate_json(call.ask)
        fetched, everybody = await fetch_live(self._database, self._vault, self._source, call.tenant, ask)
        await self._database.run(
            lambda session: fetch.settle_fetch(
                session, self._vault, call, ask=ask, people_ids=everybody, fetched=fetched
            )
        )

    async def _match(self, call: BegunCall) -> None:
        ask = MatchAsk.model_validate_json(call.ask)
        async with self._database.transaction() as session:
            directory = await self._source.directory(session)
        place = directory.place(ask.location_id) if ask.location_id is not None else None
        clues = PersonClues(name=ask.name, companies=ask.companies, place=place, profile_url=ask.url)
        possible = await self._source.identify(clues, directory)
        name = self._source.source.name
        sightings = [Sighting(name, each.source_id, each.profile.profile_url) for each in possible]
        ids = await self._identify(call, sightings)
        named = [
            IdentifiedCandidate(
                PossiblePerson(ids[each.source_id], each.confidence, frozenset(each.matched_on)), each.profile
            )
            for each in possible
        ]
        await self._database.run(lambda session: search.settle_match(session, self._vault, call, ask=ask, named=named))

    async def _companies(self, call: BegunCall) -> None:
        ask = CompaniesAsk.model_validate_json(call.ask)
        found = await look_up(self._database, self._source, reference(), ask)
        source = self._source.source.name
        await self._database.run(
            lambda session: fetch.settle_companies(session, self._vault, call, source=source, ask=ask, found=found)
        )


def _seconds(busy: SourceBusy) -> int:
    """Return how long to wait before a repeat, by the wall clock that the source speaks of."""
    if busy.retry_at is not None:
        return max(1, round((busy.retry_at - datetime.now(UTC)).total_seconds()))
    return round(busy.cooldown_seconds or DEFAULT_RETRY_SECONDS)
