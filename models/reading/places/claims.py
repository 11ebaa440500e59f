"""Collect every stretch of a text that names places, with how surely each names the place of work."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from itertools import islice, zip_longest

from models.market.place_names import Place, place_key
from models.market.places import Places
from models.reading.languages import AND, OR, phrases
from models.reading.places.names import (
    DEPARTMENT,
    NamedPlace,
    Segment,
    Spot,
    is_place_noise,
    is_point,
    qualify,
    read_segment,
    spots,
)


class Strength(IntEnum):
    """How surely a stretch names the place of work; the strongest that names a city decides."""

    HEADER = 90
    LABEL = 85
    TITLE = 80
    WORKPLACE = 60
    QUALIFIED = 55
    ADDRESS = 50
    SEAT = 35
    MENTION = 25


LABEL = re.compile(
    rf"^[^\w\n]*{phrases(lambda each: each.places.label)}"
    r"(?:\(s\)|/[a-z]+)?[ \t]*[*_]*[ \t]*(?::|–|—|-(?=[ \t]?\w)|\|)[ \t*_]*(?P<value>[^\n]+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A label with its value on the same line."""

LABEL_ALONE = re.compile(
    rf"^[^\w\n]*{phrases(lambda each: each.places.label_alone)}[ \t]*[*_:]*[ \t]*\n\s*(?P<value>[^\n]+)$",
    re.IGNORECASE | re.MULTILINE,
)
"""A label that is a line of its own, its value on the next."""

WORKPLACE_BEFORE = re.compile(
    rf"(?<!\w){phrases(lambda each: each.places.workplace_before)}[\s\u00a0]+"
    rf"(?:{phrases(lambda each: each.places.workplace_article)}\s|l['’]\s)?$|(?:d['’]|l['’])$",
    re.IGNORECASE,
)
WORKPLACE_AFTER = re.compile(phrases(lambda each: each.places.workplace_after), re.IGNORECASE)
_DISTANCE = r"(?P<number>\d{1,3})\s?(?P<unit>km|kms|kilomet(?:er|re)s?|kilometern?|miles?|mi)\b"
WITHIN = re.compile(
    rf"{phrases(lambda each: each.places.within)}?\s*{_DISTANCE}\s*{phrases(lambda each: each.places.radius)}?\s*"
    rf"{phrases(lambda each: each.places.around)}?\s*(?:{phrases(lambda each: each.places.within_article)}\s)?$",
    re.IGNORECASE,
)
WITHIN_AFTER = re.compile(
    rf"\s*[,(+]?\s*(?:{AND}\s|{phrases(lambda each: each.places.within_after)}\s|\+/?-?\s?)?"
    rf"(?:up to\s|max\.?\s|ca\.?\s)?{_DISTANCE}",
    re.IGNORECASE,
)
OUR_BEFORE = re.compile(rf"(?<!\w){phrases(lambda each: each.places.our)}\s(?:new\s|growing\s)?$", re.IGNORECASE)
OFFICE_AFTER = re.compile(rf"[ -]{phrases(lambda each: each.places.office)}\b", re.IGNORECASE)
LIST_GAP = re.compile(rf"\s?,\s?(?:(?:{AND}|{OR})\s)?|\s(?:{AND}|{OR}|&)\s|\s?/\s?")
SEAT_BEFORE = re.compile(rf"{phrases(lambda each: each.places.seat_before)}[\s\u00a0]+(?:the\s)?$", re.IGNORECASE)
MENTION_BEFORE = re.compile(
    rf"(?:^|[^\w]){phrases(lambda each: each.places.mention_before)}[ \u00a0]+(?:the\s)?$", re.IGNORECASE
)
TITLE_BEFORE = re.compile(
    rf"(?:^|[^\w]){phrases(lambda each: each.places.title_before)}[ \u00a0]+"
    rf"{phrases(lambda each: each.places.title_article)}?$",
    re.IGNORECASE,
)
TITLE_AFTER = re.compile(
    rf"\s*(?:$|[-–—|,;()/\[]|\b(?:{AND}|{phrases(lambda each: each.places.title_after)}"
    r"|f/m|m/f|m/w|w/m|h/f|f/h|m/v)\b)",
    re.IGNORECASE,
)
ELSEWHERE_BEFORE = re.compile(rf"{phrases(lambda each: each.places.elsewhere_before)}[\s\u00a0]+$", re.IGNORECASE)
ORGANISATION_BEFORE = re.compile(
    rf"{phrases(lambda each: each.places.organisation_before)}\s"
    rf"{phrases(lambda each: each.places.organisation_of)}?\s*$",
    re.IGNORECASE,
)
ORGANISATION_AFTER = re.compile(
    r"\s?(?:[A-Z][\w&'-]*\s){0,2}?"
    rf"(?:{phrases(lambda each: each.places.organisation_after)}|GmbH|AG|SE|Ltd|Limited|Inc|LLC)\b"
)
POSTAL_BEFORE = re.compile(
    r"(?:^|[^\w€$£.,-])(?:(?P<prefix>D|A|CH|B|F|L|NL|FL)-)?(?P<code>\d{4,5}|\d{4} ?[A-Z]{2}),?[ \u00a0]+$"
)
POSTAL_COUNTRIES = {
    4: frozenset({"AT", "BE", "CH", "LU", "DK", "NO", "LI"}),
    5: frozenset({"DE", "FR", "ES", "IT", "FI"}),
    6: frozenset({"NL"}),
}
PREFIX_COUNTRIES = {"D": "DE", "A": "AT", "CH": "CH", "B": "BE", "F": "FR", "L": "LU", "NL": "NL", "FL": "LI"}
STATE_AFTER = re.compile(r"(?:,\s?|\s?[-–]\s|\s\(|\s)(?P<code>[A-Z]{2,3})\b(?:\s\d{5}\b)?")
POSTAL_GB_AFTER = re.compile(r",?\s*[A-Z]{1,2}\d[A-Z\d]?\s*\d[A-Z]{2}\b")
AREA_GAP = re.compile(r"\s?,\s|\s\(|\s[-–]\s|,")
CITY_ADJECTIVE = re.compile(rf"\b(?P<city>[A-ZÄÖÜ][\w-]{{2,25}}?){phrases(lambda each: each.places.city_adjective)}")

