"""Synchronous upstream calls: their kinds and states, how many may wait, and what each is asked and answers.

Asks and results name people: they are kept sealed, and only until the answer has been handed over.
"""

from datetime import timedelta
from enum import StrEnum

from models.base.values import Kept
from models.market.companies import CompanyDetails, company_key, plain_domain
from models.people.rules.profiles import Profile
from models.sourcing.rules.filters import PeopleFilters

MOST_WAITING = 10
"""Calls that may wait for a free slot in the whole installation (architecture, "Upstream calls")."""
MOST_WAITING_OF_WORKSPACE = 5
WAIT_SECONDS = 50
"""How long a caller is kept waiting for its answer; the idempotency lease is 60 s."""
RUN_SECONDS = 130
"""A call that has run for so long without an end is lost: a repeat makes a new one."""
BUSY_RETRY_SECONDS = 5
SCROLL_LIFE = timedelta(days=30)


class CallKind(StrEnum):
    """What is asked of the people source."""

    SEARCH = "search"
    FETCH = "fetch"
    MATCH = "match"
    COMPANIES = "companies"


class CallStatus(StrEnum):
    """`waiting` for a slot, `running`, `done` with its result, `collected` once answered, `failed` with its error."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    COLLECTED = "collected"
    FAILED = "failed"


OPEN = (CallStatus.WAITING, CallStatus.RUNNING, CallStatus.DONE)
"""States in which a repeat with the same key attaches to the call."""


class SearchAsk(Kept):
    """A page of a raw search. `scroll_id` and `page` (0-based) name it; `limit` is 1–100 people."""

    filters: PeopleFilters
    limit: int
    scroll_id: str
    page: int = 0
    exclude_seen: bool = False


class FoundRow(Kept):
    """A person as a search shows them."""

    profile_id: str
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    profile_url: str | None


class SearchResult(Kept):
    """A page: the people left after sorting out, and how many were left out for what reason."""

    scroll_id: str
    page: int
    rows: tuple[FoundRow, ...]
    suppressed: int
    duplicates: int
    seen: int
    charged_credits: int
    more: bool


class MatchAsk(Kept):
    """One person by name and company. `url` is a canonical profile URL, `min_confidence` between 0 and 1."""

    name: str
    companies: tuple[str, ...]
    location_id: str | None = None
    url: str | None = None
    min_confidence: float


class Alternative(Kept):
    """A person it could have been."""

    person: str
    full_name: str | None
    title: str | None
    company: str | None


class MatchResult(Kept):
    """The person meant; null when it is unclear, with the people it could have been."""

    profile: Profile | None
    confidence: float | None
    matched_on: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    charged_credits: int


class RowStatus(StrEnum):
    """What became of one person asked for (contract, section 5 "Raw layer")."""

    FOUND = "found"
    CACHED = "cached"
    NOT_FOUND = "not_found"
    SUPPRESSED = "suppressed"
    DUPLICATE = "duplicate"
    ERROR = "error"


class WantedPerson(Kept):
    """One person asked for, as given: by our id, or by a profile URL (`url` is its canonical spelling)."""

    input: str
    profile_id: str | None = None
    url: str | None = None


class FetchAsk(Kept):
    """Profiles to give in input order; copies fetched at most `max_age_days` ago count as cached."""

    wanted: tuple[WantedPerson, ...]
    max_age_days: int


class FetchedRow(Kept):
    """What became of one input. `profile` comes with `found` and `cached`; `input` is null once they are erased."""

    input: str | None
    status: RowStatus
    profile_id: str | None = None
    profile: Profile | None = None
    charged_credits: int = 0


class FetchResult(Kept):
    """One row for each input, in input order."""

    rows: tuple[FetchedRow, ...]


# Looking companies up live: what is asked, what a source says of a company, and what becomes of each input.


MOST_COMPANIES = 25


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
    """Return whether a source answered with the company asked for: its best match can be another firm."""
    if domain is not None:
        at = plain_domain(found.domain or "")
        return at == domain or (bool(at) and domain.endswith(f".{at}"))
    asked = company_key(name or "")
    return any(company_key(each) == asked for each in (found.name, *other_names))
