"""What operations of the raw layer ask and answer: searches, fetches, matches, jobs and contact lookups."""

import re
from collections.abc import Iterator
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from api.kernel.schemas import Answer, Ask, Name
from api.sourcing.plans_schemas import Country, KnownCompany, KnownLanguage, KnownPlace
from api.sourcing.runs_schemas import CandidateShape, WouldFail
from models.base.errors import InvalidRequest, UnsupportedFilter
from models.base.values import ProfileId, Time
from models.market.companies import plain_domain
from models.people.rules.identity import MAX_URL_LENGTH, InvalidProfileUrl, canonical_profile_url
from models.people.rules.profiles import Profile
from models.reading.protected import never_searched, protected_kind
from models.sourcing.engine.contacts import ContactRow
from models.sourcing.rules.filters import PeopleFilters
from models.sourcing.rules.jobs import FAILURE_MESSAGES, ContactKind, ContactStatus, JobFailure, JobStatus
from models.sourcing.rules.raw_calls import FetchAsk, FetchedRow, FoundRow, RowStatus, WantedPerson
from models.sourcing.tables import ContactLookup, Job

MOST_FETCHED = 100
DOMAIN = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{1,62}")


class SearchFilters(PeopleFilters):
    """What people are searched by. A key that is not known is an unsupported filter, never ignored."""

    model_config = ConfigDict(extra="allow", frozen=True, json_schema_extra={"additionalProperties": False})

    location_ids: tuple[KnownPlace, ...] = Field(default=(), max_length=2000)
    exclude_location_ids: tuple[KnownPlace, ...] = Field(default=(), max_length=2000)
    countries: tuple[Country, ...] = Field(default=(), max_length=60)
    company_ids: tuple[KnownCompany, ...] = Field(default=(), max_length=200)
    exclude_company_ids: tuple[KnownCompany, ...] = Field(default=(), max_length=200)
    past_company_ids: tuple[KnownCompany, ...] = Field(default=(), max_length=200)
    languages: tuple[KnownLanguage, ...] = Field(default=(), max_length=20)

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.model_extra:
            name = next(iter(self.model_extra))
            raise UnsupportedFilter("This filter is not known.", field=f"filters.{name}")
        for field, value in self._words():
            if kind := protected_kind(value):
                raise UnsupportedFilter(never_searched(value, kind), field=f"filters.{field}")
        return self

    def _words(self) -> Iterator[tuple[str, str]]:
        """Yield the values that are words of the caller, each with its field."""
        given = {"languages": self.languages, "degrees": self.degrees, "majors": self.majors}
        if self.titles:
            given |= {"titles.include": self.titles.include, "titles.exclude": self.titles.exclude}
        if self.skills:
            given |= {f"skills.{name}": getattr(self.skills, name) for name in ("all", "any", "exclude")}
        if self.keywords:
            given["keywords"] = (self.keywords,)
        return ((field, value) for field, values in given.items() for value in values)

    def filters(self) -> PeopleFilters:
        """The same, as a source takes it."""
        return PeopleFilters.model_validate(self.model_dump(exclude_unset=True))


class SearchPeople(Ask):
    """A page of a search of the people source, 1–100 people at a time."""

    filters: SearchFilters
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    cursor: Annotated[str, Field(max_length=2000)] | None = Field(
        default=None, description="`next_cursor` of the previous page of this search."
    )
    view: CandidateShape = Field(
        default=CandidateShape.FULL, description="`full` adds the profile where you have a cached copy."
    )
    exclude_seen: bool = Field(default=False, description="Leave out people of the seen register.")


def _address(url: str) -> str:
    try:
        canonical_profile_url(url)
    except InvalidProfileUrl as error:
        raise ValueError(f"is not a profile URL: {error}") from error
    return url


def plain_domain_of(text: str) -> str:
    """The plain domain of a domain, URL or mail address. Raises `ValueError`."""
    domain = plain_domain(text)
    if not DOMAIN.fullmatch(domain):
        raise ValueError("is not a domain")
    return domain


ProfileUrl = Annotated[str, Field(max_length=MAX_URL_LENGTH), AfterValidator(_address)]
"""Any spelling of the address of a public profile."""