LINE = re.compile(r"[^\r\n\u2028\u2029\x0b\x0c\x85]+")
HEADER_LINES = 5
FIRM_AND_TITLE = 2
LONGEST_HEADER = 130
LONGEST_TITLE = 200
OVERSEAS = {"971": "GP", "972": "MQ", "973": "GF", "974": "RE", "976": "YT"}
BEFORE, AFTER = 90, 60
KM_A_MILE = 1.609344
FARTHEST_KM = 200
TOWN_IN_TITLE, TOWN_AT_END = 5_000, 30_000
MOST_TITLE_WORDS = 16
SHORT_KEY = 3
MOST_LISTED, MOST_LABELS = 20, 40
SENTENCE = re.compile(r"[.!?](?:\s+[A-ZÄÖÜÀ-Ý]|\s*$)")
CODE_LENGTH = 2
LARGE = 100_000
TITLE_PART = re.compile(r"\s+[-–—|]+\s*|\s*[-–—|]+\s+|:\s+|\s*[|(),;@•·\]\[)]\s*")


@dataclass(frozen=True, slots=True)
class PlaceClaim:
    """One stretch that names places of work: what it names, where it stands, how surely.

    `sure` when the stretch leaves no doubt that a place is meant, so that small and everyday names count too; `least`
    is how many people an unqualified place must have here.
    """

    strength: Strength
    named: tuple[NamedPlace, ...]
    start: int
    end: int
    group: tuple[str, ...] = ()
    british: bool = False
    radius_km: int | None = None
    sure: bool = True
    line: int = 0
    least: int = 0


def claims(text: str, found: Sequence[Spot], places: Places) -> list[PlaceClaim]:
    """Return all claims of an advertisement; `found` are the names in it."""
    lines = [found for found in LINE.finditer(text) if found.group().strip()]
    return [
        *_header(text, lines[:HEADER_LINES], places),
        *_labels(text, places),
        *_title(text, lines[:1], places),
        *_prose(text, found, places),
    ]


