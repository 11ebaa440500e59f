"""The raw layer: searching the people source one to one, fetching profiles and companies, finding one person."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from api.billing import credits
from api.kernel.kernel import Awaited, after_call
from api.kernel.operation import Context, Effect, Noun, OtherAnswer, operation
from api.sourcing.lookups_schemas import CompaniesFetched, FetchCompanies, FetchedCompany
from api.sourcing.plans_schemas import UNKNOWN_COMPANY
from api.sourcing.raw_schemas import (
    FetchedPerson,
    FetchPeople,
    FullPerson,
    JobView,
    MatchPerson,
    PageOmitted,
    PeopleFetched,
    PeopleFound,
    PersonMatched,
    PersonRow,
    PricePreview,
    SearchPeople,
)
from api.sourcing.runs_schemas import CandidateShape
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest, Suppressed, UnsupportedFilter
from models.base.ids import new_id
from models.base.paging import Cursors
from models.base.values import Kept
from models.billing.rules import prices
from models.market import store as market_store
from models.market.companies import Company
from models.people.rules.identity import canonical_profile_url
from models.people.rules.profiles import Profile
from models.people.store import people, profiles, suppressions
from models.reading.intents import Intent
from models.sourcing.engine import calls, fetch, jobs, search
from models.sourcing.rules.filters import PeopleFilters
from models.sourcing.rules.raw_calls import (
    CallKind,
    CompaniesResult,
    FetchResult,
    FoundRow,
    MatchAsk,
    MatchResult,
    RowStatus,
    SearchAsk,
    SearchResult,
)

RAW = Noun("Raw layer", "The people source itself: searching, fetching, matching, contact details.")


async def company_of(ctx: Context, company_id: str, *, field: str) -> Company:
    """Return the company of an id. Raises `InvalidRequest` for an unknown one."""
    try:
        return ctx.reference.shipped.companies.get(company_id)
    except KeyError:
        pass
    known = (await market_store.companies_by_id(ctx.session, [company_id])).get(company_id)
    if known is None:
        raise InvalidRequest(f"This {UNKNOWN_COMPANY}.", field=field)
    return Company(known.id, known.details.name, known.details.country_code, known.details.domain)


async def check_companies(ctx: Context, given: Mapping[str, Sequence[str]]) -> None:
    """Raise `InvalidRequest` for an unknown id; `given` maps fields to the ids they hold."""
    shipped = ctx.reference.shipped.companies
    places = {
        f"{field}.{place}": one
        for field, ids in given.items()
        for place, one in enumerate(ids)
        if not shipped.knows(one)
    }
    known = await market_store.companies_by_id(ctx.session, set(places.values())) if places else {}
    unknown = next((place for place, one in places.items() if one not in known), None)
    if unknown is not None:
        raise InvalidRequest(f"This {UNKNOWN_COMPANY}.", field=unknown)


async def check_intent(ctx: Context, intent: Intent) -> None:
    """The same for the companies of an intent."""
    blocks = {"must": intent.must, "nice": intent.nice, "exclude": intent.exclude}
    await check_companies(
        ctx,
        {
            f"{name}.{field}": getattr(block, field)
            for name, block in blocks.items()
            for field in ("company_ids", "past_company_ids")
        },
    )


# Raw searches, fetches and matches.


SEARCH = "people.search"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a search a page lies."""

    scroll_id: str
    page: int


@operation(SEARCH, scope=Scope.SOURCING_SPEND, effect=Effect.SPEND, route=RAW.post("/people/search"))
async def search_people(ctx: Context, ask: SearchPeople) -> PeopleFound | PricePreview | Awaited[PeopleFound]:
    """Search the people source with its own filters, one to one. Preview the price with `?dry_run=true`."""
    filters = await _applicable(ctx, ask)
    cursors = _cursors(ctx, ask)
    place = await _place(ctx, ask, cursors)
    if ctx.dry_run:
        return await credits.check_funds(ctx, prices.LEAD * ask.limit)
    call_id = await calls.find_open_call(ctx.session, ctx.use)
    if call_id is None:
        await credits.check_funds(ctx, prices.LEAD * ask.limit)
        asked = SearchAsk(
            filters=filters,
            limit=ask.limit,
            scroll_id=place.scroll_id,
            page=place.page,
            exclude_seen=ask.exclude_seen,
        )
        call_id = await admit_raw_call(ctx, CallKind.SEARCH, asked)

    async def answer(later: Context) -> PeopleFound:
        result = await calls.collect(later.session, later.vault, call_id, SearchResult)
        following = (result.scroll_id, result.page + 1) if result.more else None
        return await _found(later, ask, result, cursors.write(following))

    return after_call(call_id, answer)


