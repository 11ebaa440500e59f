"""Years of experience that a text asks for; ages, company histories, contracts and school years are none."""

import re
from dataclasses import dataclass

from models.reading.document import Document, Section, any_phrase

MOST_YEARS = 25
BOAST_YEARS = 11
"""From here on years belong to the company rather than to the person, unless they are plainly asked for."""
WINDOW = 110
EXPERIENCE_REACH = 70
NUMBER_WORDS = {
    word: number
    for words in (
        "one two three four five six seven eight nine ten",
        "ein zwei drei vier fünf sechs sieben acht neun zehn",
        "un deux trois quatre cinq six sept huit neuf dix",
        "één twee drie vier vijf zes zeven acht negen tien",
    )
    for number, word in enumerate(words.split(), start=1)
} | {"une": 1, "een": 1, "eine": 1, "einem": 1}
_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_NUMBER = rf"(?:\d{{1,2}}(?![\d.,]\d)|{_WORDS})"
_UNIT = r"(?:years?|yrs?|jahren?|jahre|ans|années?|an(?=\s+d)|jaar|jaren)"
_MONTHS = r"(?:months?|monaten?|monate|mois|maanden)"
_OR_MORE = r"(?:\+|or\s+more|oder\s+mehr|ou\s+plus|of\s+meer)"
YEARS = re.compile(
    rf"(?<![\w.,/$€£-])(?P<low>{_NUMBER})\s?(?P<plus>\+|plus\b|\(\d+\))?"
    rf"(?:\s?(?:-|–|—|to|bis|à|tot|or|oder|ou|of|/)\s?(?P<high>{_NUMBER})\s?\+?)?"
    rf"\s?(?P<after>{_OR_MORE})?[\s-]{{0,2}}(?P<unit>{_UNIT}|{_MONTHS})(?![\w-])",
    re.IGNORECASE,
)
COMPOUND = re.compile(
    rf"\b(?P<low>\d{{1,2}}|{_WORDS})\s?[-–]?jährige[nrms]?\s+(?:\w+\s+){{0,2}}\w*(?:erfahrung|praxis|tätigkeit)",
    re.IGNORECASE,
)
"""`5-jährige Berufserfahrung`, `dreijährige praktische Erfahrung`; `mehrjährige` counts nothing."""
MONTHS = re.compile(_MONTHS, re.IGNORECASE)
READER = re.compile(any_phrase(r"\b(?:you|sie|du|vous|je|jij|u|candidat\w*|bewerber)\b"), re.IGNORECASE)
EXPERIENCE = re.compile(
    any_phrase("experien|erfahrung|praxis|expérience|ervaring|track record|tätigkeit|worked|exp\\b|ancienneté"),
    re.IGNORECASE,
)
BEFORE_EXPERIENCE = re.compile(
    r"(?:experience|expérience|erfahrung\w*|praxis|ervaring)(?:\s+\w+){0,3}\W{0,4}"
    r"(?:(?:of|de|d['’]|von|van|with|:|\(|min\w*\.?|au moins|at least|mind\w*\.?)\W*){0,4}$",
    re.IGNORECASE,
)
ASKED = re.compile(
    any_phrase(
        """minimum|min\\.?|mind\\.?|mindestens|at least|au moins|minstens|ten minste|requires?|required|must have
        |more than|mehr als|over|über|plus de|meer dan|ab|from|you have|du hast|sie (?:haben|bringen|verfügen)
        |vous (?:avez|justifiez|disposez)|je hebt"""
    )
    + r"\W*$",
    re.IGNORECASE,
)
NOT_EXPERIENCE_BEFORE = re.compile(
    any_phrase(
        r"""\bseit(?:\s\w+){0,2}|\bsince|\bdepuis(?:\s\w+){0,3}|\bsinds|\b(?:last|past|next|first|previous|recent)
        |\b(?:letzten|nächsten|ersten|vergangenen|derni[eè]r\w*|prochain\w*|laatste|afgelopen|komende)
        |\bvor(?:\s\w+)?|\bage[ds]?|\bâgée?s?(?:\sde)?|\bwithin|\bunder|\bentre|\bevery|\balle|\btous les|\bafter
        |\bnach|\baprès|\bna
        |\b(?:vertrag|contract|contrat|befristet|laufzeit|duration|durée|duur|garantie|warranty|studium)\W+(?:\w+\W+){0,3}?
        |\bfor(?:\s(?:over|more than|nearly|almost|the))?|\bil y a|\bdurée (?:de|d['’])|\bduring|\bfounded
        |\bgegründet"""
    )
    + r"\W*$",
    re.IGNORECASE,
)
NOT_EXPERIENCE_AFTER = re.compile(
    r"\W*"
    + any_phrase(
        r"""old\b|of age|or older|or over|alt\b|âge|oud\b|jong\b|ago\b|running|in business|of history|d['’]existence
        |garantie|warranty|high school|college|degree|diploma|vertrag|contract|program|programme|studium|bachelor
        |master|lehre\b|ausbildung|apprenticeship|course|training|school|post\b|served|fixed|term\b|befristet
        |unternehmensgeschichte|tradition|position\b|project|am markt|d['’]études|erfolgreich|au service|pension"""
    ),
    re.IGNORECASE,
)
BOAST = re.compile(
    r"\b"
    + any_phrase(
        r"""we have|we've|we’ve|we bring|our (?:team|company|firm|story)
        |wir (?:haben|sind|verfügen|blicken|bieten|können|stehen)|unser(?:e|em|er)? (?:team|unternehmen|firma)
        |nous (?:avons|sommes|accompagnons)|notre (?:équipe|entreprise|société)|wij (?:hebben|zijn)
        |ons (?:team|bedrijf)|the company|combined|gemeinsam|company with|family business|familienunternehmen
        |unternehmen mit|agency with|entreprise|bedrijf met|has been|market leader"""
    ),
    re.IGNORECASE,
)
SECONDARY = re.compile(
    any_phrase("including|of which|inclusive|davon|dont|waarvan|thereof|preferred|ideally|nice to have|a plus")
    + r"\W*(?:at least|minimum)?\W*$",
    re.IGNORECASE,
)
AT_MOST = re.compile(
    any_phrase(
        "up to|max(?:imum|\\.|imal)?|less than|bis zu|weniger als|höchstens|jusqu['’]à|moins de|tot|minder dan|<"
    )
    + r"\W*$",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"[.!?](?=\s)|[\r\n]")