class FetchPeople(Ask):
    """1–100 people, by our ids, by profile URLs, or both; answered ids first, then URLs, each in the order given."""

    profile_ids: tuple[ProfileId, ...] = Field(default=(), max_length=MOST_FETCHED)
    profile_urls: tuple[ProfileUrl, ...] = Field(default=(), max_length=MOST_FETCHED)
    max_age_days: Annotated[int, Field(ge=0, le=30)] = Field(
        default=30, description="A copy fetched this long ago at most is given, free; 0 fetches everybody live."
    )
    view: CandidateShape = CandidateShape.FULL
    in_background: bool = Field(
        default=False, alias="async", description="Answer 202 with a job; its end is told by an event."
    )

    @model_validator(mode="after")
    def _counted(self) -> Self:
        if not 1 <= len(self.profile_ids) + len(self.profile_urls) <= MOST_FETCHED:
            field = "profile_urls" if self.profile_urls else "profile_ids"
            raise InvalidRequest(f"Give 1 to {MOST_FETCHED} people.", field=field)
        return self

    def asked(self) -> FetchAsk:
        """The same, as it is kept with the call."""
        by_id = [WantedPerson(input=one, profile_id=one) for one in self.profile_ids]
        by_url = [WantedPerson(input=one, url=canonical_profile_url(one)) for one in self.profile_urls]
        return FetchAsk(wanted=(*by_id, *by_url), max_age_days=self.max_age_days)


class MatchPerson(Ask):
    """One person by name and employer; a place and a profile URL make it surer."""

    full_name: Name | None = None
    first_name: Name | None = None
    last_name: Name | None = None
    company: Name | None = None
    company_id: KnownCompany | None = None
    domain: Annotated[Name, AfterValidator(plain_domain_of)] | None = Field(
        default=None, description="The employer's domain, also as a URL or mail address."
    )
    location_id: KnownPlace | None = None
    profile_url: ProfileUrl | None = None
    min_confidence: Annotated[float, Field(ge=0, le=1)] = 0.6

    @model_validator(mode="after")
    def _said_once(self) -> Self:
        parts = self.first_name is not None and self.last_name is not None
        if self.full_name is None and not parts:
            raise InvalidRequest("Give full_name, or first_name and last_name.", field="full_name")
        if self.full_name is not None and (self.first_name or self.last_name):
            raise InvalidRequest("Give full_name, or first_name and last_name, not both.", field="full_name")
        given = [name for name in ("company", "company_id", "domain") if getattr(self, name) is not None]
        if len(given) != 1:
            raise InvalidRequest("Give one of company, company_id and domain.", field=given[1] if given else "company")
        return self

    @property
    def name(self) -> str:
        """The whole name."""
        return self.full_name or f"{self.first_name} {self.last_name}"


class PersonRow(Answer):
    """A person in one flat row; what the source does not say is null. `id` and `profile_id` are the same."""

    id: str
    object: Literal["person"] = "person"
    profile_id: str
    full_name: str | None
    title: str | None
    company: str | None
    location: str | None
    profile_url: str | None

    @classmethod
    def of(cls, row: FoundRow) -> "PersonRow":
        """The row as shown."""
        return cls(id=row.profile_id, **row.model_dump())

    @classmethod
    def of_profile(cls, profile: Profile) -> "PersonRow":
        """A profile in one row."""
        current = profile.current
        return cls(
            id=profile.id,
            profile_id=profile.id,
            full_name=profile.full_name,
            title=current.title if current else None,
            company=current.company if current else None,
            location=profile.location.label,
            profile_url=profile.profile_url,
        )


class FullPerson(PersonRow):
    """A person with the profile, null when the caller has no cached copy."""

    profile: Profile | None


class PageOmitted(Answer):
    """How many people of the page are left out. `seen` only counts with `exclude_seen`."""

    suppressed: int
    duplicates: int
    seen: int | None = None


class PeopleFound(Answer):
    """A page of a search, and what it cost."""

    object: Literal["list"] = "list"
    data: list[FullPerson | PersonRow]
    next_cursor: str | None
    has_more: bool
    omitted: PageOmitted
    charged_credits: int


