"""Places as people type them: regions without an entry of their own, short names, postcodes, `regio Hasselt`."""

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from models.market.curated import curated_rows
from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places

AROUND_KM = 30
"""How far `regio Hasselt` reaches around the town."""
_AROUND_WORDS = r"""
regio|region|région|raum|großraum|grossraum|umgebung|umgebung\svon|omgeving|in\sde\sbuurt\svan|area|greater|groot|environs\sde
alentours\sde|agglomération\sde|agglomeration|arrondissement
""".strip().replace("\n", "|")
_BEFORE = re.compile(
    rf"^(?:(?:the|de|het|la|le|die|der|das|l['’])\s*)?(?:{_AROUND_WORDS})\s+(?:van\s+|von\s+|de\s+|d['’]|of\s+)?",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"[\s,]+(?:area|region|und\sumgebung|en\somgeving|et\s(?:ses\s)?(?:environs|alentours)|and\s(?:surroundings|area))$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|de|het|la|le|les|die|der|das)\s+", re.IGNORECASE)
_BRITISH = re.compile(r"^([A-Z]{1,2})\d[A-Z\d]?(?:\s*\d[A-Z]{2})?(?=$|[\s,])", re.IGNORECASE)
_FIGURES = re.compile(r"^(?:([A-Z]{1,2})-\s?)?(\d{4,5})(?:\s?([A-Z]{2}))?(?=$|[\s,])")
_FIVE = 5
_ARRONDISSEMENT = re.compile(r"\s+\d{1,2}(?:e|er|ème|th)?$", re.IGNORECASE)
"""`Paris 11`, `Lyon 3`: the city is meant."""
_PARISIAN = re.compile(r"75[01]\d\d$")
_LANDS = {"B": "BE", "D": "DE", "F": "FR", "A": "AT", **{land: land for land in ("NL", "CH", "DE", "BE", "FR", "AT")}}
_FOUR_FIGURES, _FIVE_FIGURES = ("BE", "NL", "CH", "AT"), ("DE", "FR")


class PlaceMeaning(NamedTuple):
    """What a name of a place means: one place, or several for a region of several areas or a group of countries.

    `radius_km` is how far around a town the name reaches; null where the place itself is meant. `others` are places of
    the same name, best first, when none of the hints tells which.
    """

    places: tuple[Place, ...]
    radius_km: int | None = None
    others: tuple[Place, ...] = ()


class PostcodeRange(NamedTuple):
    """A country, how its postcodes begin (`first` and `last` of equal length), and the town or area there."""

    country: str
    first: str
    last: str
    where: str


