"""Signs of a country that are no names of places: language, money, telephone, law, benefits, schools."""

# ruff: noqa: E501 - patterns of alternatives
import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from models.market.place_names import PlaceKind
from models.market.places import Places
from models.reading.document import any_phrase
from models.reading.places.spotting import Spot

LANGUAGE_WEIGHTS: dict[str | None, dict[str, float]] = {
    "de": {"DE": 2.0, "AT": 0.4, "CH": 0.4},
    "fr": {"FR": 2.0, "BE": 0.4, "CH": 0.4, "CA": 0.3, "LU": 0.2},
    "nl": {"NL": 1.0, "BE": 1.0},
    "en": {"US": 0.4, "GB": 0.4},
    None: {},
}
SURE, STRONG, FAIR, WEAK = 4.0, 3.0, 2.0, 1.0
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
CALLING_CODES = [
    "AT",
    "43",
    "AU",
    "61",
    "BE",
    "32",
    "CA",
    "1-514",
    "CH",
    "41",
    "CZ",
    "420",
    "DE",
    "49",
    "DK",
    "45",
    "ES",
    "34",
    "FI",
    "358",
    "FR",
    "33",
    "GB",
    "44",
    "IE",
    "353",
    "IN",
    "91",
    "IT",
    "39",
    "LU",
    "352",
    "NL",
    "31",
    "NO",
    "47",
    "NZ",
    "64",
    "PL",
    "48",
    "PT",
    "351",
    "SE",
    "46",
    "SG",
    "65",
    "ZA",
    "27",
    "AE",
    "971",
]
WEB_ENDINGS = {
    "AU": r"(?:com|gov|org|edu)\.au",
    "GB": r"(?:co|org|ac|gov|nhs)\.uk",
    "NZ": r"co\.nz",
    "ZA": r"co\.za",
} | {
    code: code.lower()
    for code in [
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
    ]
}


class Cue(NamedTuple):
    """A sign: the country, its weight, the language of the text it counts in (null: any), phrases parted by bars."""

    country: str
    weight: float
    language: str | None
    phrases: str


