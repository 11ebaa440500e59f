"""Calling a people source in our terms: ids translated, a slot of the installation held, one call made."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.ext.asyncio import AsyncSession
from temporalio import activity

from activities.upstream.ports.people import (
    CompanyClue,
    CompanyNames,
    FetchedProfile,
    FoundCompany,
    FoundContacts,
    MatchCandidate,
    PeopleAndMoreSource,
    PersonClues,
    PlaceNames,
    SearchPage,
)
from activities.upstream.slots import SlotLost, UpstreamSlots
from models.base.database import Database
from models.base.secrets import Vault
from models.market import store as market_store
from models.market.reference import ShippedReference
from models.people.store import people
from models.people.store.people import Sighting
from models.sourcing.rules.filters import PeopleFilters, TierFilters
from models.sourcing.rules.runs import HEARTBEAT_SECONDS, UPSTREAM_CALL_SECONDS

FEED_SECONDS = 1800.0
"""The most that reading the opt-out feed takes."""


@dataclass(frozen=True, slots=True)
class KnownNames:
    """A `Directory` of shipped places and companies and of the people and companies looked up beforehand."""

    reference: ShippedReference
    named: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    firms: Mapping[str, market_store.Names] = field(default_factory=dict)

    def place(self, location_id: str) -> PlaceNames:
        """Return the names of a `loc_…`."""
        names = self.reference.places.names(location_id)
        return PlaceNames(names.city, names.region, names.country_code, names.country)

    def company(self, company_id: str) -> CompanyNames:
        """Return the names and the domain of a `co_…`."""
        looked_up = self.firms.get(company_id)
        if looked_up is not None:
            return CompanyNames(looked_up.name, looked_up.domains, looked_up.source_ids)
        company = self.reference.companies.get(company_id)
        return CompanyNames(company.name, () if company.domain is None else (company.domain,))

    def source_ids(self, profile_id: str) -> tuple[str, ...]:
        """Return the source's ids of a `prof_…`."""
        return self.named.get(profile_id, ())

    def location_id(self, *, city: str | None, region: str | None, country_code: str | None) -> str | None:
        """Return the `loc_…` of a place the source named."""
        return self.reference.places.location_id(city=city, region=region, country_code=country_code)


def _parts(filters: PeopleFilters | None) -> tuple[PeopleFilters, ...]:
    """Return the filters themselves and those of their conjunctions."""
    if filters is None:
        return ()
    return (filters, *filters.all_of, *filters.none_of) if isinstance(filters, TierFilters) else (filters,)


def people_named(filters: PeopleFilters | None) -> set[str]:
    """Return the profile ids that the filters name."""
    return {one for part in _parts(filters) for one in part.exclude_profile_ids}


def companies_in_source(filters: PeopleFilters | None) -> set[str]:
    """Return the company ids that the filters name."""
    return {
        one
        for part in _parts(filters)
        for one in (*part.company_ids, *part.exclude_company_ids, *part.past_company_ids)
    }


