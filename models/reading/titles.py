"""Titles of several people turned into the title of one: `Go devs` is `Go developer`."""

import re
from dataclasses import dataclass, field

from models.market.places import Places
from models.market.title_cleaning import alternatives, clean, normalise
from models.market.title_words import is_generic, title_key
from models.market.titles import Titles
from models.reading.document import Document
from models.reading.head_words import IRREGULAR, WORD, head_words, is_head_word, names_work
from models.reading.languages import LANGUAGES, phrases
from models.reading.title_lines import is_wording, line_titles
from models.reading.title_marks import GENDER_MARK, clean_title, tidy
from models.reading.title_phrases import MOST_CHARACTERS, SECTION_WEIGHT, title_phrases

SHORT_FORMS = {short: long for language in LANGUAGES for short, long in language.titles.short_forms.items()}
_ENDINGS = (
    *((re.compile(rf"(?<=[^\W\d_]{{2}}){many}$"), one) for many, one in IRREGULAR),
    *((re.compile(many), one) for language in LANGUAGES for many, one in language.titles.plurals),
)


def one_of(title: str) -> str:
    """The title with its word for work in the singular; what is singular already stays as it is."""
    found = [word for word in WORD.finditer(title) if is_head_word(word.group()) or word.group().lower() in SHORT_FORMS]
    for word in reversed(found):
        single = _single(word.group())
        if single != word.group():
            title = title[: word.start()] + single + title[word.end() :]
    return title


def _single(word: str) -> str:
    low = word.lower()
    if low in SHORT_FORMS:
        return SHORT_FORMS[low]
    for ending, single in _ENDINGS:
        shorter = ending.sub(single, word)
        if shorter != word and is_head_word(shorter) and not (single == "" and low.endswith("e")):
            return shorter
    return word


# Which title an advertisement is about: every phrase that may name it, weighed.


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
        """Count one place in the text, in the wordings it gives, best first; repeated places count less."""
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
    """The titles of an advertisement; nothing when none can be read."""
    ballot = Ballot()
    for line in line_titles(document, places):
        ballot.vote(line.wordings, weight=LINE_WEIGHT * line.score, start=line.start, end=line.end, line=True)
    for phrase in title_phrases(document, language):
        raw = document.text[phrase.start : phrase.end]
        title = one_of(clean_title(raw))
        weight = phrase.weight * _telling(title, raw=raw, language=language, titles=titles)
        shorter = clean(title)
        wordings = (shorter, title) if names_work(shorter) or not names_work(title) else (title,)
        ballot.vote(tuple(dict.fromkeys(wordings)), weight=weight, start=phrase.start, end=phrase.end)
    if all(contender.score < SURE_SCORE for contender in ballot.contenders.values()):
        _vote_mentions(ballot, document, titles)
    return _chosen(ballot, document.text[:MOST_CHARACTERS].casefold())


def _telling(title: str, *, raw: str, language: str | None, titles: Titles) -> float:
    """How much an announced phrase is worth by its words; a French title begins with its word for work."""
    if language in HEAD_FIRST and names_work(title) and not head_words(" ".join(title.split()[:FIRST_WORDS])):
        return WITHOUT_WORK
    if names_work(title) or titles.known(title):
        return 1.0
    return MARKED if GENDER_MARK.search(raw) else WITHOUT_WORK


def _vote_mentions(ballot: Ballot, document: Document, titles: Titles) -> None:
    """Known titles that the prose merely mentions; asked only when nothing announces a title."""
    for found in titles.occurrences(document.text[:MENTIONS_WITHIN]):
        title = one_of(clean_title(document.text[found.start : found.end]))
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
    """The title as stated, the occupation in it, what it says before a comma, and each of several titles in it."""
    before_comma = stated.title.partition(",")[0]
    titles = [stated.title, clean(stated.title)]
    titles += [before_comma] if names_work(before_comma) and not is_generic(before_comma) else []
    usable = [title for title in titles if names_work(title) or title == stated.title]
    wordings = [Wording(title, stated.start, stated.end, stated.weight) for title in usable]
    return _distinct([*wordings[:1], *_alternatives(stated), *wordings[1:]])


def _alternatives(wording: Wording) -> list[Wording]:
    """The titles that one wording names: `Recruiter / Personalreferent`."""
    titles = [title for title in alternatives(wording.title) if names_work(title)]
    return [Wording(title, wording.start, wording.end, wording.weight) for title in titles] if len(titles) > 1 else []


def _head(wording: Wording) -> Wording:
    """The title up to its first preposition: `cuisinier` of `cuisinier en collectivité`."""
    head = BEFORE_PREPOSITION.match(wording.title)
    title = tidy(head.group()) if head and names_work(head.group()) and not is_generic(head.group()) else wording.title
    return Wording(title, wording.start, wording.end, wording.weight)


def _distinct(wordings: list[Wording]) -> tuple[Wording, ...]:
    kept: dict[str, Wording] = {}
    for wording in wordings:
        kept.setdefault(wording.title.casefold(), wording)
    return tuple(kept.values())[:MOST_CANDIDATES]
