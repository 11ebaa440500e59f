"""A text cut into lines and sections, the language it is in, and the reference data that its readers use."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from models.market.places import Places
from models.market.skills import SkillField
from models.market.titles import Titles
from models.reading.languages import LANGUAGES, phrases, word_set


class SkillMention(Protocol):
    """A skill named in a text: `text[start:end]` reads as `name`."""

    @property
    def name(self) -> str:
        """The skill as it is searched for."""
        ...

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...

    @property
    def field(self) -> SkillField:
        """The field it belongs to."""
        ...


class SkillKnowledge(Protocol):
    """The known skills."""

    def find(self, text: str) -> Sequence[SkillMention]:
        """Return the skills that a text names, from left to right, none overlapping."""
        ...


class ReadingKnowledge(Protocol):
    """The shipped reference data, as far as reading rests on it."""

    @property
    def places(self) -> Places:
        """All known places."""
        ...

    @property
    def titles(self) -> Titles:
        """All known titles."""
        ...

    @property
    def skills(self) -> SkillKnowledge:
        """All known skills."""
        ...


LINE = re.compile(r"[^\r\n\u2028\u2029\x0b\x0c\x85]+")
AROUND = re.compile(r"[\s>*•·\-–—+#|]*")
LONGEST_HEADING = 60


class Section(StrEnum):
    """What a part of an advertisement talks about."""

    OPENING = "opening"
    REQUIRED = "required"
    NICE = "nice"
    TASKS = "tasks"
    COMPANY = "company"
    OFFER = "offer"


_HEADING = {
    Section.NICE: re.compile(phrases(lambda each: each.headings.nice), re.IGNORECASE),
    Section.REQUIRED: re.compile(phrases(lambda each: each.headings.required), re.IGNORECASE),
    Section.TASKS: re.compile(phrases(lambda each: each.headings.tasks), re.IGNORECASE),
    Section.COMPANY: re.compile(phrases(lambda each: each.headings.company), re.IGNORECASE),
    Section.OFFER: re.compile(phrases(lambda each: each.headings.offer), re.IGNORECASE),
}

"""Tried in this order: nice-to-have before required, the role before `about …`."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line that is not blank, without what stands around its words.

    `listed` when it is an item of a list.
    """

    start: int
    end: int
    text: str
    section: Section
    listed: bool


def section_of(line: str) -> Section | None:
    """Return the section that a line opens, when it is a heading."""
    short = line[: LONGEST_HEADING + 1].strip(" \t*#_:?!.-–—")
    if not short or len(short) > LONGEST_HEADING:
        return None
    return next((section for section, pattern in _HEADING.items() if pattern.fullmatch(short)), None)


class Document:
    """A text to read, cleaned. `items` are the offsets at which items of lists begin."""

    def __init__(self, text: str, items: Collection[int] = ()) -> None:
        self.text = text
        self._items = items

    @cached_property
    def lines(self) -> tuple[TextLine, ...]:
        """The lines that are not blank, in order."""
        lines: list[TextLine] = []
        section = Section.OPENING
        for found in LINE.finditer(self.text):
            start, end = self._words(found.start(), found.end())
            if start == end:
                continue
            words = self.text[start:end]
            section = section_of(words) or section
            lines.append(TextLine(start, end, words, section, listed=found.start() in self._items))
        return tuple(lines)

    def _words(self, start: int, end: int) -> tuple[int, int]:
        around = AROUND.match(self.text, start, end)
        start = around.end() if around else start
        while end > start and self.text[end - 1].isspace():
            end -= 1
        return start, end

    @cached_property
    def _sections(self) -> tuple[list[int], list[Section]]:
        opened = [
            line
            for before, line in zip((None, *self.lines), self.lines, strict=False)
            if before is None or before.section is not line.section
        ]
        return [line.start for line in opened], [line.section for line in opened]

    def section_at(self, offset: int) -> Section:
        """Return the section that an offset lies in."""
        starts, sections = self._sections
        at = bisect_right(starts, offset)
        return sections[at - 1] if at else Section.OPENING


WORD = re.compile(r"[^\W\d_]+")
SAMPLE_WORDS = 1500
_LANGUAGES_OF = {
    word: tuple(language.code for language in LANGUAGES if word in language.small_words.split())
    for word in word_set(lambda each: each.small_words)
}


def text_language(text: str) -> str | None:
    """Return the code of the language that a text is in, by its small words; null when they do not decide."""
    counts: Counter[str] = Counter()
    for number, found in enumerate(WORD.finditer(text)):
        if number == SAMPLE_WORDS:
            break
        languages = _LANGUAGES_OF.get(found.group().lower(), ())
        for language in languages:
            counts[language] += 6 // len(languages)
    ranked = counts.most_common(2)
    if not ranked or (len(ranked) > 1 and ranked[0][1] == ranked[1][1]):
        return None
    return ranked[0][0]
