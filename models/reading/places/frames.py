"""What around a name says that it is the place of work: labels, header lines, titles, addresses, prepositions."""

import re
from enum import IntEnum

from models.reading.languages import AND, OR, phrases


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
    rf"{phrases(lambda each: each.places.workplace_before)}[\s\u00a0]+"
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
