"""Languages that people have to speak, as lower-case English names; programming languages and markets are none."""

import re
from dataclasses import dataclass

from models.reading.document import Document, Section, any_phrase

NAMES = {
    "english": "english englisch anglais engels",
    "german": "german deutsch allemand duits",
    "french": "french französisch français francais frans",
    "dutch": "dutch niederländisch néerlandais nederlands flemish flämisch vlaams",
    "spanish": "spanish spanisch espagnol spaans castilian",
    "italian": "italian italienisch italien italiaans",
    "portuguese": "portuguese portugiesisch portugais portugees",
    "polish": "polish polnisch polonais pools",
    "russian": "russian russisch russe",
    "ukrainian": "ukrainian ukrainisch ukrainien oekraïens",
    "turkish": "turkish türkisch turc turks",
    "arabic": "arabic arabisch arabe",
    "chinese": "chinese chinesisch chinois chinees mandarin cantonese kantonesisch mandarijn",
    "japanese": "japanese japanisch japonais japans",
    "korean": "korean koreanisch coréen koreaans",
    "swedish": "swedish schwedisch suédois zweeds",
    "danish": "danish dänisch danois deens",
    "norwegian": "norwegian norwegisch norvégien noors",
    "finnish": "finnish finnisch finnois fins",
    "czech": "czech tschechisch tchèque tsjechisch",
    "slovak": "slovak slowakisch slovaque slowaaks",
    "hungarian": "hungarian ungarisch hongrois hongaars",
    "romanian": "romanian rumänisch roumain roemeens",
    "bulgarian": "bulgarian bulgarisch bulgare bulgaars",
    "greek": "greek griechisch grec grieks",
    "croatian": "croatian kroatisch croate kroatisch",
    "serbian": "serbian serbisch serbe servisch",
    "hebrew": "hebrew hebräisch hébreu hebreeuws",
    "hindi": "hindi",
    "persian": "persian farsi persisch",
    "vietnamese": "vietnamese vietnamesisch vietnamien vietnamees",
    "thai": "thai thailändisch thaï",
    "luxembourgish": "luxembourgish luxemburgisch luxembourgeois luxemburgs",
    "catalan": "catalan katalanisch catalaans",
    "welsh": "welsh walisisch gallois",
    "sign language": "sign language gebärdensprache",
}
ENGLISH_OF = {name: language for language, names in NAMES.items() for name in names.split()}
ENGLISH_OF.pop("sign")
ENGLISH_OF.pop("language")
LEVEL = any_phrase(
    r"""[ABC][12]\b(?:\s?[-–/+]\s?[ABC]?[12]\b)?\+?|native|mother tongue|fluent|muttersprach\w*|verhandlungssicher\w*
    |fließend\w*|courant\w*|bilingue|langue maternelle|vloeiend|moedertaal"""
)
_NAMED = "(?:" + "|".join(sorted(map(re.escape, ENGLISH_OF), key=len, reverse=True)) + ")"
NAME = re.compile(
    rf"(?<![\w-])(?P<name>{_NAMED})"
    r"(?P<tail>s?-?(?:kenntnisse?n?|sprach\w*|talig\w*|sprekend\w*|speaking|speakers?)?)(?!\w)",
    re.IGNORECASE,
)
CUE = re.compile(
    r"\b(?:"
    + LEVEL
    + "|"
    + any_phrase(
        r"""fluen\w+|speak\w*|spoken|written|proficien\w+|command|languages?|bilingual|trilingual|multilingual
        |kenntnis\w*|sprach\w*|sprich\w*|sprechen|wort und schrift|schriftlich|langues?|parl\w+|écrit\w*|maîtrise\w*
        |lu|oral\w*|kennis|spreek\w*|spreken|schrijf\w*|vlot|talen|taal|mondeling|schriftelijk|tweetalig\w*
        |drietalig\w*|talenkennis|uitdrukken|communicat\w+ in|kommunizier\w+"""
    )
    + r"\b)",
    re.IGNORECASE,
)
_GOES_ON = any_phrase(
    r"""and\b|or\b|und\b|oder\b|et\b|ou\b|en\b|of\b|language|skills?|speak|level|is\b|are\b|as\b|at\b|to\b|in\b|on\b
        |a\b|required|preferred|native|fluen|profic|both|with|plus|would|written|spoken|knowledge|mandatory
        |essential|desirable|\("""
)
NOT_SPOKEN_AFTER = re.compile(rf"\s+(?!{_GOES_ON})(?=[a-z]{{3,}})")
"""`German market`: the English name of a language before another noun."""
WELCOME = re.compile(
    r"\b"
    + any_phrase(
        r"""plus|pluspunt\w*|advantage\w*|preferred|desirable|nice to have|asset|bonus|von vorteil|vorteilhaft
        |wünschenswert|idealerweise|gerne|wäre|atout|souhait\w+|appréci\w+|serait|meegenomen|troef|beneficial
        |ideally|optional|helpful|idéalement|bij voorkeur|voordeel|welcome"""
    )
    + r"\b",
    re.IGNORECASE,
)
IDEALLY = re.compile(
    r"\b" + any_phrase("ideally|preferably|idealerweise|idealiter|idéalement|gerne|bij voorkeur|de préférence") + r"\b",
    re.IGNORECASE,
)
NOT_NEEDED = re.compile(
    r"\b(?:no|not|kein\w*|nicht|pas|geen|niet)\b[^,;]{0,25}$"
    r"|^[^,;]{0,25}\b(?:not|nicht|pas|niet)\s"
    + any_phrase("required|needed|necessary|erforderlich|nötig|notwendig|nécessaire|nodig|vereist"),
    re.IGNORECASE,
)
OF_OTHERS = re.compile(
    any_phrase(
        r"""\w+[-\s]speaking (?:jobs?|countr\w+|markets?|clients?|customers?|world|regions?)
        |\w+sprachige[nrms] [A-ZÄÖÜ]|\w+talige? (?:klant\w*|markt\w*)"""
    ),
    re.IGNORECASE,
)
"""Other people, markets and countries that speak the language."""
_OR = any_phrase("or|and/or|oder|ou|of|en/of|et/ou|und/oder")
OR_AFTER = re.compile(rf"\W{{0,3}}\s*{LEVEL}?\W*\b{_OR}\s+{_NAMED}", re.IGNORECASE)
OR_BEFORE = re.compile(rf"{_NAMED}\W{{0,3}}\s*{LEVEL}?\W*\b{_OR}\s+$", re.IGNORECASE)
_REQUIRED = any_phrase(
    r"""needed|required|mandatory|essential|a must|erforderlich|zwingend|notwendig|exigée?|nécessaire|indispensable
    |obligatoire|requise?|vereist|noodzakelijk|een must"""
)
REQUIRED = re.compile(rf"\b{_REQUIRED}\b", re.IGNORECASE)
REQUIRED_AFTER = re.compile(
    rf"(?:\W+{_OR}\W+{_NAMED}|\W+(?:and|und|et|en)\W+{_NAMED})?\W*(?:(?:is|are|ist|sind|est|sont|zijn)\s+)?"
    rf"{_REQUIRED}\b",
    re.IGNORECASE,
)
"""`German or French is needed`."""
HAS_LEVEL = re.compile(LEVEL, re.IGNORECASE)
ALSO_A_WORD = frozenset({"polish", "pools", "fins", "thai", "italien"})
"""Names that are words of their own without a capital."""
CLAUSE = re.compile(r"[.;!?](?=\s|$)|[\r\n•·]")
WINDOW = 120
REACH = 60


