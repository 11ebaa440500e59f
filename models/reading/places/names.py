"""Find the names of places in a text: one by one in prose, or all those of a label, a header line, a title's end."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places, great_circle_km
from models.reading.languages import AND, OR, word_set

NOISE = frozenset(place_key(part) for word in word_set(lambda each: each.places.noise) for part in word.split("-"))
NUMBER = re.compile(r"\d+\w?|[xX]\d+")


def is_place_noise(part: str) -> bool:
    """Return whether a stretch holds nothing but such words and numbers."""
    return all(word in NOISE or NUMBER.fullmatch(word) for word in place_key(part).split())


def without_place_noise(part: str) -> str:
    """Return the stretch without such words, as a key."""
    return " ".join(word for word in place_key(part).split() if word not in NOISE)


# Finds names of places in a stretch of text, longest first.


WORD = re.compile(r"[^\W_]+")
WITHIN_NAME = re.compile(r"\.?[ \u00a0]{0,2}|\.-|\s?[-‑]\s?|['’]\s?|/|[ \u00a0]?\(")
LONGEST_NAME = 7
_key = lru_cache(maxsize=50_000)(place_key)


class Spot(NamedTuple):
    """A name in the text: its offsets, its key, and the places so called, best first, with whether by an alias."""

    start: int
    end: int
    key: str
    choices: tuple[tuple[Place, bool], ...]


def spots(text: str, start: int, end: int, *, places: Places, any_case: bool = False) -> Iterator[Spot]:
    """Return names between two offsets that do not overlap; only words with a capital begin one unless `any_case`."""
    words = list(WORD.finditer(text, start, end))
    at = 0
    while at < len(words):
        spot = _longest(text, words, at, places) if any_case or _may_begin(text, words[at]) else None
        if spot is None:
            at += 1
            continue
        yield spot
        while at < len(words) and words[at].start() < spot.end:
            at += 1


def _may_begin(text: str, word: re.Match[str]) -> bool:
    first = word.group()[0]
    after_apostrophe = word.group() == "s" and text[word.start() - 1 : word.start()] in ("'", "’")
    return first.isupper() or after_apostrophe


def _longest(text: str, words: list[re.Match[str]], at: int, places: Places) -> Spot | None:
    first = _key(words[at].group())
    most = min(places.longest_name(first.split()[0]) if first else 0, LONGEST_NAME, len(words) - at)
    start, ends = words[at].start(), list[int]()
    for number in range(at, at + most):
        if ends and not _joined(text, ends[-1], words[number].start()):
            break
        ends.append(words[number].end())
    for end in reversed(ends):
        key = _key(text[start:end])
        choices = places.with_key(key)
        if choices:
            return Spot(start, _closed(text, end), key, choices)
    return None


def _joined(text: str, start: int, end: int) -> bool:
    """Return whether the stretch between two words may stand inside a name."""
    return text[start:end] == " " or WITHIN_NAME.fullmatch(text, start, end) is not None


def _closed(text: str, end: int) -> int:
    """Take in the bracket that belongs to the name, as in `Halle (Saale)`."""
    opened = text.rfind("(", max(0, end - 20), end)
    belongs = text[end : end + 1] == ")" and opened > text.rfind(")", 0, end)
    return end + 1 if belongs else end


OUTER = re.compile(r"\s*[,;|•·]\s*|\s+[-–—]\s+|\s+[-–—]|[-–—]\s+")
INNER = re.compile(rf"\s*[()\[\]/]\s*|\s+(?:{AND}|{OR}|&|\+|plus)\s+", re.IGNORECASE)
POSTAL_GB = re.compile(r"\b[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}\b")
POSTAL = re.compile(r"\b\d{4}\s?[A-Z]{2}\b|^(?:[A-Z]{1,2}-)?\d{4,5}\s+|\s+\d{5}(?:-\d{4})?$")
NUMBER_TAIL = re.compile(r"\s+(?:\d{1,2}(?:e|er|è?me|de|ste)?(?:\s+arr\w*\.?)?|cedex(?:\s+\d+)?)$", re.IGNORECASE)
DEPARTMENT = re.compile(r"\W*(?P<code>\d{2}|2[AB]|97\d)\s+[-–]\s+(?P<name>\S[^\n]*)")
DEPARTMENT_CODE = re.compile(r"\d{2}")
LONGEST_SEGMENT = 240
LONGEST_CODE = 3
LARGE = 100_000
SMALL_SHARE = 0.05
SEAT_KM = 40
NEXT_TO = (0.2, 0.3)
"""Degrees of latitude and longitude: about 20 km."""

Choice = tuple[Place, bool]


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """One thing that is named.

    `choices` are the cities and metros it can be, best first, each with whether by an alias; `areas` are regions and
    countries of that name. `whole`: its part of the segment names nothing else. `qualified`: an area beside it holds
    it, and the offsets take that in.
    """

    start: int
    end: int
    key: str
    choices: tuple[Choice, ...]
    areas: tuple[Place, ...]
    whole: bool
    qualified: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """What a stretch names, in order. `unexplained` counts its parts that are neither places nor working conditions."""

    named: tuple[NamedPlace, ...]
    group: tuple[str, ...]
    british: bool
    unexplained: int


def read_segment(text: str, start: int, end: int, *, places: Places, any_case: bool = False) -> Segment:
    """Read the places between two offsets; a state, province or country qualifies the names beside it."""
    end = min(end, start + LONGEST_SEGMENT)
    named: list[NamedPlace] = []
    group: tuple[str, ...] = ()
    unexplained = 0
    for part_start, part_end in _parts(text, start, end, places):
        part = text[part_start:part_end]
        group = group or places.group(without_place_noise(part)) or places.group(part)
        found = list(_part(text, part_start, part_end, places, any_case=any_case))
        if not found and not is_place_noise(POSTAL_GB.sub("", part)) and not places.group(part):
            unexplained += 1
        for item in found:
            if named and "|" in text[named[-1].end : item.start]:
                named.append(item)
            else:
                _add(item, named, places)
    return Segment(
        named=_qualified_by_earlier(named, places),
        group=group,
        british=POSTAL_GB.search(text, start, end) is not None,
        unexplained=unexplained,
    )


def qualify(item: NamedPlace, areas: Sequence[Place], places: Places, *, end: int) -> NamedPlace | None:
    """Return the item with only the choices that lie in one of the areas; None when none does."""
    inside = tuple(choice for choice in item.choices if lies_in_any(choice[0], areas, places))
    return replace(item, choices=inside, qualified=True, end=max(item.end, end)) if inside else None


def rather_area(item: NamedPlace) -> bool:
    """Return whether a name more likely means its area: a country, or a region with far more people than the city."""
    if not item.choices or not item.areas:
        return bool(item.areas)
    city, area = item.choices[0][0], item.areas[0]
    if area.kind is PlaceKind.COUNTRY:
        return city.country_code != area.country_code
    return city.population < SMALL_SHARE * area.population and not _seat_of(city, area)


def lies_in_any(place: Place, areas: Sequence[Place], places: Places) -> bool:
    """Return whether one of the areas holds the place."""
    return any(area.id != place.id and places.lies_in(place, area) for area in areas)


def _add(item: NamedPlace, named: list[NamedPlace], places: Places) -> None:
    """Add an item, or let it qualify the names before it."""
    fits = False
    for at in range(len(named) - 1, -1, -1):
        before = named[at]
        if not before.choices or not item.areas:
            break
        rather_city = item.choices and not rather_area(item) and item.key != before.key
        if rather_city and not lies_in_any(before.choices[0][0], item.areas, places):
            break
        narrowed = qualify(before, item.areas, places, end=item.end if at == len(named) - 1 else before.end)
        narrowed = narrowed or _narrowed_area(before, item, places)
        if narrowed is None:
            break
        named[at], fits = narrowed, True
    if not fits:
        named.append(item)


def _narrowed_area(before: NamedPlace, item: NamedPlace, places: Places) -> NamedPlace | None:
    """`Surrey, UK`: the name is that of the area which the other area holds."""
    inside = tuple(area for area in before.areas if lies_in_any(area, item.areas, places))
    return replace(before, choices=(), areas=inside, qualified=True, end=item.end) if inside else None


def _qualified_by_earlier(named: list[NamedPlace], places: Places) -> tuple[NamedPlace, ...]:
    """`Germany, Berlin`: an area before a name qualifies it too."""
    kept: list[NamedPlace] = []
    for item in named:
        if kept and item.choices and not kept[-1].choices and kept[-1].areas:
            narrowed = qualify(item, kept[-1].areas, places, end=item.end)
            if narrowed is not None:
                kept[-1] = replace(narrowed, start=kept[-1].start)
                continue
        kept.append(item)
    return tuple(kept)


def _parts(text: str, start: int, end: int, places: Places) -> Iterator[tuple[int, int]]:
    """Yield the parts between commas and the like; names that contain a bracket, a slash or `and` stay whole."""
    for outer in _cut(OUTER, text, start, end):
        if places.with_key(place_key(text[slice(*outer)])):
            yield outer
        else:
            yield from _cut(INNER, text, *outer)


def _cut(pattern: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for cut in [*pattern.finditer(text, start, end), None]:
        part_start, part_end = _trimmed(text, at, cut.start() if cut else end)
        if part_start < part_end:
            yield part_start, part_end
        at = cut.end() if cut else end


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and not text[start].isalnum() and text[start] not in "'’":
        start += 1
    while end > start and not (text[end - 1].isalnum() or text[end - 1] in ".)"):
        end -= 1
    if text[end - 1 : end] == ")" and "(" not in text[start:end]:
        return _trimmed(text, start, end - 1)
    return start, end


def _part(text: str, start: int, end: int, places: Places, *, any_case: bool) -> Iterator[NamedPlace]:
    part = text[start:end]
    plain = NUMBER_TAIL.sub("", POSTAL.sub(" ", POSTAL_GB.sub(" ", part)).strip()).strip()
    whole = _whole(plain, places, any_case=any_case)
    areas = _areas(part, plain, places)
    if whole or areas:
        code = bool(areas) and part.isupper() and len(part) <= LONGEST_CODE
        choices = () if code else tuple(choice for choice in whole if is_point(choice[0]))
        yield NamedPlace(start, end, place_key(plain), choices, areas, whole=True)
        return
    found = [
        spot
        for spot in spots(text, start, end, places=places, any_case=any_case)
        if not is_place_noise(spot.key) or text[spot.start : spot.end].isupper()
    ]
    for spot in found:
        around = f"{text[start : spot.start]} {text[spot.end : end]}"
        yield NamedPlace(
            start=spot.start,
            end=spot.end,
            key=spot.key,
            choices=tuple(choice for choice in spot.choices if is_point(choice[0])),
            areas=_areas(text[spot.start : spot.end], "", places),
            whole=len(found) == 1 and is_place_noise(POSTAL_GB.sub(" ", around)),
        )


def is_point(place: Place) -> bool:
    """Return whether a place is one that people live around: a city or a metropolitan area."""
    return place.kind in (PlaceKind.CITY, PlaceKind.METRO)


def _areas(part: str, plain: str, places: Places) -> tuple[Place, ...]:
    if is_place_noise(part) and not part.isupper() and not DEPARTMENT_CODE.fullmatch(part):
        return ()
    return tuple(places.areas(part) or (places.areas(plain) if plain else ()))


def _whole(plain: str, places: Places, *, any_case: bool) -> tuple[Choice, ...]:
    if not plain or is_place_noise(plain):
        return ()
    known = places.with_key(place_key(plain))
    if any_case or plain[0].isupper() or plain[0] in "'’":
        return known or _merged(plain, places)
    return tuple(choice for choice in known if choice[0].kind is PlaceKind.METRO)


def _merged(plain: str, places: Places) -> tuple[Choice, ...]:
    """Return the first name of two merged municipalities (`Nazareth-De Pinte`), or of a part of a large city."""
    one, dash, other = plain.partition("-")
    if not dash or not one[:1].isupper() or not other[:1].isupper():
        return ()
    beside = [place for place, _ in places.with_key(place_key(other)) if place.kind is PlaceKind.CITY]
    first = [choice for choice in places.with_key(place_key(one)) if choice[0].kind is PlaceKind.CITY]
    return tuple(
        (place, alias)
        for place, alias in first
        if any(_next_to(place, other) for other in beside) or (place.population >= LARGE and not alias)
    )


def _seat_of(city: Place, area: Place) -> bool:
    """Return whether an area is named after the city in its middle."""
    away = great_circle_km(city.lat, city.lon, area.lat, area.lon)
    return city.country_code == area.country_code and away < SEAT_KM


def _next_to(one: Place, other: Place) -> bool:
    return abs(one.lat - other.lat) < NEXT_TO[0] and abs(one.lon - other.lon) < NEXT_TO[1]
