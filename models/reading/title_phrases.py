"""Where an advertisement may name its title: its first lines, its labels, before a gender mark, after a lead-in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from models.market.title_words import is_generic
from models.reading.document import Document, Section, TextLine
from models.reading.languages import LANGUAGES, phrases
from models.reading.lead_ins import GLUED_END, LEAD_INS, LEADING, NOT_IN_TITLE, STOPS, LeadInPattern
from models.reading.title_marks import GENDER_MARK, LABEL

MOST_CHARACTERS = 20_000
"""Titles are looked for this far into a text."""
MOST_OF_A_KIND = 60
LONGEST_PHRASE = 110
BEFORE_TRAINING, NOT_THIS_JOB = 60, 0.3
MOST_WORDS = 9
OPENING_SIGNS = " \t\r\n\"„“”*_'«»("
AROUND_WORDS = "*_()[]\"„“”«»'’,"
TOKEN = re.compile(r"\S+")
BREAK = re.compile(r"[\r\n]|[.!?](?=\s|$|[A-ZÄÖÜ]{1}[a-z])|[;:•\"“”„»«]|\*\*|\s[-–—|]\s|,\s")
GOES_ON = re.compile(r"\*?\s[-–—|]\s(?=[A-ZÄÖÜ])[^,.;:!?\r\n]{2,50}")
CUTS = re.compile(rf"[.!?](?=\s)|[;:•\"“”„»«]|\s[-–—|]\s|,\s|{phrases(lambda each: each.titles.cuts)}")
"""Where the words before a gender mark may begin to be the title."""
SECTION_WEIGHT = {
    Section.OPENING: 1.0,
    Section.TASKS: 1.0,
    Section.COMPANY: 0.8,
    Section.OFFER: 0.4,
    Section.REQUIRED: 0.35,
    Section.NICE: 0.2,
}
FOREIGN = 0.8
"""An announcement in another language than the text's."""
CONFUSED = {(language.code, language.titles.announces_like) for language in LANGUAGES}
"""German and Dutch announce with the same words."""
CAPITALISED = frozenset(language.code for language in LANGUAGES if language.titles.capitalised_nouns)
"""Languages in which a title does not begin with a small letter."""
TRAINING = re.compile(phrases(lambda each: each.titles.training) + r"\W+(?:\w+\W+){0,4}$", re.IGNORECASE)
"""Before a phrase that names a training or an earlier job."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """A stretch of text that may name the title, and how much its place is worth."""

    start: int
    end: int
    weight: float


def title_phrases(document: Document, language: str | None) -> Iterator[Phrase]:
    """Every stretch worth looking at, in no order; of each kind as many as an honest advertisement has."""
    lines = [line for line in document.lines if line.start <= MOST_CHARACTERS]
    yield from islice((phrase for line in lines for phrase in _labelled(document.text, line)), MOST_OF_A_KIND)
    marked = (phrase for line in lines for phrase in _marked(document.text, line, language or "en"))
    yield from islice(marked, MOST_OF_A_KIND)
    for lead in LEAD_INS:
        yield from islice(_announced(document, lead, language), MOST_OF_A_KIND)


def _labelled(text: str, line: TextLine) -> Iterator[Phrase]:
    label = LABEL.match(text, line.start, line.end)
    if label and line.end - label.end() <= LONGEST_PHRASE:
        yield Phrase(label.end(), line.end, 5.0)


def _marked(text: str, line: TextLine, language: str) -> Iterator[Phrase]:
    """The words before a gender mark, back to where the sentence or the announcement begins."""
    for mark in GENDER_MARK.finditer(text, line.start, line.end):
        start = _phrase_start(text, max(line.start, mark.start() - LONGEST_PHRASE), mark.start(), language)
        if start >= mark.start():
            continue
        weight = 5.0 * SECTION_WEIGHT[line.section]
        if TRAINING.search(text, max(line.start, start - BEFORE_TRAINING), start):
            weight *= NOT_THIS_JOB
        yield Phrase(start, _extended(text, mark.end(), line.end), weight)
        yield Phrase(start, mark.start(), weight * 0.9)


def _extended(text: str, end: int, line_end: int) -> int:
    """After the mark a title may go on: ` - Agent Solutions`."""
    more = GOES_ON.match(text, end, line_end)
    return more.end() if more else end


def _phrase_start(text: str, start: int, end: int, language: str) -> int:
    for cut in CUTS.finditer(text, start, end):
        if cut.end() < end and text[cut.end() : end].strip():
            start = cut.end()
    return _after_leading(text, start, end, language)


def _announced(document: Document, lead: LeadInPattern, language: str | None) -> Iterator[Phrase]:
    if (lead.language, language) in CONFUSED:
        return
    text = document.text
    foreign = 1.0 if language in {lead.language, None} else FOREIGN
    for found in lead.pattern.finditer(text, 0, MOST_CHARACTERS):
        start, end = announced_span(text, found.end(), lead.language)
        if start >= end:
            continue
        weight = foreign * lead.weight * SECTION_WEIGHT[document.section_at(found.start())]
        if TRAINING.search(text, max(0, found.start() - BEFORE_TRAINING), found.start()):
            weight *= NOT_THIS_JOB
        yield Phrase(start, end, weight)


def announced_span(text: str, start: int, language: str) -> tuple[int, int]:
    """The phrase that begins here: until a break, a gender mark, or a word that no title goes on with."""
    while start < len(text) and text[start] in OPENING_SIGNS:
        start += 1
    limit = min(len(text), start + LONGEST_PHRASE)
    mark = GENDER_MARK.search(text, start, limit)
    limit = _break_at(text, start, mark.start() if mark else limit)
    start = _after_leading(text, start, limit, language)
    tokens = list(TOKEN.finditer(text, start, limit))[:MOST_WORDS]
    end = start
    for number, token in enumerate(tokens):
        word = bare(token.group())
        following = bare(tokens[number + 1].group()) if number + 1 < len(tokens) else ""
        if word in STOPS[language] or f"{word} {following}" in NOT_IN_TITLE:
            break
        glued = GLUED_END.search(token.group())
        end = token.start() + glued.start() if glued else token.end()
        if glued:
            break
    return start, end


def _break_at(text: str, start: int, limit: int) -> int:
    """The first break; a comma after words that say nothing alone is none: `Senior Manager, Finance`."""
    for found in BREAK.finditer(text, start, limit):
        if not (found.group().startswith(",") and is_generic(text[start : found.start()])):
            return found.start()
    return limit


def bare(token: str) -> str:
    """A word in lower case without the signs around it."""
    return token.strip(AROUND_WORDS).lower()


def _after_leading(text: str, start: int, end: int, language: str) -> int:
    """Past articles and praise: `passionate`, `engagierten`, `gedreven`."""
    for token in TOKEN.finditer(text, start, end):
        praised = bare(token.group()) in LEADING[language]
        if not (praised or (language in CAPITALISED and token.group().lstrip(AROUND_WORDS)[:1].islower())):
            return token.start()
    return end
