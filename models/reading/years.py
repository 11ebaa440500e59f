"""Years of experience that a text asks for; ages, company histories, contracts and school years are none."""

import re
from dataclasses import dataclass
from heapq import merge
from itertools import islice

from models.reading.document import Document, Section
from models.reading.languages import LANGUAGES, OR, phrases, word_set

MOST_YEARS = 25
BOAST_YEARS = 11
"""From this number on, years belong to the company rather than to the person, unless they are plainly asked for."""
MOST_NUMBERS = 200
"""So many numbers of years are looked at; a text with more is a table."""
WINDOW = 110
EXPERIENCE_REACH = 70
NUMBER_WORDS = {
    word: number for language in LANGUAGES for number, word in enumerate(language.years.numbers.split(), start=1)
} | dict.fromkeys(word_set(lambda each: each.years.ones), 1)
_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_NUMBER = rf"(?:\d{{1,2}}(?![\d.,]\d)|{_WORDS})"
_UNIT = phrases(lambda each: each.years.years)
_MONTHS = phrases(lambda each: each.years.months)
_OR_MORE = rf"(?:\+|{phrases(lambda each: each.years.or_more)})"
_UNTIL = rf"(?:-|–|—|/|{phrases(lambda each: each.years.until)}|{OR})"
YEARS = re.compile(
    rf"(?<![\w.,/$€£-])(?P<low>{_NUMBER})\s?(?P<plus>\+|plus\b|\(\d+\))?"
    rf"(?:\s?{_UNTIL}\s?(?P<high>{_NUMBER})\s?\+?)?"
    rf"\s?(?P<after>{_OR_MORE})?[\s-]{{0,2}}(?P<unit>{_UNIT}|{_MONTHS})(?![\w-])",
    re.IGNORECASE,
)
COMPOUND = re.compile(
    rf"\b(?P<low>\d{{1,2}}|{_WORDS})\s?[-–]?{phrases(lambda each: each.years.compound)}", re.IGNORECASE
)
"""`5-jährige Berufserfahrung`, `dreijährige praktische Erfahrung`; `mehrjährige` counts nothing."""
MONTHS = re.compile(_MONTHS, re.IGNORECASE)
READER = re.compile(rf"\b{phrases(lambda each: each.years.reader)}\b", re.IGNORECASE)
EXPERIENCE = re.compile(phrases(lambda each: each.years.experience), re.IGNORECASE)
BEFORE_EXPERIENCE = re.compile(
    rf"{phrases(lambda each: each.years.experience_noun)}(?:\s+\w+){{0,3}}\W{{0,4}}"
    rf"(?:(?:{phrases(lambda each: each.years.experience_link)}|:|\()\W*){{0,4}}$",
    re.IGNORECASE,
)
ASKED = re.compile(rf"{phrases(lambda each: each.years.asked)}\W*$", re.IGNORECASE)
NOT_EXPERIENCE_BEFORE = re.compile(rf"{phrases(lambda each: each.years.not_before)}\W*$", re.IGNORECASE)
NOT_EXPERIENCE_AFTER = re.compile(rf"\W*{phrases(lambda each: each.years.not_after)}", re.IGNORECASE)
BOAST = re.compile(rf"\b{phrases(lambda each: each.years.boast)}", re.IGNORECASE)
SECONDARY = re.compile(rf"{phrases(lambda each: each.years.secondary)}\W*(?:at least|minimum)?\W*$", re.IGNORECASE)
AT_MOST = re.compile(rf"(?:<|{phrases(lambda each: each.years.at_most)})\W*$", re.IGNORECASE)
SENTENCE_END = re.compile(r"[.!?](?=\s)|[\r\n]")


@dataclass(frozen=True, slots=True)
class YearsFound:
    """A range of years with the stretch of text that states it."""

    low: int | None
    high: int | None
    start: int
    end: int


def read_years(document: Document) -> YearsFound | None:
    """Return the experience that the text requires: the first that it states outside of what is merely welcome."""
    text = document.text
    numbers = merge(COMPOUND.finditer(text), YEARS.finditer(text), key=re.Match[str].start)
    for found in islice(numbers, MOST_NUMBERS):
        years = _compound(found) if found.re is COMPOUND else _counted(text, found)
        if years is None:
            continue
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
    """Return whether the years are the company's own."""
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