@operation(
    "people.fetch",
    scope=Scope.SOURCING_SPEND,
    effect=Effect.SPEND,
    route=RAW.post(
        "/people:fetch",
        other=OtherAnswer(
            202,
            JobView,
            "The job that fetches them.",
            applies=lambda answer: isinstance(answer, JobView),
            location="/jobs/{answer.id}",
        ),
    ),
)
async def fetch_people(
    ctx: Context, ask: FetchPeople
) -> PeopleFetched | PricePreview | JobView | Awaited[PeopleFetched]:
    """Full profiles of up to 100 people, by id or profile URL. Preview the price with `?dry_run=true`."""
    asked = ask.asked()
    call_id = None if ctx.dry_run else await calls.find_open_call(ctx.session, ctx.use)
    if call_id is None:
        standings = await fetch.read_fetch_inputs(ctx.session, ctx.vault, ctx.tenant, asked)
        live = sum(standing.status is None for standing in standings)
        price = await credits.check_funds(ctx, prices.LIVE_PROFILE * live)
        if ctx.dry_run:
            return price
        if ask.in_background:
            return await _begin_job(ctx, ask)
        known = await fetch.from_cache(ctx.session, ctx.vault, ctx.tenant, asked) if live == 0 else None
        if known is not None:
            ctx.about |= fetch.marks_of_fetch(ctx.vault, asked)
            return _fetched(known, ask)
        call_id = await admit_raw_call(ctx, CallKind.FETCH, asked, about=fetch.marks_of_fetch(ctx.vault, asked))

    async def answer(later: Context) -> PeopleFetched:
        result = await calls.collect(later.session, later.vault, call_id, FetchResult)
        later.about |= fetch.marks_of_fetch(later.vault, asked)
        return _fetched(await _without_suppressed(later, result), ask)

    return after_call(call_id, answer)


async def _begin_job(ctx: Context, ask: FetchPeople) -> JobView:
    job = await jobs.create_job(
        ctx.session, ctx.vault, ctx.tenant, api_key_id=ctx.caller.api_key_id, ask=ask.asked(), view=ask.view
    )
    ctx.woken.append(jobs.job_subject(job.id))
    return JobView.of(job, {})


async def _without_suppressed(ctx: Context, result: FetchResult) -> FetchResult:
    """Return the result as shown now: nothing of a person suppressed since the charge."""
    ids = {row.profile_id for row in result.rows if row.profile_id is not None and row.profile is not None}
    gone = ids - await _allowed(ctx, ids)
    hidden = {"status": RowStatus.SUPPRESSED, "profile": None}
    return FetchResult(
        rows=tuple(row.model_copy(update=hidden) if row.profile_id in gone else row for row in result.rows)
    )


def _fetched(result: FetchResult, ask: FetchPeople) -> PeopleFetched:
    return PeopleFetched(
        data=[FetchedPerson.of(row, ask.view) for row in result.rows],
        charged_credits=sum(row.charged_credits for row in result.rows),
    )


@operation("people.match", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND, route=RAW.post("/people:match"))
async def match_person(ctx: Context, ask: MatchPerson) -> PersonMatched | PricePreview | Awaited[PersonMatched]:
    """One person by name and employer, never a guess. Preview the price with `?dry_run=true`."""
    call_id = None if ctx.dry_run else await calls.find_open_call(ctx.session, ctx.use)
    if call_id is None:
        price = await credits.check_funds(ctx, prices.MOST_PER_PERSON)
        if ctx.dry_run:
            return price
        asked = MatchAsk(
            name=ask.name,
            companies=(await _employer(ctx, ask),),
            location_id=ask.location_id,
            url=canonical_profile_url(ask.profile_url) if ask.profile_url else None,
            min_confidence=ask.min_confidence,
        )
        about = {suppressions.mark_of_key(people.url_hash(ctx.vault, asked.url))} if asked.url is not None else set()
        call_id = await admit_raw_call(ctx, CallKind.MATCH, asked, about=about)

    async def answer(later: Context) -> PersonMatched:
        result = await calls.collect(later.session, later.vault, call_id, MatchResult)
        allowed = await _allowed(later, {each.person for each in result.alternatives} | _ids(result.profile))
        if result.profile is not None and result.profile.id not in allowed:
            raise Suppressed(status=409)
        left = [each for each in result.alternatives if each.person in allowed]
        later.about |= {each.person for each in left}
        alternatives = [each.model_dump(exclude={"person"}) for each in left]
        return PersonMatched.model_validate(
            result.model_dump() | {"match": result.profile, "alternatives": alternatives}
        )

    return after_call(call_id, answer)


def _ids(profile: Profile | None) -> set[str]:
    return set() if profile is None else {profile.id}


async def _allowed(ctx: Context, ids: Collection[str]) -> set[str]:
    """Who of these people may be shown to the caller now."""
    known = await people.known_people(ctx.session, ctx.tenant, ids, run_id="")
    return {one for one, each in known.items() if not each.suppressed}


