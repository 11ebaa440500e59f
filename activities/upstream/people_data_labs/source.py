"""`PeopleSource` on People Data Labs: searching page by page and fetching full profiles by id."""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import date, datetime
from typing import Any

import httpx
import structlog

from activities.upstream.people_data_labs import companies as people_data_labs_companies
from activities.upstream.people_data_labs import feed, records
from activities.upstream.people_data_labs.client import (
    BULK_READ_SECONDS,
    AnswerTooLarge,
    PeopleDataLabsClient,
    utc_now,
    within_limit,
)
from activities.upstream.people_data_labs.query import plain, query_of, shape
from activities.upstream.people_data_labs.records import Record
from activities.upstream.ports.people import (
    CompanyClue,
    Directory,
    FetchedProfile,
    FetchStatus,
    FoundCompany,
    FoundContacts,
    MatchCandidate,
    PersonClues,
    SearchPage,
    SourceRefusedQuery,
    SourceUnusable,
    TokenRefused,
)
from models.sourcing.rules.filters import PEOPLE_DATA_LABS, PeopleFilters

log = structlog.get_logger(__name__)

MOST_AT_ONCE = 100
DATASET = "resume"
MIN_LIKELIHOOD = 2
MOST_SCORE = 100


class PeopleDataLabs:
    """The people source of production. `base_url` and `api_key` are all that differs between vendor and sandbox.

    `today` gives the day as of which a profile's facts are derived.
    """

    name = PEOPLE_DATA_LABS.name

    def __init__(
        self,
        *,
        base_url: str,
        api_key: str | None,
        transport: httpx.AsyncBaseTransport | None = None,
        now: Callable[[], datetime] = utc_now,
        today: Callable[[], date] = lambda: utc_now().date(),
    ) -> None:
        self._client = PeopleDataLabsClient(base_url=base_url, api_key=api_key, transport=transport, now=now)
        self._today = today

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def search(self, filters: PeopleFilters, directory: Directory, *, size: int, token: str | None) -> SearchPage:
        """Fetch one page; one that would be over 1 MiB is asked for again at half the size."""
        _check_size(size)
        query = query_of(filters, directory)
        fields = records.SEARCH_FIELDS + (("experience",) if filters.past_company_ids else ())
        ask = {"query": {"query": query}, "dataset": DATASET, "data_include": ",".join(fields)}
        if token is not None:
            ask["scroll_token"] = token
        try:
            async with within_limit():
                rows, page = await self._page(ask, size=size)
        except SourceRefusedQuery:
            log.error("people_data_labs.query_refused", query=shape(query), token=token is not None)  # noqa: TRY400 - the stack says nothing
            if token is not None:
                raise TokenRefused("the source no longer takes this page token") from None
            raise
        if filters.past_company_ids:
            rows = [row for row in rows if _worked_there_before(row, filters, directory)]
        as_of = self._today()
        people = tuple(records.found_person(row, directory, as_of=as_of) for row in rows)
        return SearchPage(people=people, next_token=page.next_token, total=page.total)

    async def fetch(self, asked: Sequence[str], directory: Directory) -> tuple[FetchedProfile, ...]:
        """Fetch full profiles in the order asked; a profile asked for twice is fetched once."""
        _check_size(len(asked))
        distinct = list(dict.fromkeys(asked))
        async with within_limit():
            items = await self._items(distinct)
        as_of = self._today()
        fetched = {
            each: _fetched(each, item, directory, as_of=as_of) for each, item in zip(distinct, items, strict=True)
        }
        return tuple(fetched[each] for each in asked)

    async def identify(self, clues: PersonClues, directory: Directory) -> tuple[MatchCandidate, ...]:
        """Find up to twenty people. The source bills the call itself, whatever it finds."""
        ask = {
            "name": clues.name,
            "company": clues.companies[0] if clues.companies else None,
            "profile": clues.profile_url,
            "locality": clues.place.city if clues.place else None,
            "region": clues.place.region if clues.place else None,
            "country": clues.place.country if clues.place else None,
            "data_include": ",".join(records.PROFILE_FIELDS),
        }
        async with within_limit():
            answer = await self._client.get(
                "/v5/person/identify", {name: value for name, value in ask.items() if value is not None}
            )
        if not answer.found:
            return ()
        matches = answer.body.get("matches") if isinstance(answer.body, dict) else None
        if not isinstance(matches, list):
            raise SourceUnusable("the identify answer has another shape")
        as_of = self._today()
        return tuple(_possible(match, directory, as_of=as_of) for match in matches)

    async def contacts(self, source_ids: Sequence[str]) -> tuple[FoundContacts, ...]:
        """Fetch addresses and numbers in the order asked. On plans without contact data all of them are missing."""
        _check_size(len(source_ids))
        distinct = list(dict.fromkeys(source_ids))
        async with within_limit():
            items = await self._bulk(distinct, records.CONTACT_FIELDS)
        found = {each: _contacts(each, item) for each, item in zip(distinct, items, strict=True)}
        return tuple(found[each] for each in source_ids)

    async def companies(self, clues: Sequence[CompanyClue]) -> tuple[FoundCompany | None, ...]:
        """Find the best match for each clue, one after the other."""
        found: list[FoundCompany | None] = []
        async with within_limit():
            for clue in clues:
                answer = await self._client.get(
                    "/v5/company/enrich", people_data_labs_companies.question(clue, min_likelihood=MIN_LIKELIHOOD)
                )
                found.append(people_data_labs_companies.found_company(answer.body) if answer.found else None)
        return tuple(found)

    async def opted_out(self, *, at_once: int) -> AsyncIterator[list[str]]:
        """Yield the source's ids of the people who opted out there, up to `at_once` at a time, as they arrive."""
        async with self._client.streaming("/v5/person/subjectrequest") as response:
            batch: list[str] = []
            async for source_id in feed.ids_of(feed.lines_of(response.aiter_bytes())):
                batch.append(source_id)
                if len(batch) == at_once:
                    yield batch
                    batch = []
            if batch:
                yield batch

    async def _page(self, ask: dict[str, Any], *, size: int) -> tuple[list[Record], SearchPage]:
        try:
            answer = await self._client.post("/v5/person/search", ask | {"size": size})
        except AnswerTooLarge:
            if size == 1:
                raise
            size //= 2
            answer = await self._client.post("/v5/person/search", ask | {"size": size})
        if not answer.found:
            return [], SearchPage(people=(), next_token=None, total=0 if "scroll_token" not in ask else None)
        return _search_rows(answer.body, size=size)

    async def _items(self, asked: Sequence[str]) -> list[Record]:
        try:
            return await self._bulk(asked)
        except AnswerTooLarge:
            if len(asked) == 1:
                raise
        half = len(asked) // 2
        return [*await self._bulk(asked[:half]), *await self._bulk(asked[half:])]

    async def _bulk(self, asked: Sequence[str], fields: Sequence[str] = records.PROFILE_FIELDS) -> list[Record]:
        ask = {
            "requests": [{"params": {_parameter(each): each}, "metadata": {"n": n}} for n, each in enumerate(asked)],
            "min_likelihood": MIN_LIKELIHOOD,
            "data_include": ",".join(fields),
        }
        answer = await self._client.post("/v5/person/bulk", ask, read_seconds=BULK_READ_SECONDS)
        if not answer.found:
            raise SourceUnusable("the bulk answer has no items")
        return _in_order(answer.body, count=len(asked))