def _header(text: str, lines: list[re.Match[str]], places: Places) -> Iterator[PlaceClaim]:
    for number, line in enumerate(lines):
        if len(line.group()) > LONGEST_HEADER:
            return
        if "|" in line.group():
            yield from _piped(text, line, places)
        claim = _department(text, line, places) or _header_line(text, line, places, number=number)
        if claim:
            yield replace(claim, line=number)


def _piped(text: str, line: re.Match[str], places: Places) -> Iterator[PlaceClaim]:
    """`Company | Title | Berlin, Germany (Remote)`."""
    start = line.start()
    pieces = list(re.finditer(r"[^|]+", line.group()))
    for piece in pieces[1:] if len(pieces) > FIRM_AND_TITLE else pieces:
        segment = read_segment(text, start + piece.start(), start + piece.end(), places=places)
        named = tuple(item for item in segment.named if item.whole)
        if (named or segment.group) and not segment.unexplained:
            claim = _claim(Strength.HEADER, segment, named, start + piece.start(), start + piece.end())
            yield replace(claim, least=TOWN_IN_TITLE)


def _department(text: str, line: re.Match[str], places: Places) -> PlaceClaim | None:
    """`07 - PRIVAS`: the number of a French département before the name."""
    found = DEPARTMENT.fullmatch(text, line.start(), line.end())
    if not found:
        return None
    overseas = OVERSEAS.get(found["code"])
    if overseas:
        areas: tuple[Place, ...] = (places.country(overseas),)
    else:
        areas = tuple(place for place in places.areas(found["code"]) if place.country_code == "FR")
    segment = read_segment(text, *found.span("name"), places=places)
    for item in segment.named:
        inside = qualify(item, areas, places, end=item.end) if areas else None
        if inside and inside.whole:
            return PlaceClaim(Strength.HEADER, (replace(inside, start=found.start("code")),), *found.span())
    if not areas:
        return None
    department = NamedPlace(*found.span("code"), key="", choices=(), areas=areas, whole=True, qualified=True)
    return PlaceClaim(Strength.HEADER, (department,), *found.span())


def _header_line(text: str, line: re.Match[str], places: Places, *, number: int) -> PlaceClaim | None:
    segment = read_segment(text, line.start(), line.end(), places=places)
    named = tuple(item for item in segment.named if item.whole and not _is_bare_code(item))
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


def _claim(strength: Strength, segment: Segment, named: tuple[NamedPlace, ...], start: int, end: int) -> PlaceClaim:
    return PlaceClaim(strength, named, start, end, group=segment.group, british=segment.british)


def _labels(text: str, places: Places) -> Iterator[PlaceClaim]:
    for pattern in (LABEL, LABEL_ALONE):
        for found in islice(pattern.finditer(text), MOST_LABELS):
            segment = read_segment(text, *found.span("value"), places=places)
            alone = len(segment.named) == 1
            whole = tuple(item for item in segment.named if item.whole and (alone or not _is_bare_code(item)))
            first = segment.named[:1] if not whole and not segment.unexplained else ()
            if whole or segment.group:
                yield _claim(Strength.LABEL, segment, whole, *found.span("value"))
            elif first and not places.is_everyday_word(first[0].key):
                yield replace(_claim(Strength.WORKPLACE, segment, first, *found.span("value")), sure=False)


def _title(text: str, lines: list[re.Match[str]], places: Places) -> Iterator[PlaceClaim]:
    if not lines or len(lines[0].group()) > LONGEST_TITLE:
        return
    start, end = lines[0].span()
    yield from _title_parts(text, start, end, places)
    if len(lines[0].group().split()) > MOST_TITLE_WORDS or SENTENCE.search(lines[0].group()):
        return
    found = [spot for spot in spots(text, start, end, places=places) if not is_place_noise(spot.key)]
    for spot, following in zip_longest(found, found[1:]):
        claim = _title_name(text, spot, start, end, places) or _title_qualified(text, spot, following, places)
        if claim:
            yield claim


