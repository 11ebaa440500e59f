"""Signs of a country: language, money, telephone, law, benefits, schools, and the places a text mentions."""

# ruff: noqa: E501 - patterns of alternatives
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from models.market.place_names import PlaceKind
from models.market.places import Places
from models.reading.languages import BY_CODE, LANGUAGES
from models.reading.languages.language import Cue, any_phrase
from models.reading.places.names import Spot

SURE, STRONG, FAIR = 4.0, 3.0, 2.0
CURRENCIES = {
    "GB": (STRONG, r"£\s?\d|\bGBP\b"),
    "CH": (SURE, r"\bCHF\b|\bSFr\.?\s?\d|\bFranken\b"),
    "US": (1.5, r"(?<![A-Z])\$\s?\d|\bUSD\b"),
    "AU": (SURE, r"\bAUD\b|\bAU?\$\s?\d"),
    "CA": (SURE, r"\bCAD\b|\bCA?\$\s?\d"),
    "NZ": (SURE, r"\bNZD\b|\bNZ\$"),
    "SG": (SURE, r"\bSGD\b|\bS\$\s?\d"),
    "PL": (SURE, r"\bPLN\b|\bzł\b"),
    "SE": (SURE, r"\bSEK\b"),
    "DK": (SURE, r"\bDKK\b"),
    "NO": (SURE, r"\bNOK\b"),
    "CZ": (SURE, r"\bCZK\b|\bKč\b"),
    "IN": (SURE, r"\bINR\b|₹|\bLPA\b|\blakhs?\b"),
    "AE": (SURE, r"\bAED\b"),
    "ZA": (SURE, r"\bZAR\b"),
}
CALLING_CODES = {
    "AT": "43",
    "AU": "61",
    "BE": "32",
    "CA": "1-514",
    "CH": "41",
    "CZ": "420",
    "DE": "49",
    "DK": "45",
    "ES": "34",
    "FI": "358",
    "FR": "33",
    "GB": "44",
    "IE": "353",
    "IN": "91",
    "IT": "39",
    "LU": "352",
    "NL": "31",
    "NO": "47",
    "NZ": "64",
    "PL": "48",
    "PT": "351",
    "SE": "46",
    "SG": "65",
    "ZA": "27",
    "AE": "971",
}

WEB_ENDINGS = {
    "AU": r"(?:com|gov|org|edu)\.au",
    "GB": r"(?:co|org|ac|gov|nhs)\.uk",
    "NZ": r"co\.nz",
    "ZA": r"co\.za",
} | {
    code: code.lower()
    for code in (
        "AT",
        "BE",
        "CA",
        "CH",
        "CZ",
        "DE",
        "DK",
        "ES",
        "FI",
        "FR",
        "IE",
        "IT",
        "LU",
        "NL",
        "NO",
        "PL",
        "PT",
        "SE",
    )
}


CUES = (
    Cue("DE", FAIR, r"HRB \d+|Amtsgericht|gGmbH|KGaA|e\. ?K\.|e\. ?V\.|GmbH|(?:m/w|w/m|f/m|m/f)/d"),
    Cue("AT", FAIR, r"FN \d{5,6}\s?[a-z]|Ges\.m\.b\.H"),
    Cue("FR", STRONG, r"SIRET|SIREN|code APE|SASU?|SARL|EURL|SCOP|[HF] ?/ ?[FH]"),
    Cue("BE", 1.5, r"N\.V\.|BVBA|SPRL|vzw|VZW|ASBL|RPR|VG ?\.?\d{3,4}|[mv]/[vm]/x"),
    Cue("NL", 1.5, r"B\.V\.|KvK"),
    Cue("US", 1.5, r"Inc\.|LLC|Corp\.|PLLC"),
    Cue("AU", STRONG, r"Pty|ABN"),
    Cue(
        "US",
        SURE,
        r"401\s?\(?k\)?|403\s?\(?b\)|H-?1B|E-?Verify|EEOC?|W-?2|1099|US citizens?|U\.S\.|social security|green card|United States|USA",
    ),
    Cue("CA", SURE, r"RRSP|Canadian?|Canada|Québec|REER|provincial|P\.Eng|Indigenous peoples"),
    Cue("DE", FAIR, r"Deutschland|Germany|German market|AGG|Führerschein(?:klasse)? B"),
    Cue("AT", SURE, r"Austrian?|Österreich"),
    Cue(
        "CH",
        SURE,
        r"Schweiz\w*|Switzerland|Swiss|suisse|Pensum|EFZ|Halbtax|Pensionskasse|permis [BCG]|CFC|(?:60|80|90)\s?[-–]\s?100\s?%|BVG|Fachausweis|Kanton",
    ),
    Cue("FR", STRONG, r"France"),
    Cue("BE", 3.5, r"Belgium|Belgian|België|Belgique|Flemish|Vlaanderen"),
    Cue("NL", STRONG, r"Netherlands|Holland"),
    Cue("LU", 3.5, r"Luxembourg\w*|Luxemburg"),
    Cue("SE", STRONG, r"Sweden|Swedish|Sverige"),
    Cue("DK", STRONG, r"Denmark|Danish|Danmark"),
    Cue("NO", STRONG, r"Norway|Norwegian|Norge"),
    Cue("FI", STRONG, r"Finland|Finnish|Suomi"),
    Cue("ES", STRONG, r"Spain|España"),
    Cue("IT", STRONG, r"Italy|Italia"),
    Cue("PT", STRONG, r"Portugal"),
    Cue("PL", STRONG, r"Poland|Polska|B2B contract|umowa"),
    Cue("CZ", STRONG, r"Czech\w*|Česk\w+"),
    Cue("IN", STRONG, r"India|Indian"),
    Cue("SG", STRONG, r"Singapore"),
    Cue("ZA", STRONG, r"South Africa\w*"),
    Cue("AE", STRONG, r"UAE|Dubai|Abu Dhabi"),
)
"""Hints in texts of any language; those of one language stand with it."""
MOST_FOUND, MOST_CHARACTERS = 30, 20_000
"""Hints are counted this far into a text: what comes later is no longer about the job."""
MOST_TIMES = 3
"""A cue counts for its first three wordings, each later one half as much as the one before."""