class PlaceResolver:
    """Resolves names of places with hints. Holds no state but its tables and caches; safe to share."""

    def __init__(
        self, places: Places, words: Iterable[tuple[str, str, str]], postcodes: Iterable[PostcodeRange]
    ) -> None:
        self._places = places
        self._words = {place_key(name): (where, land) for names, where, land in words for name in names.split("|")}
        self._postcodes = tuple(postcodes)
        self._curated = lru_cache(maxsize=2_000)(self._find_curated)

    def resolve(self, text: str, *, countries: Collection[str] = (), near: Place | None = None) -> PlaceMeaning | None:
        """Return what a text means as a place; null when it names none.

        Among places of one name, those in the hinted `countries` (ISO codes, in their order of weight) come first, and
        with `near` the closest of these; without hints the most populous. `regio Hasselt` reaches around its town.
        """
        name = " ".join(text.split()).strip(" ,.;:()")
        known = self._known(name, countries) or self._whole(name, countries)
        if known:
            return known
        around = _AFTER.sub("", _BEFORE.sub("", name))
        if around != name and (found := self._known(around, countries) or self._named(around, countries, near)):
            town = found.radius_km is None and found.places[0].kind is PlaceKind.CITY
            return found._replace(radius_km=AROUND_KM) if town else found
        named = self.postcode(name, countries=countries) or self._named(name, countries, near)
        return named or self._named(_ARRONDISSEMENT.sub("", name), countries, near)

    def _whole(self, name: str, countries: Collection[str]) -> PlaceMeaning | None:
        """Return a metropolitan area or the countries of a group of this name."""
        for form in (name, _ARTICLE.sub("", name)):
            metro = self._places.metro(form)
            if metro and (metro.country_code in countries or not self._anywhere(form, countries)):
                return PlaceMeaning((metro,))
            if codes := self._places.group(form):
                return PlaceMeaning(tuple(map(self._places.country, codes)))
        return None

    def postcode(self, text: str, *, countries: Collection[str] = ()) -> PlaceMeaning | None:
        """Return the town named behind a postcode (`9000 Gent`), or the chief town of its area; null without one.

        Figures that several countries use (`1000`) need a hint: an own country, or the name of a town there.
        """
        figures, british = _FIGURES.match(text), _BRITISH.match(text)
        if figures:
            marked = _LANDS.get(figures[1] or "")
            asked = [marked] if marked else _lands(figures[2], figures[3], countries)
            town = text[figures.end() :].strip(" ,")
            code = figures[2]
        elif british:
            asked, town, code = ["GB"], text[british.end() :].strip(" ,"), british[1].upper()
        else:
            return None
        for land in asked if countries or len(asked) == 1 or town else ():
            area = self._area(land, code)
            named = self._places.find(town, country=land, limit=1) if town else []
            if named and place_key(named[0].name) and (area or land):
                return PlaceMeaning((named[0],))
            if area and not town:
                return area
        return None

    def _area(self, land: str, code: str) -> PlaceMeaning | None:
        if land == "FR":
            areas = [place for place in self._places.areas(code[:2]) if place.country_code == land]
            return self._french(code) or (PlaceMeaning((areas[0],)) if areas else None)
        for row in self._postcodes:
            begin = code if land == "GB" else code[: len(row.first)]
            if row.country == land and row.first <= begin <= row.last and len(begin) == len(row.first):
                return self._curated(row.where, land)
        return None

    def _french(self, code: str) -> PlaceMeaning | None:
        """Paris, Lyon and Marseille have postcodes for each arrondissement: the city is meant."""
        city = {"75": "Paris", "690": "Lyon", "130": "Marseille"}
        name = next((name for begin, name in city.items() if code.startswith(begin)), None)
        return self._curated(name, "FR") if name else None

    def _known(self, name: str, countries: Collection[str]) -> PlaceMeaning | None:
        for form in (name, _ARTICLE.sub("", name)):
            where, land = self._words.get(place_key(form), ("", ""))
            if where and (not countries or land in countries or not self._anywhere(form, countries)):
                return self._curated(where, land)
        return None

    def _anywhere(self, name: str, countries: Collection[str]) -> bool:
        """Return whether a town of this name lies in one of these countries."""
        return any(place.country_code in countries for place in self._places.named(name))

    def _find_curated(self, where: str, land: str) -> PlaceMeaning | None:
        found, radius = [], None
        for part in where.split(";"):
            name, _, figure = part.strip().rpartition(" ")
            region = part.strip().startswith("region ")
            if not region and figure.isdigit():
                radius = int(figure)
            else:
                name = part.strip().removeprefix("region ")
            kind = PlaceKind.REGION if region else PlaceKind.CITY
            found += self._places.find(name, country=land, kind=kind, limit=1)
        return PlaceMeaning(tuple(found), radius) if found else None

    def _named(self, name: str, countries: Collection[str], near: Place | None) -> PlaceMeaning | None:
        found: Sequence[Place] = self._places.find(_ARTICLE.sub("", name), limit=20)
        exact = [place for place in found if self._is_name(place, name)]
        if not exact:
            return None
        hinted = [place for land in countries for place in exact if place.country_code == land] or exact
        if near is not None:
            hinted.sort(key=lambda place: (place.lat - near.lat) ** 2 + (place.lon - near.lon) ** 2)
        others = tuple(place for place in exact if place.kind is hinted[0].kind and place is not hinted[0])
        return PlaceMeaning((hinted[0],), others=() if len(hinted) < len(exact) or near else others)

    def _is_name(self, place: Place, name: str) -> bool:
        """Return whether the place was found by its whole name, not by the beginning of one."""
        head = _ARTICLE.sub("", name).partition(",")[0]
        forms = {place_key(head), place_key(head.rpartition(" ")[0] or head)}
        return any(place in self._places.named(form) for form in forms if form)


def _lands(figures: str, letters: str | None, countries: Collection[str]) -> list[str]:
    """Return the countries whose postcodes are written so, the hinted ones alone where there are any."""
    if not countries and _PARISIAN.match(figures):
        return ["FR"]
    usual = _FIVE_FIGURES if len(figures) == _FIVE else ("NL",) if letters else _FOUR_FIGURES
    return [land for land in countries if land in usual] or list(usual)


def read_place_resolver(places: Places) -> PlaceResolver:
    """Return the curated regions, short names and postcodes over these places."""
    words = ((names, where, land) for names, where, land in curated_rows("place_words"))
    codes = ((land, begin.split("-"), where) for land, begin, where in curated_rows("postcodes"))
    return PlaceResolver(places, words, [PostcodeRange(land, ends[0], ends[-1], where) for land, ends, where in codes])
