"""Making the upstream calls that callers wait for: search, fetch, match, companies."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime

import structlog
from temporalio import activity

from activities.company_calls import look_up
from activities.fetching import fetch_live
from activities.people import People
from activities.upstream.ports import PersonClues, SourceBusy, SourceRefusedQuery, SourceUnusable, TokenRefused
from models.data import reference
from models.database import Database
from models.errors import ServiceError, UpstreamBusy, UpstreamError
from models.rules.company_calls import CompaniesAsk
from models.rules.matching import Possible
from models.rules.raw_calls import CallKind, FetchAsk, FoundRow, MatchAsk, SearchAsk
from models.secrets import Vault
from models.stores import people
from models.stores.people import Sighting
from models.stores.upstream_calls import companies, fetching, matching, rows, searching
from models.stores.upstream_calls.matching import Named
from models.stores.upstream_calls.rows import Begun
from models.stores.upstream_calls.searching import PageFound
from workflows import names
from workflows.contracts import Step

log = structlog.get_logger(__name__)

DEFAULT_RETRY_SECONDS = 30


class RawCalls:
    """What a synchronous call asks of the database and of the people source."""

    def __init__(self, database: Database, vault: Vault, source: People) -> None:
        self._database = database
        self._vault = vault
        self._source = source
        self._make: Mapping[CallKind, Callable[[Begun], Awaitable[None]]] = {
            CallKind.SEARCH: self._search,
            CallKind.FETCH: self._fetch,
            CallKind.MATCH: self._match,
            CallKind.COMPANIES: self._companies,
        }

    @activity.defn(name=names.UPSTREAM_CALL)
    async def call(self, step: Step) -> None:
        """Make the call once and write its end to its row; an ended or abandoned one is left alone."""
        begun = await self._database.run(lambda session: rows.begin(session, self._vault, step.id))
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

    async def _identify(self, call: Begun, sightings: Sequence[Sighting]) -> dict[str, str]:
        """Our id of everybody the source named, by its id."""
        workspace_id = call.tenant.workspace_id
        return await self._database.run(
            lambda session: people.identify(session, self._vault, sightings, workspace_id=workspace_id)
        )

    async def _fail(self, call: Begun, error: ServiceError) -> None:
        await self._database.run(lambda session: rows.fail(session, call.id, error))

    async def _search(self, call: Begun) -> None:
        ask = SearchAsk.model_validate_json(call.ask)
        async with self._database.transaction() as session:
            directory = await self._source.directory(session, ask.filters)
            before = await searching.page_before(session, call.tenant, ask.scroll_id, ask.page)
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
        await self._database.run(lambda session: searching.settle(session, self._vault, call, ask=ask, page=found))

    async def _fetch(self, call: Begun) -> None:
        ask = FetchAsk.model_validate_json(call.ask)
        fetched, everybody = await fetch_live(self._database, self._vault, self._source, call.tenant, ask)
        await self._database.run(
            lambda session: fetching.settle(session, self._vault, call, ask=ask, people_ids=everybody, fetched=fetched)
        )

    async def _match(self, call: Begun) -> None:
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
            Named(Possible(ids[each.source_id], each.confidence, frozenset(each.matched_on)), each.profile)
            for each in possible
        ]
        await self._database.run(lambda session: matching.settle(session, self._vault, call, ask=ask, named=named))

    async def _companies(self, call: Begun) -> None:
        ask = CompaniesAsk.model_validate_json(call.ask)
        found = await look_up(self._database, self._source, reference(), ask)
        source = self._source.source.name
        await self._database.run(
            lambda session: companies.settle(session, self._vault, call, source=source, ask=ask, found=found)
        )


def _seconds(busy: SourceBusy) -> int:
    """How long to wait before a repeat, by the wall clock that the source speaks of."""
    if busy.retry_at is not None:
        return max(1, round((busy.retry_at - datetime.now(UTC)).total_seconds()))
    return round(busy.cooldown_seconds or DEFAULT_RETRY_SECONDS)