def _either_case(phrases: str) -> str:
    """Let phrases in lower case also begin a sentence; names keep their capital."""
    return re.sub(r"(?<![^|])([a-zàéèêäöü])", lambda letter: f"[{letter[1]}{letter[1].upper()}]", phrases)


def _compiled() -> tuple[tuple[str, float, str | None, re.Pattern[str]], ...]:
    by_language = [(None, CUES), *((language.code, language.places.cues) for language in LANGUAGES)]
    cues: list[tuple[str, float, str | None, re.Pattern[str]]] = [
        (cue.country, cue.weight, code, re.compile(rf"(?<!\w){any_phrase(_either_case(cue.phrases))}(?!\w)"))
        for code, said in by_language
        for cue in said
    ]
    cues += [(code, weight, None, re.compile(pattern)) for code, (weight, pattern) in CURRENCIES.items()]
    cues += [
        (code, STRONG, None, re.compile(rf"(?<!\d)(?:\+|00){number}(?!\d)")) for code, number in CALLING_CODES.items()
    ]
    cues += [
        (code, STRONG, None, re.compile(rf"(?:www\.|@)[\w.-]{{1,80}}?\.{ending}(?![\w-])", re.IGNORECASE))
        for code, ending in WEB_ENDINGS.items()
    ]
    return tuple(cues)


_CUES = _compiled()


def country_signs(text: str, language: str | None) -> dict[str, float]:
    """Return how strongly each country is hinted at; about 2 is a language alone, 4 a sure sign."""
    signs: dict[str, float] = defaultdict(float, BY_CODE[language].places.country_weights if language else {})
    text = text[:MOST_CHARACTERS]
    for code, weight, spoken, pattern in _CUES:
        if language is not None and spoken not in (None, language):
            continue
        distinct = {found.group().lower() for found in islice(pattern.finditer(text), MOST_FOUND)}
        for time in range(min(len(distinct), MOST_TIMES)):
            signs[code] += weight / 2**time
    return signs


# Signs of a country in the places that a text mentions anywhere.


LARGE = 100_000
COUNTRY, REGION, CITY = 1.5, 1.0, 1.2
MOST = 3.0
DOMINANT = 10
"""A city counts when it has so many times the people of the next place of its name in another country."""


def place_signs(found: Sequence[Spot], places: Places) -> dict[str, float]:
    """Return how strongly each country is hinted at by names of countries, regions and large cities, each name once."""
    signs: dict[str, float] = defaultdict(float)
    seen: set[str] = set()
    for spot in found:
        if spot.key in seen or places.is_everyday_word(spot.key) or len(spot.key) < len("ulm"):
            continue
        seen.add(spot.key)
        place, alias = spot.choices[0]
        rivals = [other for other, _ in spot.choices[1:] if other.country_code != place.country_code]
        if any(other.population * DOMINANT > place.population for other in rivals):
            continue
        if place.kind is PlaceKind.COUNTRY:
            signs[place.country_code] += COUNTRY
        elif place.kind is PlaceKind.REGION and not alias:
            signs[place.country_code] += REGION
        elif place.population >= LARGE:
            signs[place.country_code] += CITY
    return {code: min(weight, MOST) for code, weight in signs.items()}
