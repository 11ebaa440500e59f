"""Routes of the raw layer."""

from starlette.responses import Response

from api.kernel.routing import Invoke, Router
from api.sourcing import companies, raw
from api.sourcing.companies_schemas import CompaniesFetched, FetchCompanies
from api.sourcing.jobs_schemas import JobView
from api.sourcing.raw_schemas import (
    FetchPeople,
    MatchPerson,
    PeopleFetched,
    PeopleFound,
    PersonMatched,
    PricePreview,
    SearchPeople,
)

router = Router(tags=["Raw layer"])


@router.post("/people/search", operation_id="people.search", response_model=PeopleFound | PricePreview)
async def search_people(ask: SearchPeople, invoke: Invoke) -> Response:
    """Search the people source with its own filters, one to one. Preview the price with `?dry_run=true`."""
    return await invoke(raw.search_people, ask)


@router.post(
    "/people:fetch",
    operation_id="people.fetch",
    response_model=PeopleFetched | PricePreview,
    responses={202: {"model": JobView, "description": "The job that fetches them."}},
)
async def fetch_people(ask: FetchPeople, invoke: Invoke) -> Response:
    """Full profiles of up to 100 people, by id or profile URL. Preview the price with `?dry_run=true`."""
    return await invoke(
        raw.fetch_people,
        ask,
        status=lambda answer: 202 if isinstance(answer, JobView) else 200,
        location=lambda answer: f"/v1/jobs/{answer.id}" if isinstance(answer, JobView) else None,
    )


@router.post("/companies:fetch", operation_id="companies.fetch", response_model=CompaniesFetched | PricePreview)
async def fetch_companies(ask: FetchCompanies, invoke: Invoke) -> Response:
    """Up to 25 companies, looked up live by id, domain or name. Preview the price with `?dry_run=true`."""
    return await invoke(companies.fetch_companies, ask)


@router.post("/people:match", operation_id="people.match", response_model=PersonMatched | PricePreview)
async def match_person(ask: MatchPerson, invoke: Invoke) -> Response:
    """One person by name and employer, never a guess. Preview the price with `?dry_run=true`."""
    return await invoke(raw.match_person, ask)
