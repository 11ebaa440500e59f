"""What lookups ask and answer, and companies that are looked up live."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from api.kernel.schemas import Answer, Ask, Name
from api.sourcing.plans_schemas import Country, KnownAnchor
from api.sourcing.raw_schemas import plain_domain_of
from models.base.errors import InvalidRequest
from models.base.values import CompanyId
from models.market.companies import Company, CompanyDetails, plain_domain
from models.market.place_names import Place, PlaceKind
from models.market.reference import reference
from models.sourcing.rules.raw_calls import MOST_COMPANIES, CompaniesAsk, CompanyRow, CompanyStatus, WantedCompany

DEFAULT_LIMIT = 25
MOST = 100

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=200)]
Limit = Annotated[int, Field(ge=1, le=MOST)]


class FindLocations(Ask):
    """A place by name, with or without its area: `Gent`, `Springfield, IL`."""

    q: Words
    country: Country | None = None
    kind: PlaceKind | None = None
    limit: Limit = DEFAULT_LIMIT


class FindArea(Ask):
    """A circle around a town, given by name or by id."""

    city: Words | None = None
    location_id: KnownAnchor | None = None
    country: Country | None = Field(default=None, description="Where the town of `city` lies.")
    radius_km: Annotated[int, Field(ge=1, le=200)] | None = Field(
        default=None, description="By default 50, or as far as a metropolitan area reaches."
    )


class FindCompanies(Ask):
    """A company by name or by domain."""

    q: Words | None = None
    domain: Words | None = None
    limit: Limit = DEFAULT_LIMIT


class FilterField(StrEnum):
    """Filters whose values come from a list."""

    COUNTRIES = "countries"
    LANGUAGES = "languages"
    SENIORITY = "seniority"
    FUNCTIONS = "functions"
    INDUSTRIES = "industries"
    COMPANY_SIZES = "company_sizes"
    COMPANY_TYPES = "company_types"
    DEGREES = "degrees"
    TITLES = "titles"


class FindFilterValues(Ask):
    """The values of a filter, or those that hold the words of `q`."""

    field: FilterField
    q: Words | None = None
    limit: Limit = MOST


class LocationView(Answer):
    """A place; `radius_km` is how far a metropolitan area reaches."""

    id: str
    object: Literal["location"] = "location"
    name: str
    label: str
    kind: PlaceKind
    region: str | None
    country_code: str
    lat: float
    lon: float
    population: int
    time_zone: str | None
    radius_km: int | None

    @classmethod
    def of(cls, place: Place) -> "LocationView":
        """The place as shown."""
        return cls(**place._asdict())


class AreaView(Answer):
    """Every town within the radius, those with most people first; `alternatives` are other places of that name."""

    object: Literal["area"] = "area"
    anchor: LocationView
    radius_km: int
    location_ids: list[str]
    population: int
    alternatives: list[LocationView]


class CompanyView(Answer):
    """A known company."""

    id: str
    object: Literal["company"] = "company"
    name: str
    label: str
    country_code: str | None
    domain: str | None

    @classmethod
    def of(cls, company: Company) -> "CompanyView":
        """The company as shown."""
        return cls(**company._asdict(), label=company.label)


class FilterValue(Answer):
    """A value that a filter takes, and what it means to people."""

    object: Literal["filter_value"] = "filter_value"
    value: str
    label: str


def _with_domain(text: str) -> str:
    plain_domain_of(text)
    return text


Domain = Annotated[Name, AfterValidator(_with_domain)]


class FetchCompanies(Ask):
    """1–25 companies, by our ids, domains or names; answered ids first, then domains, then names, as given."""

    company_ids: tuple[CompanyId, ...] = Field(default=(), max_length=MOST_COMPANIES)
    domains: tuple[Domain, ...] = Field(
        default=(), max_length=MOST_COMPANIES, description="Also as URLs or mail addresses."
    )
    names: tuple[Name, ...] = Field(default=(), max_length=MOST_COMPANIES)

    @model_validator(mode="after")
    def _counted(self) -> Self:
        given = {"company_ids": self.company_ids, "domains": self.domains, "names": self.names}
        if not 1 <= sum(map(len, given.values())) <= MOST_COMPANIES:
            field = next((name for name in reversed(given) if given[name]), "company_ids")
            raise InvalidRequest(f"Give 1 to {MOST_COMPANIES} companies.", field=field)
        return self

    def asked(self) -> CompaniesAsk:
        """The same, as it is kept with the call."""
        shipped = reference().companies
        return CompaniesAsk(
            wanted=(
                *(WantedCompany(input=one, company_id=one, shipped=shipped.knows(one)) for one in self.company_ids),
                *(WantedCompany(input=one, domain=plain_domain(one)) for one in self.domains),
                *(WantedCompany(input=one, name=one) for one in self.names),
            )
        )


class CompanyInFull(CompanyView):
    """A company with what the source says of it; null where it does not say."""

    industry: str | None
    size: str | None = Field(description="How many people work there, as a range.")
    founded: int | None
    type: str | None
    location: str | None

    @classmethod
    def described(cls, company_id: str, details: CompanyDetails) -> "CompanyInFull":
        """The company as shown."""
        company = Company(company_id, details.name, details.country_code, details.domain)
        rest = details.model_dump(include={"industry", "size", "founded", "type", "location"})
        return cls(**company._asdict(), label=company.label, **rest)


class FetchedCompany(Answer):
    """What became of one input: `company` comes with `found` and `cached`."""

    object: Literal["fetched_company"] = "fetched_company"
    input: str
    status: CompanyStatus
    company: CompanyInFull | None
    charged_credits: int

    @classmethod
    def of(cls, row: CompanyRow) -> "FetchedCompany":
        """The row as shown."""
        known = row.company_id is not None and row.details is not None
        return cls(
            input=row.input,
            status=row.status,
            company=CompanyInFull.described(row.company_id or "", row.details) if known and row.details else None,
            charged_credits=row.charged_credits,
        )


class CompaniesFetched(Answer):
    """One row for each input, in input order."""

    object: Literal["list"] = "list"
    data: list[FetchedCompany]
    charged_credits: int