async def _employer(ctx: Context, ask: MatchPerson) -> str:
    if ask.company_id is not None:
        company = await company_of(ctx, ask.company_id, field="company_id")
        return company.domain or company.name
    return ask.domain or ask.company or ""


async def admit_raw_call(ctx: Context, kind: CallKind, asked: Kept, *, about: Collection[str] = ()) -> str:
    """Queue an upstream call for this caller, with the marks of people whom it names."""
    key_id = ctx.caller.api_key_id
    return await calls.admit_call(ctx.session, ctx.vault, ctx.use, api_key_id=key_id, kind=kind, ask=asked, about=about)


async def _applicable(ctx: Context, ask: SearchPeople) -> PeopleFilters:
    """The filters. Raises `UnsupportedFilter` for what the source cannot apply, before anything is asked of it."""
    filters = ask.filters.filters()
    refused = ctx.reference.knowledge.source.inapplicable(filters)
    if refused is not None:
        told = {} if refused.value is None else {"value": refused.value}
        raise UnsupportedFilter("The people source cannot apply this.", field=f"filters.{refused.field}", **told)
    if not any(value not in (None, ()) for _, value in filters):
        raise InvalidRequest("Give at least one filter.", field="filters")
    named = ("company_ids", "exclude_company_ids", "past_company_ids")
    await check_companies(ctx, {f"filters.{field}": getattr(filters, field) for field in named})
    return filters


def _cursors(ctx: Context, ask: SearchPeople) -> Cursors:
    filters = {"filters": ask.filters.model_dump(mode="json", exclude_unset=True), "exclude_seen": ask.exclude_seen}
    return Cursors(ctx.vault.keyed_hash("cursor", "tag"), list_name=f"{SEARCH}/{ctx.tenant.id}", filters=filters)


async def _place(ctx: Context, ask: SearchPeople, cursors: Cursors) -> _Place:
    position = cursors.read(ask.cursor)
    if position is None:
        return _Place(new_id("scroll", ctx.now), 0)
    scroll_id, page = str(position[0]), int(str(position[1]))
    if await search.page_before(ctx.session, ctx.tenant, scroll_id, page) is None:
        raise InvalidRequest("This search is over: begin it again without a cursor.", field="cursor")
    return _Place(scroll_id, page)


async def _found(ctx: Context, ask: SearchPeople, result: SearchResult, next_cursor: str | None) -> PeopleFound:
    """Return the page as shown now, without people suppressed since the charge."""
    shown = await _allowed(ctx, {row.profile_id for row in result.rows})
    allowed = [row for row in result.rows if row.profile_id in shown]
    return PeopleFound(
        data=await _shown(ctx, ask.view, allowed),
        next_cursor=next_cursor,
        has_more=next_cursor is not None,
        omitted=PageOmitted(
            suppressed=result.suppressed + len(result.rows) - len(allowed),
            duplicates=result.duplicates,
            seen=result.seen if ask.exclude_seen else None,
        ),
        charged_credits=result.charged_credits,
    )


async def _shown(ctx: Context, view: CandidateShape, found: list[FoundRow]) -> list[FullPerson | PersonRow]:
    shown: list[FullPerson | PersonRow] = [PersonRow.of(row) for row in found]
    if view is CandidateShape.COMPACT:
        return shown
    copies = await profiles.readable_profiles(ctx.session, ctx.tenant, [row.profile_id for row in found])
    return [FullPerson(**dict(row), profile=copies.get(row.id)) for row in shown]


@operation("companies.fetch", scope=Scope.SOURCING_SPEND, effect=Effect.SPEND, route=RAW.post("/companies:fetch"))
async def fetch_companies(
    ctx: Context, ask: FetchCompanies
) -> CompaniesFetched | PricePreview | Awaited[CompaniesFetched]:
    """Up to 25 companies, looked up live by id, domain or name. Preview the price with `?dry_run=true`."""
    asked = ask.asked()
    call_id = None if ctx.dry_run else await calls.find_open_call(ctx.session, ctx.use)
    if call_id is None:
        standings = await fetch.read_company_inputs(ctx.session, asked)
        live = sum(standing.status is None for standing in standings)
        price = await credits.check_funds(ctx, prices.LIVE_COMPANY * live)
        if ctx.dry_run:
            return price
        if live == 0:
            return _fetched_companies(fetch.company_results(standings))
        call_id = await admit_raw_call(ctx, CallKind.COMPANIES, asked)

    async def answer(later: Context) -> CompaniesFetched:
        return _fetched_companies(await calls.collect(later.session, later.vault, call_id, CompaniesResult))

    return after_call(call_id, answer)


def _fetched_companies(result: CompaniesResult) -> CompaniesFetched:
    return CompaniesFetched(
        data=[FetchedCompany.of(row) for row in result.rows],
        charged_credits=sum(row.charged_credits for row in result.rows),
    )