CUES = (
    # registers and legal forms
    Cue("DE", FAIR, None, r"HRB \d+|Amtsgericht|gGmbH|KGaA|e\. ?K\.|e\. ?V\.|GmbH|(?:m/w|w/m|f/m|m/f)/d"),
    Cue("AT", FAIR, None, r"FN \d{5,6}\s?[a-z]|Ges\.m\.b\.H"),
    Cue("FR", STRONG, None, r"SIRET|SIREN|code APE|SASU?|SARL|EURL|SCOP|[HF] ?/ ?[FH]"),
    Cue("BE", 1.5, None, r"N\.V\.|BVBA|SPRL|vzw|VZW|ASBL|RPR|VG ?\.?\d{3,4}|[mv]/[vm]/x"),
    Cue("NL", 1.5, None, r"B\.V\.|KvK"),
    Cue("GB", WEAK, "en", r"Ltd|Limited|LLP|plc"),
    Cue("US", 1.5, None, r"Inc\.|LLC|Corp\.|PLLC"),
    Cue("AU", STRONG, None, r"Pty|ABN"),
    # United States
    Cue(
        "US",
        SURE,
        None,
        r"401\s?\(?k\)?|403\s?\(?b\)|H-?1B|E-?Verify|EEOC?|W-?2|1099|US citizens?|U\.S\.|social security|green card|United States|USA",
    ),
    Cue(
        "US",
        STRONG,
        "en",
        r"Medica(?:id|re)|HIPAA|protected veterans?|veteran status|Equal (?:Employment\s)?Opportunity Employer|affirmative action|Americans with Disabilities|drug[- ](?:screen\w*|test\w*)|background check",
    ),
    Cue(
        "US",
        2.5,
        "en",
        r"high school diploma|GED|GPA|bachelor['’]s degree|community college|PTO|paid time off|per diem|LPN|RN|LSW|LCSW|CPA|EIN|non-exempt|FLSA|civil service (?:title|list|status|exam\w*)|board certified|state license|CDL",
    ),
    Cue(
        "US",
        FAIR,
        "en",
        r"NYSE|NASDAQ|Fortune \d+|(?:Eastern|Pacific|Central|Mountain)(?:\s(?:Standard|Daylight))? Time|EST|PST|PDT|EDT|CST|nationwide|Blue Cross|boroughs?|on-target earnings|Fair Chance|local, state|state,(?:\sand/or| or)?\s(?:and\s|or\s)?(?:local|federal)|federal, state|American?|\$\d+[\d,.]*\s?(?:/|per |an )\s?h(?:ou)?r",
    ),
    Cue(
        "US",
        0.7,
        "en",
        r"colors?|labor|programs?|behavior\w*|favorite|organiz\w+|analyz\w+|centers?|fulfill\w*|counseling|specializ\w+",
    ),
    # United Kingdom, Ireland
    Cue(
        "GB",
        SURE,
        "en",
        r"NHS|DBS(?:\scheck)?|band [2-9]|NMC|GMC|HCPC|Agenda for Change|right to work in the UK|National Insurance|GCSEs?|A[- ]levels?|HMRC|ACCA|CIPD|bank holidays?|NVQ|cycle to work|HCAS|CCG|GP (?:surgery|practices?)|clinical commissioning|CQC|Ofsted|UK driving licence|PAYE|IR35|United Kingdom|Great Britain",
    ),
    Cue(
        "GB",
        FAIR,
        "en",
        r"per annum|pro rata|curriculum vitae|pension scheme|annual leave|maternity cover|UK|Britain|British|England|Scotland|Wales|Welsh|Scottish",
    ),
    Cue(
        "GB",
        WEAK,
        "en",
        r"organis\w+|behaviours?|colours?|labour|programmes?|centres?|favour\w*|analys(?:e|ing)|specialis\w+|recognis\w+|licence|enrolment|utilis\w+|prioritis\w+|optimis\w+",
    ),
    Cue(
        "AU",
        0.6,
        "en",
        r"organis\w+|behaviours?|colours?|programmes?|centres?|analys(?:e|ing)|specialis\w+|recognis\w+|licence|prioritis\w+",
    ),
    Cue("IE", STRONG, "en", r"Ireland|Irish|QQI|Leaving Cert|CORU|NMBI|PPS number|Garda vetting|Stamp [14]"),
    # Australia, New Zealand, Canada
    Cue(
        "AU",
        SURE,
        "en",
        r"superannuation|plus super|\+ super|Aboriginal|Torres Strait|APS ?\d?|AHPRA|Australian?|Working with Children Check|NDIS|salary packaging|EL ?[12]",
    ),
    Cue("NZ", SURE, "en", r"KiwiSaver|New Zealand|Aotearoa|M[āa]ori"),
    Cue("CA", SURE, None, r"RRSP|Canadian?|Canada|Québec|REER|provincial|P\.Eng|Indigenous peoples"),
    # German-speaking countries
    Cue(
        "DE",
        STRONG,
        "de",
        r"Deutschlandticket|Jobrad|Minijob|VL|vermögenswirksame|betriebliche Altersvorsorge|bAV|Schwerbehindert\w*|TVöD|TV-L|Tarifvertrag|Wellpass|Urban Sports|Werkstudent\w*|duales Studium|Azubi\w*|IHK|Meister|Abitur|Bundesland|deutschlandweit|bundesweit|Weihnachtsgeld|Urlaubsgeld|Elternzeit",
    ),
    Cue("DE", FAIR, None, r"Deutschland|Germany|German market|AGG|Führerschein(?:klasse)? B"),
    Cue(
        "AT",
        SURE,
        "de",
        r"Kollektivvertrag\w*|Überzahlung|Österreich\w*|Matura|Präsenzdienst|Zivildienst|HTL|HAK|14[- ]?mal|Monatsbruttogehalt|Klimaticket|Jahresbruttogehalt|Pendlerpauschale|Bruttomonats\w+",
    ),
    Cue("AT", SURE, None, r"Austrian?|Österreich"),
    Cue(
        "CH",
        SURE,
        None,
        r"Schweiz\w*|Switzerland|Swiss|suisse|Pensum|EFZ|Halbtax|Pensionskasse|permis [BCG]|CFC|(?:60|80|90)\s?[-–]\s?100\s?%|BVG|Fachausweis|Kanton",
    ),
    # France, Belgium, Netherlands, Luxembourg
    Cue(
        "FR",
        STRONG,
        "fr",
        r"CDI|CDD|SMIC|RTT|tickets?[- ]restaurants?|mutuelle|bac ?\+ ?\d|BTS|DUT|CAP|BEP|prime de précarité|IFM|intérim\w*|pôle emploi|France Travail|13[eè](?:me)? mois|alternance|RQTH|paniers? repas|comité d['’]entreprise|CACES|permis B|Agefiph|français\w*|DEAS|prime de fin d['’]année|CPAM|URSSAF|ESAT",
    ),
    Cue("FR", STRONG, None, r"France"),
    Cue(
        "BE",
        3.5,
        "fr",
        r"chèques?[- ]repas|éco-?chèques|commission paritaire|CP ?\d{3}|passeport APE|Forem|Actiris|PFI|assurance groupe|Belgique|belges?|Wallonie|ONEM|ONSS",
    ),
    Cue("BE", 3.5, None, r"Belgium|Belgian|België|Belgique|Flemish|Vlaanderen"),
    Cue(
        "BE",
        3.5,
        "nl",
        r"maaltijdcheques?|ecocheques?|hospitalisatieverzekering|groepsverzekering|extralegale|paritair comité|PC ?\d{3}|VDAB|RSZ|ADV(?:-dagen)?|dienstencheques?|IBO|knelpuntberoep|kmo['’]?s?|Belgisch\w*|Vlaams\w*|Brussel\w*|brutoloon|eindejaarspremie|TSO|BSO|fietsvergoeding|nettovergoeding|tewerkstelling\w*|statuut|RVA|sociaal secretariaat|interimkantoor\w*",
    ),
    Cue(
        "BE",
        FAIR,
        "nl",
        r"bedienden?|onthaal\w*|interim\w*|werfleider|werf|werven|schrijnwerk\w*|ploegenstelsel|poetshulp|gsm|aankoper|aankopen|vast contract|onbepaalde duur|verlof(?:dagen)?|voltijdse?|deeltijdse?|opzoek naar|loonpakket|verloning|opvolgen|opvolging|leerbereid|vlotte?|vorming|hogeschool\w*|jobstudent\w*|verplaatsingen|rijbewijs B|firma|namiddag|kledij|twee?talig|Franstalig\w*|Nederlandstalig\w*|uurrooster|werkuren|in functie van|zelfstandige in bijberoep|hoofdzetel|facturatie|polyvalent\w*|syndicaal|burgerlijk ingenieur|stiel\w*|camion\w*|magazijnier|arbeider\w*|afwerking",
    ),
    Cue(
        "NL",
        STRONG,
        "nl",
        r"[mMvV]?[bB][oO](?:[-+]?(?:\d|niveau|opleiding))|[mM]bo|MBO|[hH]bo|HBO|[vV]mbo|VMBO|werk- en denkniveau|cao|reiskostenvergoeding|vakantiegeld|UWV|VOG|BIG-registratie|Nederland\w*|zzp\w*|pensioenregeling|pensioenopbouw|bruto per maand|uur per week|\d\d\s?[-–]\s?\d\d uur|vakantie-?uren|secundaire arbeidsvoorwaarden|onbepaalde tijd|bepaalde tijd|dienstverband|rooster|dertiende maand|gemeente",
    ),
    Cue("NL", STRONG, None, r"Netherlands|Holland"),
    Cue("LU", 3.5, None, r"Luxembourg\w*|Luxemburg"),
    # elsewhere
    Cue("SE", STRONG, None, r"Sweden|Swedish|Sverige"),
    Cue("DK", STRONG, None, r"Denmark|Danish|Danmark"),
    Cue("NO", STRONG, None, r"Norway|Norwegian|Norge"),
    Cue("FI", STRONG, None, r"Finland|Finnish|Suomi"),
    Cue("ES", STRONG, None, r"Spain|España"),
    Cue("IT", STRONG, None, r"Italy|Italia"),
    Cue("PT", STRONG, None, r"Portugal"),
    Cue("PL", STRONG, None, r"Poland|Polska|B2B contract|umowa"),
    Cue("CZ", STRONG, None, r"Czech\w*|Česk\w+"),
    Cue("IN", STRONG, None, r"India|Indian"),
    Cue("SG", STRONG, None, r"Singapore"),
    Cue("ZA", STRONG, None, r"South Africa\w*"),
    Cue("AE", STRONG, None, r"UAE|Dubai|Abu Dhabi"),
)
MOST_FOUND = 30
MOST_TIMES = 3
"""A cue counts for its first three wordings, each later one half as much as the one before."""