def _parameter(asked: str) -> str:
    """Return the parameter a profile is asked for by: a URL, or an id of the source, which contains no address."""
    return "profile" if asked.startswith("https://") else "pdl_id"


def _check_size(size: int) -> None:
    if not 1 <= size <= MOST_AT_ONCE:
        raise ValueError(f"1 to {MOST_AT_ONCE} people at once, not {size}")


def _search_rows(body: Any, *, size: int) -> tuple[list[Record], SearchPage]:  # noqa: ANN401 - JSON
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list) or len(rows) > size or not all(map(_is_person, rows)):
        raise SourceUnusable("the search answer has another shape")
    token, total = body.get("scroll_token"), body.get("total")
    if token is not None and not isinstance(token, str):
        raise SourceUnusable("the page token is no text")
    distinct = {row["id"]: row for row in rows}
    return list(distinct.values()), SearchPage(
        people=(),
        next_token=(token or None) if rows else None,
        total=total if isinstance(total, int) and total >= 0 else None,
    )


def _is_person(row: Any) -> bool:  # noqa: ANN401 - JSON
    return isinstance(row, dict) and records.source_id(row) is not None


def _worked_there_before(row: Record, filters: PeopleFilters, directory: Directory) -> bool:
    """Return whether one ended job was at one of the companies; the source compares company and end separately."""
    companies = [directory.company(company_id) for company_id in filters.past_company_ids]
    known = {
        *(("id", each) for company in companies for each in company.provider_ids),
        *(("website", plain(each)) for company in companies for each in company.domains),
        *(("name", plain(company.name)) for company in companies),
    }
    return records.held_before(row, lambda job: any((key, job.get(key)) in known for key in ("id", "website", "name")))