@dataclass(frozen=True, slots=True)
class YearsFound:
    """A range of years with the stretch of text that states it."""

    low: int | None
    high: int | None
    start: int
    end: int


def read_years(document: Document) -> YearsFound | None:
    """The experience that the text requires: the first that it states outside of what is merely welcome."""
    text = document.text
    compound = [_compound(found) for found in COMPOUND.finditer(text)]
    counted = [_counted(text, found) for found in YEARS.finditer(text)]
    stated = sorted((years for years in (*compound, *counted) if years), key=lambda years: years.start)
    for years in stated:
        section = document.section_at(years.start)
        if section in {Section.NICE, Section.OFFER} or (section is Section.COMPANY and (years.low or 0) >= BOAST_YEARS):
            continue
        # experience counted in months comes first: the whole years after it are the dearer alternatives
        return years if years.low or years.high else None
    return None


def _compound(found: re.Match[str]) -> YearsFound | None:
    low = number_of(found["low"])
    return YearsFound(low, None, found.start(), found.end()) if low and low <= MOST_YEARS else None


def _counted(text: str, found: re.Match[str]) -> YearsFound | None:
    before, after = _before(text, found.start()), _after(text, found.end())
    low, high = number_of(found["low"]), number_of(found["high"]) if found["high"] else None
    if low is None or max(low, high or 0) > MOST_YEARS or (high is not None and high < low):
        return None
    if not _is_experience(before, after) or _is_boast(before, low):
        return None
    if MONTHS.fullmatch(found["unit"]):
        return YearsFound(None, None, found.start(), found.end())
    if AT_MOST.search(before):
        return YearsFound(None, high or low, found.start(), found.end())
    return YearsFound(low, None if (found["plus"] or found["after"]) else high, found.start(), found.end())


def _is_experience(before: str, after: str) -> bool:
    if NOT_EXPERIENCE_BEFORE.search(before) or NOT_EXPERIENCE_AFTER.match(after) or SECONDARY.search(before):
        return False
    return bool(EXPERIENCE.search(after[:EXPERIENCE_REACH]) or BEFORE_EXPERIENCE.search(before))


def _is_boast(before: str, years: int) -> bool:
    """Whether the years are the company's own."""
    if years >= BOAST_YEARS and not ASKED.search(before):
        return True
    return bool(BOAST.search(before) and not READER.search(before))


def number_of(text: str) -> int | None:
    """`5`, `five`, `fünf`; null for anything else."""
    return int(text) if text.isdecimal() else NUMBER_WORDS.get(text.lower())


def _before(text: str, start: int) -> str:
    window = text[max(0, start - WINDOW) : start]
    cut = max((found.end() for found in SENTENCE_END.finditer(window)), default=0)
    return window[cut:]


def _after(text: str, end: int) -> str:
    window = text[end : end + WINDOW]
    cut = SENTENCE_END.search(window)
    return window[: cut.start()] if cut else window
