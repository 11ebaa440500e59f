"""What the service asks of a people source, in our own terms; each provider has one adapter."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from models.market.companies import CompanyDetails
from models.people.rules.profiles import Profile
from models.sourcing.rules.filters import PeopleFilters


@dataclass(frozen=True, slots=True)
class PlaceNames:
    """A location id in the words sources use: English names; `city` is null for a region or country."""

    city: str | None
    region: str | None
    country_code: str
    country: str


@dataclass(frozen=True, slots=True)
class CompanyNames:
    """A company id in the words sources use."""

    name: str
    domains: tuple[str, ...] = ()
    provider_ids: tuple[str, ...] = ()


class Directory(Protocol):
    """Translates our ids for an adapter. The caller has loaded what it needs, so nothing here waits.

    Each raises `KeyError` for an id it does not know.
    """

    def place(self, location_id: str) -> PlaceNames:
        """Names of `loc_…`."""
        ...

    def company(self, company_id: str) -> CompanyNames:
        """Names, domains and provider ids of `co_…`."""
        ...

    def source_ids(self, profile_id: str) -> tuple[str, ...]:
        """The source's ids of `prof_…`; empty when the source never named that person."""
        ...

    def location_id(self, *, city: str | None, region: str | None, country_code: str | None) -> str | None:
        """The `loc_…` of a place the source named, when it is unambiguous."""
        ...


@dataclass(frozen=True, slots=True)
class FoundPerson:
    """A person as a search shows them: enough to recognise, and to put the people of a page in order.

    `profile` holds as much as the search told, without our id; null when it told nothing more.
    """

    source_id: str
    profile_url: str | None
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True)
class SearchPage:
    """One page of a search; `next_token` is null on the last one, `total` null when the source does not say."""

    people: tuple[FoundPerson, ...]
    next_token: str | None
    total: int | None


class FetchStatus(StrEnum):
    """What became of one asked profile."""

    FOUND = "found"
    NOT_FOUND = "not_found"
    RETRY = "retry"  # this one item was refused for now; the others of the call stand


@dataclass(frozen=True, slots=True)
class FetchedProfile:
    """One asked profile. `profile.id` is empty until the profile is stored.

    `asked` is what was asked with: the source's id, or a canonical profile URL. `source_id` is the source's current
    id; it differs from the asked one when two records were merged.
    """

    asked: str
    status: FetchStatus
    source_id: str | None = None
    profile: Profile | None = None


@dataclass(frozen=True, slots=True)
class PersonClues:
    """What is known of one person: a name, names or domains of an employer, a place, a canonical profile URL."""

    name: str
    companies: tuple[str, ...]
    place: PlaceNames | None = None
    profile_url: str | None = None


@dataclass(frozen=True, slots=True)
class MatchCandidate:
    """A person whom the clues can mean: the source's confidence (0 to 1), and the clues that agree (`name`, …)."""

    source_id: str
    confidence: float
    matched_on: tuple[str, ...]
    profile: Profile


class PeopleSource(Protocol):
    """A provider of public professional profiles. Calls are reads: repeating one changes nothing there.

    Errors: `SourceBusy`, `SourceUnusable`, `SourceNotConfigured`, `SourceRefusedQuery`.
    """

    name: str

    async def search(self, filters: PeopleFilters, directory: Directory, *, size: int, token: str | None) -> SearchPage:
        """One page of at most `size` (1–100) people; the same filters with `token` give the next page."""
        ...

    async def fetch(self, asked: Sequence[str], directory: Directory) -> tuple[FetchedProfile, ...]:
        """Full profiles of 1–100 people, in the order asked: by the source's ids or by canonical profile URLs."""
        ...

    async def identify(self, clues: PersonClues, directory: Directory) -> tuple[MatchCandidate, ...]:
        """Return the people whom the clues can mean, the likeliest first."""
        ...


@dataclass(frozen=True, slots=True)
class FoundContacts:
    """Contact details of one asked person; what the source withholds is missing."""

    asked: str
    status: FetchStatus
    emails: tuple[str, ...] = ()
    phones: tuple[str, ...] = ()


class ContactsSource(Protocol):
    """A provider of e-mail addresses and telephone numbers. Errors as those of a people source."""

    name: str

    async def contacts(self, source_ids: Sequence[str]) -> tuple[FoundContacts, ...]:
        """Contact details of 1–100 people, in the order asked."""
        ...


@dataclass(frozen=True, slots=True)
class CompanyClue:
    """One company to look up: by the source's id, by a plain domain, or by name and the country's English name."""

    source_id: str | None = None
    domain: str | None = None
    name: str | None = None
    country: str | None = None


@dataclass(frozen=True, slots=True)
class FoundCompany:
    """The source's best match for a clue, whether or not it is the company meant."""

    source_id: str
    details: CompanyDetails
    other_names: tuple[str, ...] = ()


class CompaniesSource(Protocol):
    """A provider of companies. Errors as those of a people source."""

    name: str

    async def companies(self, clues: Sequence[CompanyClue]) -> tuple[FoundCompany | None, ...]:
        """The best match for each clue, in the order given; null where there is none."""
        ...


class OptOutFeed(Protocol):
    """A provider that tells who opted out there. Errors as those of a people source, and `FeedUnavailable`."""

    name: str

    def opted_out(self, *, at_once: int) -> AsyncIterator[list[str]]:
        """The source's ids of everybody, in parts of at most `at_once`. What came before an error is valid."""
        ...


class PeopleAndMoreSource(PeopleSource, ContactsSource, CompaniesSource, OptOutFeed, Protocol):
    """A provider of people, their contact details, companies, and opt-outs."""


class SourceError(Exception):
    """A people source could not answer. Messages carry no personal data."""


@dataclass
class SourceBusy(SourceError):
    """The source is busy, out of reach or out of its own credits; nothing was delivered.

    `retry_at` is wall time as the source announced it, null when it said nothing. `status` is the documented HTTP
    status of `upstream_busy`: 502 timed out, 503 busy.
    """

    reason: str
    retry_at: datetime | None = None
    status: int = 503
    cooldown_seconds: float | None = field(default=None)

    def __post_init__(self) -> None:
        super().__init__(self.reason)


class SourceNotConfigured(SourceBusy):
    """Our key is missing, refused or has no credits: an operator has to act. Ask again in a quarter of an hour."""


class FeedUnavailable(SourceError):
    """Our plan with the source has no such feed: nothing is wrong, and nothing is to be had."""


class SourceUnusable(SourceError):
    """The source answered with something unusable (not JSON, wrong shape, too large)."""


class SourceRefusedQuery(SourceError):
    """The source refused a query that we built."""


class TokenRefused(SourceRefusedQuery):
    """The source no longer knows the page token: start the search again and skip people already seen."""
