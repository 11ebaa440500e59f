"""Reads the places of a short intent, such as `3y Go devs near Ghent` or `within 30 km of Cologne, not in Bonn`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from models.market.place_names import Place, PlaceKind
from models.market.places import Places
from models.reading.intents import IntentLocation
from models.reading.languages import AND, OR, phrases
from models.reading.places.claims import AFTER, BEFORE, WITHIN, WITHIN_AFTER, qualified, within_km
from models.reading.places.names import NamedPlace, Spot, is_place_noise, rather_area, spots
from models.reading.places.workplace import Findings, PlaceReading

BEFORE_PLACE = re.compile(
    rf"(?<!\w){phrases(lambda each: each.places.asked_before)}"
    rf"[\s:]*{phrases(lambda each: each.places.asked_article)}?$",
    re.IGNORECASE,
)
NOT_BEFORE = re.compile(
    rf"(?<!\w){phrases(lambda each: each.places.not_before)}"
    rf"(?:\s+{phrases(lambda each: each.places.not_link)})?\s+(?:the\s)?$",
    re.IGNORECASE,
)
AND_BEFORE = re.compile(rf"(?:^|\s)(?:{OR}|{AND}|&|/|,)\s*$|[,/&]\s*$", re.IGNORECASE)
VILLAGE, TOWN, LARGE = 300, 15_000, 100_000
SHORTEST = 3

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AskedPlace:
    """A place of the intent: the stretch that speaks of it, radius and preposition included."""

    item: NamedPlace
    place: Place
    span: Span
    radius_km: int | None
    excluded: bool


def read_short(text: str, *, places: Places) -> PlaceReading:
    """The places of a short intent; nothing is taken for a place that may be a word."""
    findings = Findings(text)
    asked = list(_asked(text, places, findings))
    groups = list(_groups(text, places, [one.span for one in asked]))
    spans = tuple(sorted([*(one.span for one in asked), *(span for _, span in groups)]))
    wanted = [one for one in asked if not one.excluded]
    codes = dict.fromkeys(code for members, _ in groups for code in members)
    for members, span in groups:
        for code in members:
            findings.read("countries", code, *span)
    location = _location(wanted, tuple(codes), findings)
    excluded = _location([one for one in asked if one.excluded], (), Findings(text))
    return PlaceReading(location, tuple(findings.evidence), tuple(findings.warnings), spans, excluded)


def _asked(text: str, places: Places, findings: Findings) -> Iterator[AskedPlace]:
    found = list(spots(text, 0, len(text), places=places, any_case=True))
    reached = 0
    follows = False
    for number, spot in enumerate(found):
        if spot.start < reached or (is_place_noise(spot.key) and not text[spot.start : spot.end].isupper()):
            continue
        if places.group(text[spot.start : spot.end]):
            continue
        before, after = text[max(0, spot.start - BEFORE) : spot.start], text[spot.end : spot.end + AFTER]
        item = qualified(text, spot, found[number + 1] if number + 1 < len(found) else None, places)
        place = _meant(text, spot, item, places, findings, led=_led(before, follows=follows))
        if place is None:
            continue
        excluded = NOT_BEFORE.search(before) is not None
        span, radius = _span(spot, item, before, after, excluded=excluded)
        reached, follows = max(item.end, span[1]), True
        yield AskedPlace(item, place, span, radius, excluded)


def _led(before: str, *, follows: bool) -> bool:
    return bool(
        BEFORE_PLACE.search(before)
        or WITHIN.search(before)
        or NOT_BEFORE.search(before)
        or (follows and AND_BEFORE.search(before))
    )


def _span(spot: Spot, item: NamedPlace, before: str, after: str, *, excluded: bool) -> tuple[Span, int | None]:
    """The stretch with its preposition and radius, and the radius."""
    within, beyond = WITHIN.search(before), WITHIN_AFTER.match(after)
    lead = NOT_BEFORE.search(before) if excluded else None
    lead = lead or within or BEFORE_PLACE.search(before)
    start = spot.start - (len(before[lead.start() :].lstrip()) if lead else 0)
    end = item.end + (beyond.end() if beyond and item.end == spot.end else 0)
    return (start, end), within_km(before, after)


def _meant(text: str, spot: Spot, item: NamedPlace, places: Places, findings: Findings, *, led: bool) -> Place | None:
    everyday, capital = places.is_everyday_word(spot.key), text[spot.start].isupper()
    if rather_area(item) and not item.qualified:
        area = item.areas[0]
        plain = led or capital if area.kind is not PlaceKind.COUNTRY else True
        return area if plain and not (everyday and not (led and capital)) else None
    if not item.qualified and len(spot.key) <= SHORTEST and not capital:
        return None
    least = _least(led=led, capital=capital, everyday=everyday)
    choices = [
        place
        for place, alias in item.choices
        if item.qualified or (place.population >= (max(least, LARGE) if alias else least) and not (alias and everyday))
    ]
    if not choices:
        return None
    rivals = [place for place in choices[1:] if place.population * 2 > choices[0].population]
    if rivals:
        labels = ", ".join(place.label for place in [choices[0], *rivals][:5])
        findings.warnings.append(f"“{text[spot.start : spot.end]}” can mean {labels}; none is chosen.")
        return None
    return choices[0]


def _least(*, led: bool, capital: bool, everyday: bool) -> int:
    """How many people a place must have: the fewer signs stand beside its name, the more."""
    if everyday:
        return LARGE if led and capital else 5 * LARGE
    if led:
        return VILLAGE if capital else TOWN
    return TOWN if capital else LARGE


def _groups(
    text: str, places: Places, taken: list[tuple[int, int]]
) -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
    words = list(re.finditer(r"[\w&+-]+", text))
    at = 0
    while at < len(words):
        for count in range(min(4, len(words) - at), 0, -1):
            start, end = words[at].start(), words[at + count - 1].end()
            members = places.group(text[start:end])
            free = all(end <= other[0] or start >= other[1] for other in taken)
            if members and free and (count > 1 or text[start].isupper() or len(text[start:end]) > len("emea")):
                yield members, (start, end)
                at += count - 1
                break
        at += 1


def _location(wanted: list[AskedPlace], countries: tuple[str, ...], findings: Findings) -> IntentLocation | None:
    points = list(dict.fromkeys(one.place.id for one in wanted if one.place.kind is not PlaceKind.COUNTRY))
    codes = findings.fitting([*countries, *(one.place.country_code for one in wanted)])
    if not codes:
        return None
    for one in wanted:
        quoted = (one.item.start, one.item.end)
        if one.place.kind is PlaceKind.COUNTRY:
            findings.read("countries", one.place.country_code, *quoted)
        elif len(points) == 1 and one.place.kind in (PlaceKind.CITY, PlaceKind.METRO):
            findings.read("anchor_location_id", one.place.id, *quoted)
        else:
            findings.read("location_ids", one.place.id, *quoted)
    single = next((one for one in wanted if one.place.id == points[0]), None) if len(points) == 1 else None
    if single and single.place.kind in (PlaceKind.CITY, PlaceKind.METRO):
        if single.radius_km is not None:
            findings.read("radius_km", single.radius_km, *single.span)
        return IntentLocation(countries=codes, anchor_location_id=single.place.id, radius_km=single.radius_km)
    if len(points) > 1 and any(one.radius_km for one in wanted):
        findings.warnings.append("A radius works around one place only; the places themselves are searched.")
    return IntentLocation(countries=codes, location_ids=tuple(points))
