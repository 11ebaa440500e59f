"""Lookups: names become the ids and values that filters take; free, from shipped data and our cache, never a guess."""

from collections.abc import Iterable, Mapping

from api.kernel.operation import Context, Effect, Noun, operation
from api.kernel.schemas import Listing
from api.sourcing.lookups_schemas import (
    AreaView,
    CompanyView,
    FilterField,
    FilterValue,
    FindArea,
    FindCompanies,
    FindFilterValues,
    FindLocations,
    LocationView,
)
from models.access.rules.keys import Scope
from models.base.errors import InvalidRequest
from models.market import store as market_store
from models.market.companies import Company, plain_domain
from models.market.place_names import Place, PlaceKind, place_key
from models.market.store import KnownCompany
from models.market.title_families import TitleLanguage
from models.sourcing.rules.ground import default_radius

LOOKUPS = Noun("Lookups", "Places, areas, companies and values that filters know.")

MOST_ALTERNATIVES = 10


@operation("lookups.locations", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LOOKUPS.get("/lookups/locations"))
async def find_locations(ctx: Context, ask: FindLocations) -> Listing[LocationView]:
    """Every place a name can mean, best first. Free."""
    found = ctx.reference.shipped.places.find(ask.q, country=ask.country, kind=ask.kind, limit=ask.limit)
    return Listing(data=[LocationView.of(place) for place in found])


@operation("lookups.areas", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LOOKUPS.get("/lookups/areas"))
async def find_area(ctx: Context, ask: FindArea) -> AreaView:
    """The location ids within a radius of a town. Free."""
    places = ctx.reference.shipped.places
    anchor, *others = _anchors(ctx, ask)
    radius = ask.radius_km or default_radius(anchor)
    area = places.area(anchor, radius)
    return AreaView(
        anchor=LocationView.of(anchor),
        radius_km=radius,
        location_ids=[place.id for place in area],
        population=sum(place.population for place in area),
        alternatives=[LocationView.of(place) for place in others],
    )


def _anchors(ctx: Context, ask: FindArea) -> list[Place]:
    places = ctx.reference.shipped.places
    if (ask.city is None) == (ask.location_id is None):
        raise InvalidRequest("Give a city or a location_id.", field="location_id" if ask.city else "city")
    if ask.location_id is not None:
        return [places.get(ask.location_id)]
    found = places.find(ask.city or "", country=ask.country, limit=MOST_ALTERNATIVES)
    towns = [place for place in found if place.kind in {PlaceKind.CITY, PlaceKind.METRO}]
    if not towns:
        raise InvalidRequest("There is no town of this name.", field="city", fix="Try GET /v1/lookups/locations.")
    return towns


@operation("lookups.companies", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LOOKUPS.get("/lookups/companies"))
async def find_companies(ctx: Context, ask: FindCompanies) -> Listing[CompanyView]:
    """Companies by name or domain. Free."""
    companies = ctx.reference.shipped.companies
    if (ask.q is None) == (ask.domain is None):
        raise InvalidRequest("Give q or a domain.", field="domain" if ask.q else "q")
    shipped = companies.at_domain(ask.domain) if ask.domain is not None else companies.named(ask.q or "")
    found = {company.id: company for company in shipped}
    found |= {each.id: _looked_up(each) for each in await _cached(ctx, ask) if each.id not in found}
    if ask.q is not None:
        beginning = companies.beginning(ask.q, limit=ask.limit)
        found |= {company.id: company for company in beginning if company.id not in found}
    return Listing(data=[CompanyView.of(company) for company in list(found.values())[: ask.limit]])


async def _cached(ctx: Context, ask: FindCompanies) -> list[KnownCompany]:
    """Return companies that any workspace has looked up live."""
    if ask.domain is not None:
        return list((await market_store.companies_at_domains(ctx.session, [plain_domain(ask.domain)])).values())
    return await market_store.companies_beginning(ctx.session, ask.q or "", limit=ask.limit)


def _looked_up(known: KnownCompany) -> Company:
    return Company(known.id, known.details.name, known.details.country_code, known.details.domain)


@operation(
    "lookups.filter_values", scope=Scope.SOURCING_READ, effect=Effect.READ, route=LOOKUPS.get("/lookups/filter-values")
)
async def find_filter_values(ctx: Context, ask: FindFilterValues) -> Listing[FilterValue]:
    """The values that a filter takes. Free."""
    words = place_key(ask.q or "")
    values = [
        FilterValue(value=value, label=label)
        for value, label in _values(ctx, ask.field).items()
        if words in place_key(label) or words == value.lower()
    ]
    return Listing(data=values[: ask.limit])


def _values(ctx: Context, field: FilterField) -> Mapping[str, str]:
    shipped, source = ctx.reference.shipped, ctx.reference.knowledge.source
    match field:
        case FilterField.COUNTRIES:
            codes = sorted(shipped.places.country_codes)
            return {code: shipped.places.country_name(code) for code in codes if code in source.countries}
        case FilterField.LANGUAGES:
            return _labelled(sorted(set(shipped.languages.values())))
        case FilterField.TITLES:
            return {title: title for family in shipped.titles.families for title in family.titles(TitleLanguage.EN)[:1]}
        case FilterField.DEGREES:
            return _labelled(form for forms in source.degrees.values() for form in forms)
        case _:
            return _labelled(source.vocabulary[field])


def _labelled(values: Iterable[str]) -> dict[str, str]:
    return {value: value.replace("_", " ").capitalize() for value in values}
