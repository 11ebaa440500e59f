"""Free lookups: places, areas, companies and the values that filters take (contract, section 5)."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from api.kernel.schemas import Answer, Ask
from api.sourcing.intents_schemas import Country, KnownAnchor
from models.market.companies import Company
from models.market.place_names import Place, PlaceKind

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