def _title_qualified(text: str, spot: Spot, following: Spot | None, places: Places) -> PlaceClaim | None:
    """`Electrician - Perth WA`."""
    item = qualified(text, spot, following, places)
    return PlaceClaim(Strength.TITLE, (item,), item.start, item.end) if item.qualified else None


def _title_name(text: str, spot: Spot, start: int, end: int, places: Places) -> PlaceClaim | None:
    """Return a name behind a preposition, before the number of its département, or at the very end of the title."""
    before, after = text[max(start, spot.start - BEFORE) : spot.start], text[spot.end : end]
    numbered = re.match(r"\s*\((\d{2}|2[AB])\)", after)
    if numbered:
        areas = [place for place in places.areas(numbered.group(1)) if place.country_code == "FR"]
        named = qualify(named_spot(spot), areas, places, end=spot.end + numbered.end())
        return PlaceClaim(Strength.TITLE, (named,), named.start, named.end) if named else None
    if not TITLE_AFTER.match(after):
        return None
    if TITLE_BEFORE.search(before) and not ELSEWHERE_BEFORE.search(before):
        return PlaceClaim(Strength.TITLE, (named_spot(spot),), spot.start, spot.end, sure=False)
    if (
        before[-1:] == " "
        and len(spot.key) > SHORT_KEY
        and not places.is_everyday_word(spot.key)
        and not spot.choices[0][1]
    ):
        return PlaceClaim(Strength.TITLE, (named_spot(spot),), spot.start, spot.end, sure=False, least=TOWN_AT_END)
    return None


def _title_parts(text: str, start: int, end: int, places: Places) -> Iterator[PlaceClaim]:
    """Yield the parts of a title line, between dashes, bars, commas or brackets, that are places and nothing else."""
    at, first = start, True
    for cut in [*TITLE_PART.finditer(text, start, end), None]:
        stop = cut.start() if cut else end
        leading = cut is not None and not cut.group().strip().startswith((",", "(", ")"))
        if (leading if first else True) and stop > at:
            segment = read_segment(text, at, stop, places=places)
            named = tuple(item for item in segment.named if item.whole and not _is_bare_code(item))
            if named and not segment.unexplained and len(named) == len(segment.named):
                yield replace(_claim(Strength.TITLE, segment, named, at, stop), sure=False, least=TOWN_IN_TITLE)
        at, first = (cut.end() if cut else end), False


def _is_bare_code(item: NamedPlace) -> bool:
    """Return whether the name is a bare code of two capitals, which more often means IT, HR or QA than a state."""
    return not item.choices and len(item.key) == CODE_LENGTH and item.key not in ("uk", "us", "eu")


def _prose(text: str, found: Sequence[Spot], places: Places) -> Iterator[PlaceClaim]:
    for number, spot in enumerate(found):
        if is_place_noise(spot.key) and not text[spot.start : spot.end].isupper():
            continue
        following = found[number + 1] if number + 1 < len(found) else None
        claim = _framed(text, spot, following, places)
        if claim:
            yield _with_siblings(text, claim, found[number + 1 : number + MOST_LISTED])
    for adjective in CITY_ADJECTIVE.finditer(text):
        key = place_key(adjective["city"])
        choices = tuple(
            choice for choice in places.with_key(key) if is_point(choice[0]) and choice[0].population > LARGE
        )
        if choices:
            item = NamedPlace(*adjective.span("city"), key, choices, (), whole=False)
            yield PlaceClaim(Strength.SEAT, (item,), *adjective.span("city"), sure=False)


def _with_siblings(text: str, claim: PlaceClaim, following: Sequence[Spot]) -> PlaceClaim:
    """`in Berlin, Hamburg and Munich`: what is listed with a name is claimed as surely; regions make a region of it."""
    (first,) = claim.named
    if first.qualified:
        return claim
    siblings: list[NamedPlace] = []
    end = first.end
    for spot in following:
        if not LIST_GAP.fullmatch(text, end, spot.start):
            break
        siblings.append(named_spot(spot))
        end = spot.end
    if any(not sibling.choices for sibling in siblings) and first.areas:
        return replace(claim, named=(replace(first, choices=()),))
    return replace(claim, named=(first, *(sibling for sibling in siblings if sibling.choices)))


