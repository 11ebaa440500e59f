"""Where a plan searches: the local area around an anchor or in named places, and the countries around it."""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from models.errors import InvalidRequest
from models.rules.intents import IntentLocation
from models.rules.places import Place, PlaceKind, Places
from models.rules.planner.notes import Notes
from models.rules.planner.values import Anchor
from models.rules.planner.wording import country_names, listed

DEFAULT_RADIUS_KM = 50
MOST_PLACES = 1000
"""Location ids of one area; two areas fit the 2,000 of `PeopleFilters`."""


@dataclass(frozen=True, slots=True)
class Ground:
    """`local` are the location ids of the local area; `countries` are ISO codes, empty for the whole world.

    `local_label` and `rest_label` complete "Exact titles …".
    """

    local: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    anchor: Anchor | None = None
    local_label: str = ""
    rest_label: str = "worldwide"


@dataclass(frozen=True, slots=True)
class Barred:
    """Where nobody may live: location ids and countries."""

    location_ids: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Open:
    """The countries where people may live."""

    asked: Container[str]
    barred: Container[str]
    searchable: Container[str]

    def __contains__(self, code: str) -> bool:
        wanted = not self.asked or code in self.asked
        return wanted and code not in self.barred and code in self.searchable


def wanted_ground(
    location: IntentLocation | None, barred: Barred, *, places: Places, searchable: Container[str], notes: Notes
) -> Ground:
    """The local area and the countries of an intent's `must` block.

    Countries that are given bind: of a local area that reaches over the border only their part is kept. `searchable`
    are the countries that the people source knows.

    Raises:
        InvalidRequest: an unknown place, or no wanted country can be searched.
    """
    if location is None or location.empty:
        notes.warn("No place is given: the search is worldwide. Add a country or a place to narrow it.")
        return Ground()
    named = [place_of(places, id_, field="must.location.location_ids") for id_ in location.location_ids]
    asked = _countries(location, named)
    anchor = _anchor(location, places, notes)
    local_names = [place for place in named if place.kind is not PlaceKind.COUNTRY]
    area = _area(location, anchor, local_names, places=places)
    open_to = _Open(asked, barred.countries, searchable)
    local = [place for place in area if place.country_code in open_to]
    if area and not local:
        notes.warn("The local area lies outside the wanted countries: only the countries are searched.")
    countries = asked or _distinct(place.country_code for place in (*([anchor] if anchor else []), *local_names))
    allowed = tuple(code for code in countries if code in open_to)
    if not allowed:
        raise InvalidRequest(
            "None of the countries that people must live in is left: they are excluded, or the people source does not"
            " know them.",
            field="must.location.countries",
            fix="Remove the country from `exclude`, or name another one.",
        )
    if unknown := [code for code in countries if code not in searchable]:
        notes.warn(f"The people source does not know {listed(unknown)}; nobody there is searched.")
    _note_places(location, named, anchor=anchor, countries=countries, notes=notes)
    return Ground(
        local=_ids(local, limit=MOST_PLACES, what="local area", notes=notes),
        countries=allowed,
        anchor=Anchor(location_id=anchor.id, lat=anchor.lat, lon=anchor.lon) if anchor else None,
        local_label=_local_label(location, anchor, local_names),
        rest_label=f"in {'the rest of ' if local else ''}{country_names(allowed, places)}",
    )


def barred_ground(location: IntentLocation | None, places: Places, notes: Notes) -> Barred:
    """Where an intent's `exclude` block allows nobody to live. Raises `InvalidRequest` for an unknown place."""
    if location is None or location.empty:
        return Barred()
    named = [place_of(places, id_, field="exclude.location.location_ids") for id_ in location.location_ids]
    countries = _countries(location, named)
    anchor = _anchor(location, places, notes, block="exclude")
    area = _area(location, anchor, [place for place in named if place.kind is not PlaceKind.COUNTRY], places=places)
    if countries:
        notes.apply("exclude.location.countries", countries)
    if named:
        notes.apply("exclude.location.location_ids", tuple(place.label for place in named))
    return Barred(_ids(area, limit=MOST_PLACES, what="excluded area", notes=notes), countries)


def area_of(
    location: IntentLocation | None, places: Places, notes: Notes
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Where an intent's `nice` block prefers people: location ids, else countries, and the words for them.

    Raises `InvalidRequest` for an unknown place.
    """
    if location is None or location.empty:
        return (), (), ""
    named = [place_of(places, id_, field="nice.location.location_ids") for id_ in location.location_ids]
    anchor = _anchor(location, places, notes, block="nice")
    local_names = [place for place in named if place.kind is not PlaceKind.COUNTRY]
    area = _area(location, anchor, local_names, places=places)
    if area:
        ids = _ids(area, limit=MOST_PLACES, what="preferred area", notes=notes)
        return ids, (), _local_label(location, anchor, local_names)
    countries = _countries(location, named)
    notes.apply("nice.location.countries", countries)
    return (), countries, f"in {country_names(countries, places)}"


def place_of(places: Places, location_id: str, *, field: str) -> Place:
    """The place of an id; raises `InvalidRequest` naming the field."""
    try:
        return places.get(location_id)
    except KeyError:
        raise InvalidRequest(
            f"There is no place {location_id}.", field=field, fix="Find ids with GET /v1/lookups/locations."
        ) from None


def _countries(location: IntentLocation, named: Iterable[Place]) -> tuple[str, ...]:
    whole = (place.country_code for place in named if place.kind is PlaceKind.COUNTRY)
    return _distinct((*location.countries, *whole))


def _anchor(location: IntentLocation, places: Places, notes: Notes, *, block: str = "must") -> Place | None:
    if location.anchor_location_id is None:
        return None
    anchor = place_of(places, location.anchor_location_id, field=f"{block}.location.anchor_location_id")
    notes.apply(f"{block}.location.anchor_location_id", anchor.label)
    if location.radius_km is None:
        notes.default(f"{block}.location.radius_km", _radius(location, anchor))
    else:
        notes.apply(f"{block}.location.radius_km", location.radius_km)
    return anchor


def _radius(location: IntentLocation, anchor: Place) -> int:
    return location.radius_km or max(DEFAULT_RADIUS_KM, anchor.radius_km or 0)


def _area(location: IntentLocation, anchor: Place | None, named: list[Place], *, places: Places) -> list[Place]:
    """Searchable places, those with most people first."""
    near = places.area(anchor, _radius(location, anchor)) if anchor else []
    return places.searchable(place.id for place in (*near, *named))


def _ids(area: list[Place], *, limit: int, what: str, notes: Notes) -> tuple[str, ...]:
    if len(area) > limit:
        notes.warn(f"The {what} has {len(area)} places; only the {limit} with most people are named in the search.")
    return tuple(place.id for place in area[:limit])


def _local_label(location: IntentLocation, anchor: Place | None, named: list[Place]) -> str:
    parts = [f"within {_radius(location, anchor)} km of {anchor.name}"] if anchor else []
    if named:
        parts.append(f"in {listed([place.name for place in named], most=3)}")
    return " or ".join(parts)


def _note_places(
    location: IntentLocation,
    named: list[Place],
    *,
    anchor: Place | None,
    countries: tuple[str, ...],
    notes: Notes,
) -> None:
    if named:
        notes.apply("must.location.location_ids", tuple(place.label for place in named))
    if location.countries:
        notes.apply("must.location.countries", location.countries)
    elif anchor or named:
        notes.default("must.location.countries", countries)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