def _either_case(phrases: str) -> str:
    """Phrases that begin in lower case may begin a sentence; names keep their capital."""
    return re.sub(r"(?<![^|])([a-zàéèêäöü])", lambda letter: f"[{letter[1]}{letter[1].upper()}]", phrases)


def _compiled() -> tuple[tuple[str, float, str | None, re.Pattern[str]], ...]:
    cues = [
        (cue.country, cue.weight, cue.language, re.compile(rf"(?<!\w){any_phrase(_either_case(cue.phrases))}(?!\w)"))
        for cue in CUES
    ]
    cues += [(code, weight, None, re.compile(pattern)) for code, (weight, pattern) in CURRENCIES.items()]
    codes = dict(zip(CALLING_CODES[::2], CALLING_CODES[1::2], strict=True))
    cues += [(code, STRONG, None, re.compile(rf"(?<!\d)(?:\+|00){number}(?!\d)")) for code, number in codes.items()]
    cues += [
        (code, STRONG, None, re.compile(rf"(?:www\.|@)[\w.-]{{1,80}}?\.{ending}(?![\w-])", re.IGNORECASE))
        for code, ending in WEB_ENDINGS.items()
    ]
    return tuple(cues)


_CUES = _compiled()


def country_signs(text: str, language: str | None) -> dict[str, float]:
    """How strongly each country is hinted at; about 2 is a language alone, 4 a sure sign."""
    signs: dict[str, float] = defaultdict(float, LANGUAGE_WEIGHTS.get(language, {}))
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
    """How strongly each country is hinted at by names of countries, regions and large cities, each name once."""
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