@dataclass(frozen=True, slots=True)
class Spoken:
    """A language with the stretch that names it; `welcome` when it is not required, `level` when one was given."""

    language: str
    start: int
    end: int
    welcome: bool
    level: bool
    alternative: bool


def read_spoken(document: Document) -> list[Spoken]:
    """Each language once, where it is first asked for."""
    found: dict[str, Spoken] = {}
    for name in NAME.finditer(document.text):
        spoken = _spoken(document, name)
        if spoken and (spoken.language not in found or (found[spoken.language].welcome and not spoken.welcome)):
            found[spoken.language] = spoken
    return list(found.values())


def _spoken(document: Document, name: re.Match[str]) -> Spoken | None:
    text = document.text
    before, after = clause_around(text, name.start(), name.end())
    if not name["name"][0].isupper() and name["name"].lower() in ALSO_A_WORD:
        return None
    near = f"{before[-REACH:]} {name['tail']} {after[:REACH]}"
    cued = name["tail"].endswith("-") or len(name["tail"]) > 1 or CUE.search(near) or REQUIRED_AFTER.match(after)
    if OF_OTHERS.match(text, name.start()) or not cued or NOT_NEEDED.search(before) or NOT_NEEDED.search(after):
        return None
    if len(name["tail"]) <= 1 and name["name"].lower() in NAMES and NOT_SPOKEN_AFTER.match(after):
        return None
    section = document.section_at(name.start())
    if section is Section.COMPANY and not HAS_LEVEL.search(near):
        return None
    return Spoken(
        language=ENGLISH_OF[name["name"].lower()],
        start=name.start(),
        end=name.end(),
        welcome=section is Section.NICE or _is_welcome(after[:REACH]) or bool(IDEALLY.search(before[-25:])),
        level=bool(HAS_LEVEL.search(near)),
        alternative=bool(OR_AFTER.match(after) or OR_BEFORE.search(before)),
    )


def _is_welcome(after: str) -> bool:
    """Said to be a plus; in `English is required, Polish is a plus` that is said of another language."""
    welcome = WELCOME.search(after)
    return welcome is not None and not REQUIRED.search(after, 0, welcome.start())


def clause_around(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands before and after a stretch within its sentence, at most 120 characters each."""
    before = text[max(0, start - WINDOW) : start]
    before = before[max((found.end() for found in CLAUSE.finditer(before)), default=0) :]
    after = text[end : end + WINDOW]
    stop = CLAUSE.search(after)
    return before, after[: stop.start()] if stop else after
