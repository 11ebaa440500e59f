"""Collects every stretch of a text that names places, with how surely each names the place of work."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from models.rules.places import Places, place_key
from models.rules.reading.places import frames
from models.rules.reading.places.frames import Strength
from models.rules.reading.places.segments import (
    DEPARTMENT,
    POSTAL_GB,
    Named,
    Segment,
    is_point,
    qualify,
    read_segment,
)
from models.rules.reading.places.spotting import Spot, spots

LINE = re.compile(r"[^\r\n\u2028\u2029\x0b\x0c\x85]+")
HEADER_LINES = 5
LONGEST_HEADER = 130
LONGEST_TITLE = 200
BEFORE, AFTER = 90, 60
KM_A_MILE = 1.609344
FARTHEST_KM = 200
LARGE = 100_000
TITLE_PART = re.compile(r"\s+[-–—|]+\s*|\s*[-–—|]+\s+|\s*[|(),;@•·\]\[)]\s*")


@dataclass(frozen=True, slots=True)
class Claim:
    """One stretch that names places of work: what it names, where it stands, how surely.

    `sure` when the stretch names nothing else, so that small and everyday names count too.
    """

    strength: Strength
    named: tuple[Named, ...]
    start: int
    end: int
    group: tuple[str, ...] = ()
    british: bool = False
    radius_km: int | None = None
    sure: bool = True
    line: int = 0


def claims(text: str, places: Places) -> list[Claim]:
    """All claims of an advertisement."""
    lines = [found for found in LINE.finditer(text) if found.group().strip()]
    return [
        *_header(text, lines[:HEADER_LINES], places),
        *_labels(text, places),
        *_title(text, lines[:1], places),
        *_prose(text, places),
    ]


def _header(text: str, lines: list[re.Match[str]], places: Places) -> Iterator[Claim]:
    for number, line in enumerate(lines):
        if len(line.group()) > LONGEST_HEADER:
            return
        if "|" in line.group():
            yield from _piped(text, line, places)
        claim = _department(text, line, places) or _header_line(text, line, places, number=number)
        if claim:
            yield replace(claim, line=number)


def _piped(text: str, line: re.Match[str], places: Places) -> Iterator[Claim]:
    """`Company | Title | Berlin, Germany (Remote)`."""
    start = line.start()
    for piece in re.finditer(r"[^|]+", line.group()):
        segment = read_segment(text, start + piece.start(), start + piece.end(), places=places)
        named = tuple(item for item in segment.named if item.whole)
        if (named or segment.group) and not segment.unexplained:
            yield _claim(Strength.HEADER, segment, named, start + piece.start(), start + piece.end())


def _department(text: str, line: re.Match[str], places: Places) -> Claim | None:
    """`07 - PRIVAS`: the number of a French département before the name."""
    found = DEPARTMENT.fullmatch(text, line.start(), line.end())
    if not found:
        return None
    areas = tuple(place for place in places.areas(found["code"]) if place.country_code == "FR")
    segment = read_segment(text, *found.span("name"), places=places)
    for item in segment.named:
        inside = qualify(item, areas, places, end=item.end) if areas else None
        if inside and inside.whole:
            return Claim(Strength.HEADER, (replace(inside, start=found.start("code")),), *found.span())
    if not areas:
        return None
    department = Named(*found.span("code"), key="", choices=(), areas=areas, whole=True, qualified=True)
    return Claim(Strength.HEADER, (department,), *found.span())


def _header_line(text: str, line: re.Match[str], places: Places, *, number: int) -> Claim | None:
    segment = read_segment(text, line.start(), line.end(), places=places)
    named = tuple(item for item in segment.named if item.whole)
    if number == 0:
        named = tuple(item for item in named if item.qualified)
    complete = bool(named) and not segment.unexplained and len(named) == len(segment.named)
    addressed = bool(named) and (segment.british or named[-1].qualified) and named[-1].whole
    bracketed = bool(named) and text[: line.end()].rstrip().endswith(")") and named[-1] is segment.named[-1]
    if complete or segment.group:
        return _claim(Strength.HEADER, segment, named, line.start(), line.end())
    if addressed or (bracketed and number > 0 and not places.is_everyday_word(named[-1].key)):
        return _claim(Strength.HEADER, segment, named[-2:] if segment.british else named[-1:], line.start(), line.end())
    return None


def _claim(strength: Strength, segment: Segment, named: tuple[Named, ...], start: int, end: int) -> Claim:
    return Claim(strength, named, start, end, group=segment.group, british=segment.british)


def _labels(text: str, places: Places) -> Iterator[Claim]:
    for pattern in (frames.LABEL, frames.LABEL_ALONE):
        for found in pattern.finditer(text):
            segment = read_segment(text, *found.span("value"), places=places)
            whole = tuple(item for item in segment.named if item.whole)
            first = segment.named[:1] if not whole and not segment.unexplained else ()
            if whole or segment.group:
                yield _claim(Strength.LABEL, segment, whole, *found.span("value"))
            elif first and not places.is_everyday_word(first[0].key):
                yield replace(_claim(Strength.WORKPLACE, segment, first, *found.span("value")), sure=False)


def _title(text: str, lines: list[re.Match[str]], places: Places) -> Iterator[Claim]:
    if not lines or len(lines[0].group()) > LONGEST_TITLE:
        return
    start, end = lines[0].span()
    yield from _title_parts(text, start, end, places)
    for spot in spots(text, start, end, places=places):
        before, after = text[max(start, spot.start - BEFORE) : spot.start], text[spot.end : end]
        numbered = re.match(r"\s*\((\d{2}|2[AB])\)", after)
        if numbered:
            areas = [place for place in places.areas(numbered.group(1)) if place.country_code == "FR"]
            named = qualify(named_spot(spot), areas, places, end=spot.end + numbered.end())
            if named:
                yield Claim(Strength.TITLE, (named,), named.start, named.end)
        elif frames.TITLE_BEFORE.search(before) and re.match(
            r"\s*(?:$|[-–—|,;()/\[]|\bund\b|\ben\b|\bet\b|\barea\b)", after
        ):
            yield Claim(Strength.TITLE, (named_spot(spot),), spot.start, spot.end, sure=False)


def _title_parts(text: str, start: int, end: int, places: Places) -> Iterator[Claim]:
    """What stands behind a dash, a bar, a comma or in brackets, when it is a place and nothing else."""
    at, first = start, True
    for cut in [*TITLE_PART.finditer(text, start, end), None]:
        stop = cut.start() if cut else end
        if not first and stop > at:
            segment = read_segment(text, at, stop, places=places)
            named = tuple(item for item in segment.named if item.whole)
            if named and not segment.unexplained and len(named) == len(segment.named):
                yield replace(_claim(Strength.TITLE, segment, named, at, stop), sure=False)
        at, first = (cut.end() if cut else end), False


def _prose(text: str, places: Places) -> Iterator[Claim]:
    found = list(spots(text, 0, len(text), places=places))
    for number, spot in enumerate(found):
        following = found[number + 1] if number + 1 < len(found) else None
        claim = _framed(text, spot, following, places)
        if claim:
            yield claim
    for adjective in frames.GERMAN_ADJECTIVE.finditer(text):
        choices = tuple(
            choice for choice in places.with_key(place_key(adjective["city"])) if choice[0].population > LARGE
        )
        if choices:
            item = Named(*adjective.span("city"), place_key(adjective["city"]), choices, (), whole=False)
            yield Claim(Strength.SEAT, (item,), *adjective.span("city"), sure=False)


def named_spot(spot: Spot) -> Named:
    """A spot as something named, with cities and areas told apart."""
    points = tuple(choice for choice in spot.choices if is_point(choice[0]))
    areas = tuple(place for place, _ in spot.choices if not is_point(place))
    return Named(spot.start, spot.end, spot.key, points, areas, whole=False)


def _framed(text: str, spot: Spot, following: Spot | None, places: Places) -> Claim | None:
    before, after = text[max(0, spot.start - BEFORE) : spot.start], text[spot.end : spot.end + AFTER]
    line_before = before.rsplit("\n", 1)[-1]
    item = qualified(text, spot, following, places)
    addressed = _address(before, after, item)
    if addressed:
        return Claim(Strength.ADDRESS, (addressed,), spot.start, addressed.end)
    radius = within_km(line_before, after)
    strength = _strength(line_before, after, item, everyday=places.is_everyday_word(spot.key))
    if radius is not None and strength is None:
        strength = Strength.WORKPLACE
    if strength is None:
        return None
    return Claim(strength, (item,), spot.start, item.end, radius_km=radius, sure=item.qualified)


def _strength(before: str, after: str, item: Named, *, everyday: bool) -> Strength | None:
    organisation = frames.ORGANISATION_BEFORE.search(before) or frames.ORGANISATION_AFTER.match(after)
    strength: Strength | None = None
    if frames.SEAT_BEFORE.search(before):
        strength = Strength.SEAT
    elif frames.WORKPLACE_BEFORE.search(before) and not organisation:
        strength = Strength.WORKPLACE
    elif item.qualified:
        strength = Strength.QUALIFIED
    elif organisation:
        strength = None
    elif frames.WORKPLACE_AFTER.match(after) and not everyday:
        strength = Strength.SEAT
    elif frames.MENTION_BEFORE.search(before) and not everyday:
        strength = Strength.MENTION
    return strength


def qualified(text: str, spot: Spot, following: Spot | None, places: Places) -> Named:
    """The name with the state or country that follows it."""
    item = named_spot(spot)
    state = frames.STATE_AFTER.match(text, spot.end)
    if state and (len(state["code"]) == 2 or text[spot.end] in ",- ("):  # noqa: PLR2004 - two letters
        areas = [area for area in places.areas(state["code"]) if area.country_code in ("US", "CA", "AU")]
        spaced = text[spot.end] == " " and text[spot.end + 1 : spot.end + 2].isupper()
        narrowed = (
            qualify(item, areas, places, end=state.end())
            if areas and not (spaced and state["code"] in SPOKEN)
            else None
        )
        if narrowed:
            return narrowed
    if following and frames.AREA_GAP.fullmatch(text, spot.end, following.start):
        areas = [place for place, _ in following.choices if not is_point(place)]
        only_area = not any(is_point(place) and place.population > LARGE for place, _ in following.choices[:1])
        narrowed = qualify(item, areas, places, end=following.end) if areas and only_area else None
        if narrowed:
            return narrowed
    return item


SPOKEN = frozenset({"IN", "OR", "ME", "OK", "HI", "OH", "IT", "HR", "PR", "AI", "ID", "DE", "LA", "CO", "PA", "MA"})
"""State codes that are words or departments too: they qualify only behind a comma or a dash."""


def _address(before: str, after: str, item: Named) -> Named | None:
    """A postal code beside the name says the country."""
    code = frames.POSTAL_BEFORE.search(before)
    countries: frozenset[str] | None = None
    if code:
        length = len(code["code"].replace(" ", ""))
        prefix = code["prefix"]
        countries = frozenset({frames.PREFIX_COUNTRIES[prefix]}) if prefix else frames.POSTAL_COUNTRIES.get(length)
    elif frames.POSTAL_GB_AFTER.match(after):
        countries = frozenset({"GB"})
    if not countries:
        return None
    inside = tuple(choice for choice in item.choices if choice[0].country_code in countries)
    return replace(item, choices=inside, qualified=True) if inside else None


def within_km(before: str, after: str) -> int | None:
    """The radius said beside a name, in whole kilometres; None when none is said or none can be used."""
    found = frames.WITHIN.search(before) or frames.WITHIN_AFTER.match(after)
    if not found:
        return None
    number = int(found["number"])
    kilometres = round(number * KM_A_MILE) if found["unit"].lower().startswith("mi") else number
    return kilometres if 1 <= kilometres <= FARTHEST_KM else None


__all__ = ["POSTAL_GB", "Claim", "claims", "within_km"]
