"""Read the titles of an advertisement: from its first lines, its labels, before a gender mark, after a lead-in."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple

from models.market.places import Places
from models.market.title_cleaning import alternatives, clean, normalise
from models.market.title_words import is_generic, title_key
from models.market.titles import Titles
from models.reading.document import Document, Section, TextLine
from models.reading.head_words import head_words, names_work, singular_title
from models.reading.languages import LANGUAGES, phrases
from models.reading.title_lines import GENDER_MARK, LABEL, clean_title, is_wording, line_titles, tidy

STOPS = {language.code: frozenset(language.titles.stops.split()) for language in LANGUAGES}
STOPS |= {
    language.code: STOPS[language.code] | STOPS[language.titles.announces_like]
    for language in LANGUAGES
    if language.titles.announces_like
}
"""Languages that announce titles with the same words share what ends a title."""
LEADING = {language.code: frozenset(language.titles.praise.split()) for language in LANGUAGES}
NOT_IN_TITLE = frozenset(
    " ".join(pair.split()) for language in LANGUAGES for pair in language.titles.closing_pairs.split("|")
)
"""Two words that end a title together."""
GLUED_END = re.compile(rf"(?<=[a-zäöüß]){phrases(lambda each: each.titles.glued)}$")
"""A following word that lost its space, as where bold type ended."""


class LeadInPattern(NamedTuple):
    """A way to announce a title: how much it is worth, and in which language its phrase goes on."""

    pattern: re.Pattern[str]
    weight: float
    language: str


LEAD_INS = tuple(
    LeadInPattern(re.compile(lead.pattern), lead.weight, language.code)
    for language in LANGUAGES
    for lead in language.titles.lead_ins
)

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
"""Languages that announce titles with the same words."""
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
    """Return every stretch worth looking at, in no order; of each kind as many as an honest advertisement has."""
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
    """Return the words before a gender mark, back to where the sentence or the announcement begins."""
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
    """Return where the title ends when it goes on after the mark: ` - Agent Solutions`."""
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
    """Return the phrase that begins here: until a break, a gender mark, or a word that no title goes on with."""
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
    """Return the first break; a comma after generic words is none: `Senior Manager, Finance`."""
    for found in BREAK.finditer(text, start, limit):
        if not (found.group().startswith(",") and is_generic(text[start : found.start()])):
            return found.start()
    return limit


def bare(token: str) -> str:
    """Return a word in lower case without the signs around it."""
    return token.strip(AROUND_WORDS).lower()


def _after_leading(text: str, start: int, end: int, language: str) -> int:
    """Return the offset behind articles and praise: `passionate`, `engagierten`, `gedreven`."""
    for token in TOKEN.finditer(text, start, end):
        praised = bare(token.group()) in LEADING[language]
        if not (praised or (language in CAPITALISED and token.group().lstrip(AROUND_WORDS)[:1].islower())):
            return token.start()
    return end


LINE_WEIGHT = 2.0
WITHOUT_WORK, MARKED = 0.15, 0.6
"""What a phrase without a word for work is worth, and one that at least carries a gender mark."""
HEAD_FIRST = frozenset(language.code for language in LANGUAGES if language.titles.head_first)
FIRST_WORDS = 3
"""In such a language one of the first words of a title names the work."""
GENERIC = 0.6
"""`Specialist` alone says little: a fuller title elsewhere in the text goes before it."""
MOST_CANDIDATES = 3
BEFORE_PREPOSITION = re.compile(rf".+?(?=\s+(?:{phrases(lambda each: each.titles.prepositions)}|-|–|&)\s|\s+d['’]|/|,)")
LEAST_SCORE = 2.0
SURE_LINE = 8.0
SURE_SCORE = 3.0
MENTIONED = 1.5
MENTIONS_WITHIN = 6_000
MENTION_WEIGHT, MOST_MENTIONS = 0.3, 5


@dataclass(frozen=True, slots=True)
class Wording:
    """One way the text words a title, and where."""

    title: str
    start: int
    end: int
    weight: float


@dataclass(slots=True)
class Contender:
    """One title in all the wordings that mean it."""

    score: float = 0.0
    votes: int = 0
    line_score: float = 0.0
    wordings: dict[str, Wording] = field(default_factory=dict)

    @property
    def best(self) -> list[Wording]:
        """The wordings, best first."""
        return sorted(self.wordings.values(), key=lambda wording: (-wording.weight, wording.start))


@dataclass(frozen=True, slots=True)
class TitleReading:
    """Candidates, best first; those worth searching for; whether nothing but a mention speaks for the first."""

    candidates: tuple[Wording, ...] = ()
    searched: tuple[Wording, ...] = ()
    mentioned: bool = False


class Ballot:
    """Votes for titles; wordings that clean to the same title count for the same one."""

    def __init__(self) -> None:
        self.contenders: dict[str, Contender] = {}

    def vote(self, titles: tuple[str, ...], *, weight: float, start: int, end: int, line: bool = False) -> None:
        """Count one place in the text with its wordings, best first; repeated places count less."""
        usable = [title for title in titles if is_wording(title) and title_key(title)]
        if not usable:
            return
        contender = self.contenders.setdefault(normalise(usable[0]), Contender())
        contender.votes += 1
        contender.score += weight / contender.votes
        if line:
            contender.line_score = max(contender.line_score, weight)
        for rank, title in enumerate(usable):
            wording = Wording(title, start, end, weight - 0.1 * rank)
            known = contender.wordings.get(title.casefold())
            if known is None or known.weight < wording.weight:
                contender.wordings[title.casefold()] = wording


def read_titles(document: Document, language: str | None, *, places: Places, titles: Titles) -> TitleReading:
    """Return the titles of an advertisement; nothing when none can be read."""
    ballot = Ballot()
    for line in line_titles(document, places):
        ballot.vote(line.wordings, weight=LINE_WEIGHT * line.score, start=line.start, end=line.end, line=True)
    for phrase in title_phrases(document, language):
        raw = document.text[phrase.start : phrase.end]
        title = singular_title(clean_title(raw))
        weight = phrase.weight * _telling(title, raw=raw, language=language, titles=titles)
        shorter = clean(title)
        wordings = (shorter, title) if names_work(shorter) or not names_work(title) else (title,)
        ballot.vote(tuple(dict.fromkeys(wordings)), weight=weight, start=phrase.start, end=phrase.end)
    if all(contender.score < SURE_SCORE for contender in ballot.contenders.values()):
        _vote_mentions(ballot, document, titles)
    return _chosen(ballot, document.text[:MOST_CHARACTERS].casefold())


def _telling(title: str, *, raw: str, language: str | None, titles: Titles) -> float:
    """Return the weight of an announced phrase by its words; some languages begin a title with its word for work."""
    if language in HEAD_FIRST and names_work(title) and not head_words(" ".join(title.split()[:FIRST_WORDS])):
        return WITHOUT_WORK
    if names_work(title) or titles.known(title):
        return 1.0
    return MARKED if GENDER_MARK.search(raw) else WITHOUT_WORK


def _vote_mentions(ballot: Ballot, document: Document, titles: Titles) -> None:
    """Vote for known titles that the prose merely mentions; used only when nothing announces a title."""
    for found in titles.occurrences(document.text[:MENTIONS_WITHIN]):
        title = singular_title(clean_title(document.text[found.start : found.end]))
        weight = MENTIONED * SECTION_WEIGHT[document.section_at(found.start)]
        ballot.vote((title,), weight=weight, start=found.start, end=found.end)


def _chosen(ballot: Ballot, text: str) -> TitleReading:
    for contender in ballot.contenders.values():
        mentions = max(text.count(title) for title in contender.wordings)
        contender.score += MENTION_WEIGHT * min(MOST_MENTIONS, mentions)
        if all(is_generic(title) for title in contender.wordings):
            contender.score *= GENERIC
    sure = [contender for contender in ballot.contenders.values() if contender.score >= LEAST_SCORE]
    ranked = sorted(sure, key=lambda contender: (-contender.score, contender.best[0].start))
    if not ranked:
        return TitleReading()
    first, others = (
        ranked[0],
        [contender.best[0] for contender in ranked[1:] if not is_generic(contender.best[0].title)],
    )
    more = [*first.best[1:], *_alternatives(first.best[0])]
    found = [first.best[0], *more, *others] if first.line_score >= SURE_LINE else [first.best[0], *others, *more]
    found += [_head(wording) for wording in found]
    mentioned = first.best[0].weight <= MENTIONED
    return TitleReading(candidates=_distinct(found), searched=_searched(first.best[0]), mentioned=mentioned)


def _searched(stated: Wording) -> tuple[Wording, ...]:
    """Return the stated title, the occupation in it, the part before a comma, and each of several titles in it."""
    before_comma = stated.title.partition(",")[0]
    titles = [stated.title, clean(stated.title)]
    titles += [before_comma] if names_work(before_comma) and not is_generic(before_comma) else []
    usable = [title for title in titles if names_work(title) or title == stated.title]
    wordings = [Wording(title, stated.start, stated.end, stated.weight) for title in usable]
    return _distinct([*wordings[:1], *_alternatives(stated), *wordings[1:]])


def _alternatives(wording: Wording) -> list[Wording]:
    """Return the titles that one wording names: `Recruiter / Personalreferent`."""
    titles = [title for title in alternatives(wording.title) if names_work(title)]
    return [Wording(title, wording.start, wording.end, wording.weight) for title in titles] if len(titles) > 1 else []


def _head(wording: Wording) -> Wording:
    """Return the title up to its first preposition: `cuisinier` of `cuisinier en collectivité`."""
    head = BEFORE_PREPOSITION.match(wording.title)
    title = tidy(head.group()) if head and names_work(head.group()) and not is_generic(head.group()) else wording.title
    return Wording(title, wording.start, wording.end, wording.weight)


def _distinct(wordings: list[Wording]) -> tuple[Wording, ...]:
    kept: dict[str, Wording] = {}
    for wording in wordings:
        kept.setdefault(wording.title.casefold(), wording)
    return tuple(kept.values())[:MOST_CANDIDATES]
