"""Company records of People Data Labs, in our terms."""

from typing import Any

from activities.upstream.people_data_labs import letter_case
from activities.upstream.people_data_labs.records import COUNTRY_CODES, Record, cased, line, lines
from activities.upstream.ports.people import CompanyClue, FoundCompany, SourceUnusable
from models.market.companies import CompanyDetails, plain_domain

LONGEST_ID = 200
FIRST_YEAR, LAST_YEAR = 1000, 2200


def question(clue: CompanyClue, *, min_likelihood: int) -> dict[str, str]:
    """Return the parameters of one question: by the source's id, else by domain, else by name and country."""
    likely = {"min_likelihood": str(min_likelihood)}
    if clue.source_id is not None:
        return {"pdl_id": clue.source_id} | likely
    if clue.domain is not None:
        return {"website": clue.domain} | likely
    country = {"country": clue.country} if clue.country is not None else {}
    return {"name": clue.name or ""} | country | likely


def found_company(record: Any) -> FoundCompany:  # noqa: ANN401 - JSON
    """Return the company of an answer, whose fields are at the top level. Raises `SourceUnusable` for other shapes."""
    if not isinstance(record, dict):
        raise SourceUnusable("the company answer has another shape")
    name, source_id = cased(record.get("display_name") or record.get("name"), letter_case.company), record.get("id")
    if name is None or not isinstance(source_id, str) or not 0 < len(source_id) <= LONGEST_ID:
        raise SourceUnusable("the company answer has another shape")
    others = [line(record.get("name")), *lines(record.get("alternative_names"))]
    return FoundCompany(
        source_id=source_id,
        details=CompanyDetails(
            name=name,
            domain=plain_domain(line(record.get("website")) or "") or None,
            country_code=_country_code(record),
            industry=line(record.get("industry")),
            size=line(record.get("size")),
            founded=_year(record.get("founded")),
            type=line(record.get("type")),
            location=cased(_location(record).get("name"), letter_case.place),
        ),
        other_names=tuple(other for other in others if other is not None),
    )


def _location(record: Record) -> Record:
    location = record.get("location")
    return location if isinstance(location, dict) else {}


def _country_code(record: Record) -> str | None:
    country = line(_location(record).get("country"))
    return COUNTRY_CODES.get(country.lower()) if country else None


def _year(value: Any) -> int | None:  # noqa: ANN401 - JSON
    return value if isinstance(value, int) and FIRST_YEAR <= value <= LAST_YEAR else None