class PeopleCalls:
    """The configured people source behind the installation's slots. `reference` loads the shipped data when needed."""

    def __init__(
        self, source: PeopleAndMoreSource, slots: UpstreamSlots, reference: Callable[[], ShippedReference]
    ) -> None:
        self.source = source
        self._slots = slots
        self._reference = reference

    async def directory(self, session: AsyncSession, filters: PeopleFilters | None = None) -> KnownNames:
        """Return what the adapter needs to translate these filters."""
        name, ids, named = self.source.name, people_named(filters), companies_in_source(filters)
        return KnownNames(
            self._reference(),
            named=await people.source_ids(session, name, ids) if ids else {},
            firms=await market_store.source_names(session, name, named) if named else {},
        )

    async def search(
        self, filters: PeopleFilters, directory: KnownNames, *, size: int, token: str | None
    ) -> SearchPage:
        """Fetch one page, under a slot. Raises `SourceError`s and `SlotLost`."""
        async with self._call():
            return await self.source.search(filters, directory, size=size, token=token)

    async def fetch(self, asked: Sequence[str], directory: KnownNames) -> tuple[FetchedProfile, ...]:
        """Fetch 1–100 profiles by source id or profile URL, under a slot. Raises `SourceError`s and `SlotLost`."""
        async with self._call():
            return await self.source.fetch(asked, directory)

    async def contacts(self, source_ids: Sequence[str]) -> tuple[FoundContacts, ...]:
        """Fetch contact details of 1–100 people, under a slot. Raises `SourceError`s and `SlotLost`."""
        async with self._call():
            return await self.source.contacts(source_ids)

    async def identify(self, clues: PersonClues, directory: KnownNames) -> tuple[MatchCandidate, ...]:
        """Find the people whom the clues can mean, under a slot. Raises `SourceError`s and `SlotLost`."""
        async with self._call():
            return await self.source.identify(clues, directory)

    async def companies(self, clues: Sequence[CompanyClue]) -> tuple[FoundCompany | None, ...]:
        """Find the best match for each clue, under a slot. Raises `SourceError`s and `SlotLost`."""
        async with self._call():
            return await self.source.companies(clues)

    async def opted_out(self, *, at_once: int) -> AsyncGenerator[list[str]]:
        """Read who opted out at the source, under a slot for as long as the feed is read.

        Raises `SourceError`s, `FeedUnavailable` among them, and `SlotLost`.
        """
        async with self._slots.calling(limit_seconds=UPSTREAM_CALL_SECONDS) as slot, heartbeats():
            async for batch in self.source.opted_out(at_once=at_once):
                if not await slot.still_ours():  # which also lengthens the lease
                    raise SlotLost("another process has taken the slot over")
                yield batch

    async def owners(
        self,
        database: Database,
        vault: Vault,
        asked: Mapping[str, str | None],
        results: Sequence[FetchedProfile],
        *,
        workspace_id: str,
    ) -> dict[str, str]:
        """Return the profile id of each person found, by what was asked; `asked` gives the ids known before, else null.

        A source that merged two records answers with another id, and a URL may lead to a person known by another URL:
        they become one. `workspace_id` is the workspace that asked.
        """
        moved = {
            result.asked: Sighting(self.source.name, result.source_id, result.profile.profile_url, _address(result))
            for result in results
            if result.profile is not None
            and result.source_id is not None
            and (result.source_id != result.asked or asked[result.asked] is None)
        }
        known = {asked_with: profile_id for asked_with, profile_id in asked.items() if profile_id is not None}
        if not moved:
            return known
        return await database.run(lambda session: _settled(session, vault, known, moved, workspace_id=workspace_id))

    @contextlib.asynccontextmanager
    async def _call(self) -> AsyncIterator[None]:
        async with self._slots.calling(limit_seconds=UPSTREAM_CALL_SECONDS), heartbeats():
            yield


def _address(result: FetchedProfile) -> str | None:
    return result.asked if result.asked.startswith("https://") else None


async def _settled(
    session: AsyncSession,
    vault: Vault,
    known: Mapping[str, str],
    moved: Mapping[str, Sighting],
    *,
    workspace_id: str,
) -> dict[str, str]:
    found = await people.identify(session, vault, list(moved.values()), workspace_id=workspace_id)
    concerned = set(found.values()) | {known[asked_with] for asked_with in moved if asked_with in known}
    standing = await people.lock_people(session, concerned)
    for asked_with, sighting in moved.items():
        mine = standing[found[sighting.source_id]]
        ids = sorted({mine, standing[known[asked_with]] if asked_with in known else mine})
        for newer in ids[1:]:
            await people.merge_people(session, survivor=ids[0], newer=newer)
            standing = {one: ids[0] if at == newer else at for one, at in standing.items()}
    return dict(known) | {asked_with: standing[found[each.source_id]] for asked_with, each in moved.items()}


@contextlib.asynccontextmanager
async def heartbeats() -> AsyncIterator[None]:
    """Tell Temporal every few seconds that this activity is alive, so that a dead worker is noticed soon."""

    async def beat() -> None:
        while True:
            activity.heartbeat()
            await asyncio.sleep(HEARTBEAT_SECONDS)

    beating = asyncio.create_task(beat())
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)