def _in_order(items: Any, *, count: int) -> list[Record]:  # noqa: ANN401 - JSON
    """Return the items by the number sent along, or in their own order when none was echoed."""
    if not isinstance(items, list) or len(items) != count or not all(isinstance(item, dict) for item in items):
        raise SourceUnusable("the bulk answer has another shape or length")
    numbers = [item["metadata"].get("n") if isinstance(item.get("metadata"), dict) else None for item in items]
    if all(number is None for number in numbers):
        return items
    numbered = {number: item for number, item in zip(numbers, items, strict=True) if isinstance(number, int)}
    if numbered.keys() != set(range(count)):
        raise SourceUnusable("the bulk answer numbers its items in another way")
    return [numbered[n] for n in range(count)]


def _possible(match: Any, directory: Directory, *, as_of: date) -> MatchCandidate:  # noqa: ANN401 - JSON
    record = match.get("data") if isinstance(match, dict) else None
    score = match.get("match_score") if isinstance(match, dict) else None
    if (
        not isinstance(record, dict)
        or not _is_person(record)
        or not isinstance(score, int | float)
        or not 0 <= score <= MOST_SCORE
    ):
        raise SourceUnusable("a possible person has another shape")
    matched_on = match.get("matched_on")
    return MatchCandidate(
        source_id=record["id"],
        confidence=score / MOST_SCORE,
        matched_on=tuple(each for each in matched_on if isinstance(each, str)) if isinstance(matched_on, list) else (),
        profile=records.profile(record, directory, as_of=as_of),
    )


def _contacts(asked: str, item: Record) -> FoundContacts:
    status, record = item.get("status"), item.get("data")
    if status == httpx.codes.OK:
        if not isinstance(record, dict) or not _is_person(record):
            raise SourceUnusable("a bulk item has no person")
        return FoundContacts(asked, FetchStatus.FOUND, records.emails(record), records.phones(record))
    if status in {httpx.codes.NOT_FOUND, httpx.codes.BAD_REQUEST}:
        return FoundContacts(asked, FetchStatus.NOT_FOUND)
    if isinstance(status, int) and status >= httpx.codes.BAD_REQUEST:
        return FoundContacts(asked, FetchStatus.RETRY)
    raise SourceUnusable("a bulk item has no status")


def _fetched(asked: str, item: Record, directory: Directory, *, as_of: date) -> FetchedProfile:
    status, record = item.get("status"), item.get("data")
    if status == httpx.codes.OK:
        if not isinstance(record, dict) or not _is_person(record):
            raise SourceUnusable("a bulk item has no person")
        return FetchedProfile(
            asked=asked,
            status=FetchStatus.FOUND,
            source_id=record["id"],
            profile=records.profile(record, directory, as_of=as_of),
        )
    if status in {httpx.codes.NOT_FOUND, httpx.codes.BAD_REQUEST}:
        if status == httpx.codes.BAD_REQUEST:
            log.warning("people_data_labs.id_refused")
        return FetchedProfile(asked=asked, status=FetchStatus.NOT_FOUND)
    if isinstance(status, int) and status >= httpx.codes.BAD_REQUEST:
        return FetchedProfile(asked=asked, status=FetchStatus.RETRY)
    raise SourceUnusable("a bulk item has no status")
