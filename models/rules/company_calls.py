"""Looking companies up live: what is asked, what a source says of a company, and what becomes of each input."""

from datetime import timedelta
from enum import StrEnum

from models.rules.companies import company_key, plain_domain
from models.rules.raw_calls import Kept

MOST_COMPANIES = 25
COMPANY_LIFE = timedelta(days=30)
"""How long a company that was looked up is known without asking again, as with profiles."""


class CompanyStatus(StrEnum):
    """What became of one company asked for. Only `found` costs."""

    FOUND = "found"
    CACHED = "cached"
    NOT_FOUND = "not_found"
    DUPLICATE = "duplicate"


class WantedCompany(Kept):
    """One company asked for, as given: by our id, by a plain domain, or by name. `shipped` is whether the id is."""

    input: str
    company_id: str | None = None
    shipped: bool = False
    domain: str | None = None
    name: str | None = None


class CompaniesAsk(Kept):
    """Companies to look up, in input order."""

    wanted: tuple[WantedCompany, ...]


class CompanyDetails(Kept):
    """What a source says of a company. `size` is a range of people, `founded` a year; both null where not said."""

    name: str
    domain: str | None = None
    country_code: str | None = None
    industry: str | None = None
    size: str | None = None
    founded: int | None = None
    type: str | None = None
    location: str | None = None


class CompanyRow(Kept):
    """What became of one input. `company_id` and `details` come with `found` and `cached`."""

    input: str
    status: CompanyStatus
    company_id: str | None = None
    details: CompanyDetails | None = None
    charged_credits: int = 0


class CompaniesResult(Kept):
    """One row for each input, in input order."""

    rows: tuple[CompanyRow, ...]


def agrees(*, domain: str | None, name: str | None, found: CompanyDetails, other_names: tuple[str, ...]) -> bool:
    """Whether what a source answered is what was asked for: its best match can be another firm, never a guess."""
    if domain is not None:
        at = plain_domain(found.domain or "")
        return at == domain or (bool(at) and domain.endswith(f".{at}"))
    asked = company_key(name or "")
    return any(company_key(each) == asked for each in (found.name, *other_names))