class FetchedPerson(Answer):
    """What became of one input: `profile` comes with `found` and `cached`, in the view asked for."""

    object: Literal["fetched_person"] = "fetched_person"
    input: str | None = Field(description="As it was given; null in the results of a job once the person is erased.")
    profile_id: str | None
    status: RowStatus
    profile: Profile | PersonRow | None
    charged_credits: int

    @classmethod
    def of(cls, row: FetchedRow, view: CandidateShape) -> "FetchedPerson":
        """The row as shown."""
        profile: Profile | PersonRow | None = row.profile
        if row.profile is not None and view is CandidateShape.COMPACT:
            profile = PersonRow.of_profile(row.profile)
        return cls(
            input=row.input,
            profile_id=row.profile_id,
            status=row.status,
            profile=profile,
            charged_credits=row.charged_credits,
        )


class PeopleFetched(Answer):
    """One row for each input, in input order."""

    object: Literal["list"] = "list"
    data: list[FetchedPerson]
    charged_credits: int


class AlternativePerson(Answer):
    """Another person who could be meant."""

    full_name: str | None
    title: str | None
    company: str | None


class PersonMatched(Answer):
    """The person found. `match` is null if no person clearly stands out; `alternatives` lists the candidates."""

    object: Literal["match"] = "match"
    match: Profile | None
    confidence: float | None
    matched_on: list[str]
    alternatives: list[AlternativePerson]
    charged_credits: int


class PricePreview(Answer):
    """The most that a call can cost, and whether it could be paid now."""

    object: Literal["price"] = "price"
    max_credits: int
    required_credits: int
    balance_credits: int
    would_fail: WouldFail | None
    next_available_at: Time | None


class JobFailureView(Answer):
    """Why it failed."""

    code: JobFailure
    message: str


class JobView(Answer):
    """A job; `counts` is of its inputs by status."""

    id: str
    object: Literal["job"] = "job"
    type: Literal["people_fetch"] = "people_fetch"
    status: JobStatus
    failure: JobFailureView | None
    retry_at: Time | None
    total: int
    counts: dict[str, int]
    spent_credits: int
    created_at: Time
    finished_at: Time | None

    @classmethod
    def of(cls, row: Job, counts: dict[str, int]) -> "JobView":
        """The row as shown."""
        code = None if row.failure_code is None else JobFailure(row.failure_code)
        return cls(
            id=row.id,
            status=JobStatus(row.status),
            failure=JobFailureView(code=code, message=FAILURE_MESSAGES[code]) if code else None,
            retry_at=row.retry_at,
            total=row.total,
            counts=counts,
            spent_credits=row.spent_credits,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )


class ResultsQuery(Ask):
    """Which results to show, in input order."""

    cursor: Annotated[str, Field(max_length=2000)] | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 25
    view: CandidateShape | None = Field(default=None, description="By default the view the job was started with.")


class ListResults(ResultsQuery):
    """The results of one job."""

    job_id: str


class FetchContacts(Ask):
    """Whose details, and which kinds. A person given twice is looked up once."""

    profile_ids: Annotated[tuple[ProfileId, ...], Field(min_length=1, max_length=100)]
    want: Annotated[tuple[ContactKind, ...], Field(min_length=1, max_length=2)]


class ContactView(Answer):
    """One person and kind; `status` is null while it is looked for."""

    object: Literal["contact"] = "contact"
    profile_id: str
    kind: ContactKind
    status: ContactStatus | None
    values: list[str]
    charged_credits: int


class ContactLookupView(Answer):
    """A lookup and what it has found so far, people in the order asked."""

    id: str
    object: Literal["contact_lookup"] = "contact_lookup"
    status: JobStatus
    failure: JobFailureView | None
    retry_at: Time | None
    contacts: list[ContactView]
    spent_credits: int
    created_at: Time
    finished_at: Time | None

    @classmethod
    def of(cls, row: ContactLookup, found: list[ContactRow]) -> "ContactLookupView":
        """The lookup as shown."""
        code = None if row.failure_code is None else JobFailure(row.failure_code)
        return cls(
            id=row.id,
            status=JobStatus(row.status),
            failure=JobFailureView(code=code, message=FAILURE_MESSAGES[code]) if code else None,
            retry_at=row.retry_at,
            contacts=[
                ContactView(
                    profile_id=each.profile_id,
                    kind=each.kind,
                    status=each.status,
                    values=list(each.values),
                    charged_credits=each.charged_credits,
                )
                for each in found
            ],
            spent_credits=row.spent_credits,
            created_at=row.created_at,
            finished_at=row.finished_at,
        )