def named_spot(spot: Spot) -> NamedPlace:
    """Return a spot as a named place, with cities and areas separated."""
    points = tuple(choice for choice in spot.choices if is_point(choice[0]))
    areas = tuple(place for place, _ in spot.choices if not is_point(place))
    return NamedPlace(spot.start, spot.end, spot.key, points, areas, whole=False)


def _framed(text: str, spot: Spot, following: Spot | None, places: Places) -> PlaceClaim | None:
    before, after = text[max(0, spot.start - BEFORE) : spot.start], text[spot.end : spot.end + AFTER]
    line_before = before.rsplit("\n", 1)[-1]
    item = qualified(text, spot, following, places)
    addressed = _address(before, after, item)
    if addressed:
        return PlaceClaim(Strength.ADDRESS, (addressed,), spot.start, addressed.end)
    radius = within_km(line_before, after)
    strength = _strength(line_before, after, item, everyday=places.is_everyday_word(spot.key))
    if radius is not None and strength is None:
        strength = Strength.WORKPLACE
    if strength is None:
        return None
    ours = OUR_BEFORE.search(line_before) and OFFICE_AFTER.match(after)
    return PlaceClaim(strength, (item,), spot.start, item.end, radius_km=radius, sure=item.qualified or bool(ours))


def _strength(before: str, after: str, item: NamedPlace, *, everyday: bool) -> Strength | None:
    organisation = ORGANISATION_BEFORE.search(before) or ORGANISATION_AFTER.match(after)
    ours = OUR_BEFORE.search(before) and OFFICE_AFTER.match(after)
    if ELSEWHERE_BEFORE.search(before):
        return None
    if SEAT_BEFORE.search(before):
        return Strength.SEAT
    if ours or (WORKPLACE_BEFORE.search(before) and not organisation):
        return Strength.WORKPLACE
    if item.qualified or organisation:
        return Strength.QUALIFIED if item.qualified else None
    beside = WORKPLACE_AFTER.match(after) and not everyday
    mentioned = Strength.MENTION if MENTION_BEFORE.search(before) else None
    return Strength.SEAT if beside else mentioned


def qualified(text: str, spot: Spot, following: Spot | None, places: Places) -> NamedPlace:
    """Return the name with the state or country that follows it."""
    item = named_spot(spot)
    state = STATE_AFTER.match(text, spot.end)
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
    if following and AREA_GAP.fullmatch(text, spot.end, following.start):
        areas = [place for place, _ in following.choices if not is_point(place)]
        only_area = not any(is_point(place) and place.population > LARGE for place, _ in following.choices[:1])
        narrowed = qualify(item, areas, places, end=following.end) if areas and only_area else None
        if narrowed:
            return narrowed
    return item


SPOKEN = frozenset({"IN", "OR", "ME", "OK", "HI", "OH", "IT", "HR", "PR", "AI", "ID", "DE", "LA", "CO", "PA", "MA"})
"""State codes that are words or departments too: they qualify only behind a comma or a dash."""


def _address(before: str, after: str, item: NamedPlace) -> NamedPlace | None:
    """Return the name narrowed to the country of the postal code beside it; null without one."""
    code = POSTAL_BEFORE.search(before)
    countries: frozenset[str] | None = None
    if code:
        length = len(code["code"].replace(" ", ""))
        prefix = code["prefix"]
        countries = frozenset({PREFIX_COUNTRIES[prefix]}) if prefix else POSTAL_COUNTRIES.get(length)
    elif POSTAL_GB_AFTER.match(after):
        countries = frozenset({"GB"})
    if not countries:
        return None
    inside = tuple(choice for choice in item.choices if choice[0].country_code in countries)
    return replace(item, choices=inside, qualified=True) if inside else None


def within_km(before: str, after: str) -> int | None:
    """Return the radius beside a name in whole kilometres; null when there is none that can be used."""
    found = WITHIN.search(before) or WITHIN_AFTER.match(after)
    if not found:
        return None
    number = int(found["number"])
    kilometres = round(number * KM_A_MILE) if found["unit"].lower().startswith("mi") else number
    return kilometres if 1 <= kilometres <= FARTHEST_KM else None
