"""Where a plan searches: the areas asked for, bands around them, and the rest of their countries."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

from models.base.errors import InvalidRequest
from models.market.place_names import Place, PlaceKind
from models.market.places import Places
from models.reading.intents import IntentArea, IntentLocation
from models.sourcing.rules.plans import Anchor, Notes, countries_in_words, join_words

DEFAULT_RADIUS_KM = 50
INNER_KM = 25
OUTER_KM = (50, 100)
"""Bands around the areas asked for, where people may live farther away."""
WIDER = 1.5
"""A band reaches at least so many times as far as the one inside it."""
MOST_PLACES = 1000
"""Location ids of the areas of one block."""
MOST_IN_BANDS = 1000
"""Location ids of all bands around them, the most populous; smaller places are searched with the rest."""
MOST_CENTRES = 10
"""Places around which bands are drawn."""


@dataclass(frozen=True, slots=True)
class Where:
    """A part of the ground: its location ids, or countries (empty for the whole world) without what lies nearer.

    `label` completes "Exact titles …".
    """

    label: str
    location_ids: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    beyond: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Zone:
    """A stage of the ladder: `whole`, and the disjoint bands it consists of, the nearest first."""

    whole: Where
    bands: tuple[Where, ...]


@dataclass(frozen=True, slots=True)
class Ground:
    """The zones of a plan, the nearest first; `anchors` are the points that distances are measured from.

    `local_label` describes the area asked for, empty without one; `beyond` the zones that go beyond it, empty when
    none does. `abroad` are the location ids of areas and bands outside the countries of the last zone.
    """

    zones: tuple[Zone, ...]
    countries: tuple[str, ...] = ()
    anchors: tuple[Anchor, ...] = ()
    local_label: str = ""
    beyond: tuple[str, ...] = ()
    abroad: tuple[str, ...] = ()


WORLDWIDE = Where("worldwide")


@dataclass(frozen=True, slots=True)
class Spots:
    """Location ids and countries, and the words for them; all empty when no place is meant."""

    location_ids: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class _Area:
    """A place and how far around it; 0 for the place alone."""

    place: Place
    radius_km: int
    only: bool

    @property
    def is_point(self) -> bool:
        """Whether distances to it mean something."""
        return self.radius_km > 0 or self.place.kind in {PlaceKind.CITY, PlaceKind.METRO}


@dataclass(frozen=True, slots=True)
class _Resolved:
    """A location with its ids looked up; `countries` are those it names as a whole."""

    areas: tuple[_Area, ...]
    countries: tuple[str, ...]

    @property
    def label(self) -> str:
        """`within 50 km of Ghent or in Antwerp`; empty without an area."""
        around: dict[int, list[str]] = {}
        for area in self.areas:
            around.setdefault(area.radius_km, []).append(area.place.name)
        named = around.pop(0, [])
        parts = [f"within {km} km of {join_words(names, most=3, last='or')}" for km, names in around.items()]
        if named:
            parts.append(f"in {join_words(named, most=3)}")
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
        """Return the areas, the bands around them and the countries of an intent's `must` block.

        Countries that are given bind: of an area that crosses a border only their part is kept. Raises
        `InvalidRequest` when none is left.
        """
        if location is None or location.empty:
            self._notes.warn("No place is given: the search is worldwide. Add a country or a place to narrow it.")
            return Ground(zones=(Zone(WORLDWIDE, (WORLDWIDE,)),))
        found = self._resolve(location, block="must")
        countries = self._countries(location, found, barred)
        bounds = countries if location.countries else ()
        local = self._local(found, bounds, barred)
        zones = [local] if local else []
        taken = local.whole.location_ids if local else ()
        open_ended = [area for area in found.areas if not area.only] if local else found.areas
        rest = self._rest_countries(found, open_ended, countries)
        if local:
            for band in self._outer(found, open_ended, bounds, barred, taken=taken):
                zones.append(Zone(band, (band,)))
                taken = (*taken, *band.location_ids)
        if rest or not zones:
            rest_label = f"in {'the rest of ' if taken else ''}{countries_in_words(rest or countries, self._places)}"
            whole = Where(rest_label, countries=rest or countries, beyond=taken)
            zones.append(Zone(whole, (whole,)))
        return Ground(
            zones=tuple(zones),
            countries=countries,
            anchors=tuple(_anchor(area.place) for area in found.areas if area.is_point),
            local_label=found.label if local else "",
            beyond=tuple(zone.whole.label for zone in zones[1:]),
            abroad=tuple(id_ for id_ in taken if self._places.get(id_).country_code not in rest) if rest else (),
        )

    def _countries(self, location: IntentLocation, found: _Resolved, barred: Spots) -> tuple[str, ...]:
        around = [area.place.country_code for area in found.areas]
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
        return countries

    @staticmethod
    def _rest_countries(found: _Resolved, open_ended: Sequence[_Area], countries: Sequence[str]) -> tuple[str, ...]:
        """Return the countries that are searched beyond the areas: those of the areas that do not bind, or named."""
        if found.areas and not open_ended:
            return ()
        around = {area.place.country_code for area in open_ended}
        return tuple(code for code in countries if code in around or code in found.countries)

    def _local(self, found: _Resolved, bounds: Container[str], barred: Spots) -> Zone | None:
        """Return the areas asked for, those that reach far as a near and a farther band."""
        known = self._around(found.areas)
        inside = self._inside(known, bounds, barred)
        if known and not inside:
            if all(area.only for area in found.areas):
                raise InvalidRequest(
                    "The area that binds lies outside the wanted countries.",
                    field="must.location",
                    fix="Leave the countries or `only` out.",
                )
            self._notes.warn("The local area lies outside the wanted countries: only the countries are searched.")
        if not inside:
            return None
        whole = Where(found.label, location_ids=self._ids(inside, what="local area"))
        if not any(area.radius_km >= INNER_KM * WIDER for area in found.areas):
            return Zone(whole, (whole,))
        nearer = [_Area(area.place, min(area.radius_km, INNER_KM), area.only) for area in found.areas]
        kept = set(whole.location_ids)
        near = tuple(place.id for place in self._inside(self._around(nearer), bounds, barred) if place.id in kept)
        far = tuple(id_ for id_ in whole.location_ids if id_ not in set(near))
        if not near or not far:
            return Zone(whole, (whole,))
        inner = Where(_Resolved(tuple(nearer), ()).label, location_ids=near)
        label = f"farther out {found.label}"
        if len(found.areas) == 1:
            label = f"{INNER_KM} to {found.areas[0].radius_km} km from {found.areas[0].place.name}"
        return Zone(whole, (inner, Where(label, location_ids=far, beyond=near)))

    def _outer(
        self,
        found: _Resolved,
        open_ended: Sequence[_Area],
        bounds: Container[str],
        barred: Spots,
        *,
        taken: tuple[str, ...],
    ) -> Iterable[Where]:
        """Yield bands around the areas that people may live beyond."""
        centres = [area for area in open_ended if area.is_point]
        if len(centres) > MOST_CENTRES:
            return
        alone = len(found.areas) == 1
        reached = max((area.radius_km for area in centres), default=0)
        reach = {km: [area for area in centres if area.radius_km * WIDER <= km] for km in OUTER_KM}
        widest = self._around(_Area(area.place, km, only=False) for km, wider in reach.items() for area in wider)
        known = set(taken)
        outside = [place for place in self._inside(widest, bounds, barred) if place.id not in known][:MOST_IN_BANDS]
        for km, wider in reach.items():
            near = {place.id for area in wider for place in self._places.area(area.place, km)}
            band = tuple(place.id for place in outside if place.id in near and place.id not in known)
            if not band:
                continue
            names = join_words([area.place.name for area in wider], most=3, last="or")
            span = f"{reached} to {km} km from" if alone and reached else f"farther out, within {km} km of"
            yield Where(f"{span} {names}", location_ids=band, beyond=taken)
            taken, reached = (*taken, *band), km
            known.update(band)

    def _inside(self, area: Iterable[Place], bounds: Container[str], barred: Spots) -> list[Place]:
        """Return the places of an area where people may live; empty `bounds` allow every country."""
        return [
            place
            for place in area
            if place.country_code not in barred.countries and (not bounds or place.country_code in bounds)
        ]

    def spots(self, location: IntentLocation | None, *, block: str) -> Spots:
        """Return the places of an `exclude` or a `nice` block."""
        if location is None or location.empty:
            return Spots()
        found = self._resolve(location, block=block)
        countries = tuple(code for code in found.countries if code in self._searchable)
        return Spots(
            location_ids=self._ids(
                self._around(found.areas), what="excluded area" if block == "exclude" else "preferred area"
            ),
            countries=countries,
            label=found.label or (f"in {countries_in_words(countries, self._places)}" if countries else ""),
        )

    def _around(self, areas: Iterable[_Area]) -> list[Place]:
        """Return the places of several areas that the source knows, the most populous first."""
        near = [
            place.id
            for area in areas
            for place in (self._places.area(area.place, area.radius_km) if area.radius_km else (area.place,))
        ]
        return [place for place in self._places.searchable(near) if place.country_code in self._searchable]

    def _resolve(self, location: IntentLocation, *, block: str) -> _Resolved:
        named = [self._place(spot, field=f"{block}.location.location_ids") for spot in location.location_ids]
        areas = [self._area_of(area, field=field) for field, area in _given_areas(location, block)]
        areas += [_Area(place, 0, location.only) for place in named if place.kind is not PlaceKind.COUNTRY]
        whole = (place.country_code for place in named if place.kind is PlaceKind.COUNTRY)
        countries = _distinct((*location.countries, *whole))
        self._tell(location, areas, named, block=block)
        if unknown := [code for code in countries if code not in self._searchable]:
            self._notes.warn(
                f"The people source does not know {join_words(unknown)}: places there cannot be searched or excluded."
            )
        return _Resolved(tuple(areas), countries)

    def _place(self, location_id: str, *, field: str) -> Place:
        try:
            return self._places.get(location_id)
        except KeyError:
            raise InvalidRequest(
                f"There is no place {location_id}.", field=field, fix="Find ids with GET /v1/lookups/locations."
            ) from None

    def _area_of(self, area: IntentArea, *, field: str) -> _Area:
        place = self._place(area.location_id, field=field)
        return _Area(place, area.radius_km or default_radius(place), area.only)

    def _tell(self, location: IntentLocation, areas: Sequence[_Area], named: Iterable[Place], *, block: str) -> None:
        if location.anchor_location_id is not None:
            self._notes.apply(f"{block}.location.anchor_location_id", areas[0].place.label)
            if location.radius_km is None:
                self._notes.default(f"{block}.location.radius_km", areas[0].radius_km)
            else:
                self._notes.apply(f"{block}.location.radius_km", location.radius_km)
        if location.areas:
            told = [_in_words(area) for area in areas if area.radius_km][-len(location.areas) :]
            self._notes.apply(f"{block}.location.areas", tuple(told))
        if labels := tuple(place.label for place in named):
            self._notes.apply(f"{block}.location.location_ids", labels)
        if location.countries:
            self._notes.apply(f"{block}.location.countries", location.countries)
        if location.only:
            self._notes.apply(f"{block}.location.only", "no search goes beyond the area")

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


def _given_areas(location: IntentLocation, block: str) -> Iterable[tuple[str, IntentArea]]:
    """Yield the anchor and the other areas, each with the field that names its place."""
    if location.anchor_location_id is not None:
        anchor = IntentArea(location_id=location.anchor_location_id, radius_km=location.radius_km, only=location.only)
        yield f"{block}.location.anchor_location_id", anchor
    for number, area in enumerate(location.areas):
        yield f"{block}.location.areas.{number}.location_id", area


def _in_words(area: _Area) -> str:
    return f"{area.radius_km} km around {area.place.label}{', only' if area.only else ''}"


def _anchor(place: Place) -> Anchor:
    return Anchor(location_id=place.id, lat=place.lat, lon=place.lon)


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
