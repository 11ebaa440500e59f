"""Where a plan searches: the local area around an anchor or in named places, and the countries around it."""

from collections.abc import Container, Iterable
from dataclasses import dataclass

from models.base.errors import InvalidRequest
from models.market.place_names import Place, PlaceKind
from models.market.places import Places
from models.reading.intents import IntentLocation
from models.sourcing.rules.plans import Anchor, Notes, countries_in_words, join_words

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
class Spots:
    """Location ids and countries, and the words for them; all empty when no place is meant."""

    location_ids: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A location with its ids looked up: `area` are the places it reaches, `countries` those it names as a whole."""

    anchor: Place | None
    radius_km: int
    local: tuple[Place, ...]
    countries: tuple[str, ...]
    area: tuple[Place, ...]

    @property
    def label(self) -> str:
        """`within 50 km of Ghent or in Antwerp`; empty without an area."""
        parts = [f"within {self.radius_km} km of {self.anchor.name}"] if self.anchor else []
        if self.local:
            parts.append(f"in {join_words([place.name for place in self.local], most=3)}")
        return " or ".join(parts)


class Surveyor:
    """Works out where one plan searches. `searchable` are the countries that the people source knows.

    Its methods raise `InvalidRequest` for an unknown place.
    """

    def __init__(self, places: Places, *, searchable: Container[str], notes: Notes) -> None:
        self._places = places
        self._searchable = searchable
        self._notes = notes

    def wanted(self, location: IntentLocation | None, barred: Spots) -> Ground:
        """Return the local area and the countries of an intent's `must` block.

        Countries that are given bind: of a local area that crosses a border only their part is kept. Raises
        `InvalidRequest` when none is left.
        """
        if location is None or location.empty:
            self._notes.warn("No place is given: the search is worldwide. Add a country or a place to narrow it.")
            return Ground()
        found = self._resolve(location, block="must")
        around = [place.country_code for place in (*([found.anchor] if found.anchor else []), *found.local)]
        asked = found.countries if location.countries else _distinct((*found.countries, *around))
        countries = tuple(code for code in asked if code not in barred.countries and code in self._searchable)
        if not countries:
            raise InvalidRequest(
                "The wanted countries cannot be searched: they are excluded, or the people source does not know them.",
                field="must.location.countries",
                fix="Remove the country from `exclude`, or name another one.",
            )
        if not location.countries:
            self._notes.default("must.location.countries", countries)
        local = self._inside(found.area, countries if location.countries else (), barred)
        return Ground(
            local=self._ids(local, what="local area"),
            countries=countries,
            anchor=_anchor(found.anchor),
            local_label=found.label,
            rest_label=f"in {'the rest of ' if local else ''}{countries_in_words(countries, self._places)}",
        )

    def _inside(self, area: Iterable[Place], bounds: Container[str], barred: Spots) -> list[Place]:
        """Return the places of an area where people may live; empty `bounds` allow every country."""
        known = list(area)
        inside = [
            place
            for place in known
            if place.country_code not in barred.countries and (not bounds or place.country_code in bounds)
        ]
        if known and not inside:
            self._notes.warn("The local area lies outside the wanted countries: only the countries are searched.")
        return inside

    def spots(self, location: IntentLocation | None, *, block: str) -> Spots:
        """Return the places of an `exclude` or a `nice` block."""
        if location is None or location.empty:
            return Spots()
        found = self._resolve(location, block=block)
        countries = tuple(code for code in found.countries if code in self._searchable)
        return Spots(
            location_ids=self._ids(found.area, what="excluded area" if block == "exclude" else "preferred area"),
            countries=countries,
            label=found.label or (f"in {countries_in_words(countries, self._places)}" if countries else ""),
        )

    def _resolve(self, location: IntentLocation, *, block: str) -> _Resolved:
        named = [self._place(spot, field=f"{block}.location.location_ids") for spot in location.location_ids]
        anchor = self._anchor_of(location, block=block)
        radius = location.radius_km or (default_radius(anchor) if anchor else 0)
        local = tuple(place for place in named if place.kind is not PlaceKind.COUNTRY)
        whole = (place.country_code for place in named if place.kind is PlaceKind.COUNTRY)
        near = self._places.area(anchor, radius) if anchor else []
        area = self._places.searchable(place.id for place in (*near, *local))
        countries = _distinct((*location.countries, *whole))
        self._tell(location, named, block=block)
        if unknown := [code for code in countries if code not in self._searchable]:
            self._notes.warn(
                f"The people source does not know {join_words(unknown)}: places there cannot be searched or excluded."
            )
        reached = tuple(place for place in area if place.country_code in self._searchable)
        return _Resolved(anchor, radius, local, countries, reached)

    def _place(self, location_id: str, *, field: str) -> Place:
        try:
            return self._places.get(location_id)
        except KeyError:
            raise InvalidRequest(
                f"There is no place {location_id}.", field=field, fix="Find ids with GET /v1/lookups/locations."
            ) from None

    def _anchor_of(self, location: IntentLocation, *, block: str) -> Place | None:
        if location.anchor_location_id is None:
            return None
        anchor = self._place(location.anchor_location_id, field=f"{block}.location.anchor_location_id")
        self._notes.apply(f"{block}.location.anchor_location_id", anchor.label)
        if location.radius_km is None:
            self._notes.default(f"{block}.location.radius_km", default_radius(anchor))
        else:
            self._notes.apply(f"{block}.location.radius_km", location.radius_km)
        return anchor

    def _tell(self, location: IntentLocation, named: Iterable[Place], *, block: str) -> None:
        if labels := tuple(place.label for place in named):
            self._notes.apply(f"{block}.location.location_ids", labels)
        if location.countries:
            self._notes.apply(f"{block}.location.countries", location.countries)

    def _ids(self, area: Iterable[Place], *, what: str) -> tuple[str, ...]:
        """Return the ids of the most populous places, as many as fit a filter."""
        ids = tuple(place.id for place in area)
        if len(ids) > MOST_PLACES:
            self._notes.warn(
                f"The {what} has {len(ids)} places; only the {MOST_PLACES} with most people are named in the search."
            )
        return ids[:MOST_PLACES]


def default_radius(anchor: Place) -> int:
    """Return the radius in kilometres when none is given: 50, or as far as a metropolitan area reaches."""
    return max(DEFAULT_RADIUS_KM, anchor.radius_km or 0)


def _anchor(place: Place | None) -> Anchor | None:
    return Anchor(location_id=place.id, lat=place.lat, lon=place.lon) if place else None


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
