"""What reading a text asks of the shipped knowledge."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Protocol

from models.market.places import Places
from models.market.skills import SkillField
from models.market.titles import Titles


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
        """The skills that a text names, from left to right, none overlapping."""
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


# Lists of phrases written over several lines, as one regular expression group.


_BAR = re.compile(r"\s*\|\s*")


def any_phrase(phrases: str) -> str:
    r"""A group that matches any of the phrases between the bars; a space stands for any white space.

    A phrase may hold regular expression syntax of its own. Blanks beside a bar do not count: write `\s` for one.
    """
    return "(?:" + r"\s+".join(_BAR.sub("|", phrases.strip()).split()) + ")"


# A text cut into lines and sections, every piece with its offsets in the text given.


LINE = re.compile(r"[^\r\n\u2028\u2029\x0b\x0c\x85]+")
BULLET = re.compile(r"[\s>*•·\-–—▪●‣◦○✓✔➤►+#|]*")
LISTED = re.compile(r"[-•·▪●‣◦○✓✔➤►–+]\s*$|(?<!\*)\*\s*$")
LONGEST_HEADING = 60


class Section(StrEnum):
    """What a part of an advertisement talks about."""

    OPENING = "opening"
    REQUIRED = "required"
    NICE = "nice"
    TASKS = "tasks"
    COMPANY = "company"
    OFFER = "offer"


_HEADINGS = {
    Section.NICE: r"""nice[\s-]to[\s-]haves?|bonus(?:\spoints)?
        |preferred(?:\s(?:qualifications|skills|requirements))?|desirable|pluses|(?:it'?s\s)?a plus|advantageous
        |von vorteil|wünschenswert|idealerweise|das wäre (?:toll|super|schön)|optional|les plus|un plus|atouts?
        |souhaités?|serait un plus|pluspunten|een plus(?:punt)?|mooi meegenomen|good to have
        |an ideal candidate also has|extra points|bonus (?:\()?kein muss\)?""",
    Section.REQUIRED: r"""(?:(?:minimum|basic|job|key)\s)?requirements?|(?:(?:minimum|basic)\s)?qualifications?
        |qualifikation(?:en)?|(?:(?:your|ihr|dein|votre|jouw|uw|le|je)\s)?(?:profile?|profil|profiel)|anforderungen
        |stellenanforderungen|must[\s-]haves?|what you(?:['’]ll)? (?:bring|need|have)
        |what we(?:['’]re|\sare) looking for|who you are|about you|the person|your (?:skills|experience|expertise)
        |skills|essential|das bringst du(?:\sbereits)? mit|was du mitbring(?:st|en)|das bringen sie mit
        |deine? stärken|voraussetzungen|profil recherché|compétences|expérience|functie-?eisen
        |wat verwachten wij(?:\svan jou)?|wat breng je mee|wie ben jij|wie zoeken we|jouw troeven|vereisten|minimum
        |minimum requirements for the role""",
    Section.TASKS: r"""
        (?:(?:your|deine|ihre|vos|jouw|uw|main|key|the)\s)?(?:tasks?|responsibilities|duties|aufgaben|missions?)
        |(?:(?:jouw|je)\s)?(?:taken|takenpakket)|(?:(?:the|your|about the)\s)?role|what you(?:['’]ll|\swill) do
        |was dich erwartet|das erwartet dich|functie(?:omschrijving)?|job\s?description|stellenbeschreibung
        |jobbeschreibung|wat ga (?:je|jij) doen|tâches|about the (?:job|position|role)
        |(?:(?:job|role|position)\s)?(?:summary|overview|purpose)|job advert(?:\stext)?|inleiding|einleitung
        |introduction""",
    Section.COMPANY: r"""about us|who we are|about the company|about .{2,40}|über (?:uns|.{2,40})|wir über uns
        |wer wir sind|qui sommes[\s-]nous|à propos.{0,40}|l['’]entreprise|over ons|wie zijn wij
        |our (?:company|story|values|agency)""",
    Section.OFFER: r"""benefits|perks|what we offer|we offer|wir bieten|das bieten wir(?:\sdir)?|was wir bieten
        |unser angebot|nous (?:vous\s)?(?:offrons|proposons)|avantages|rémunération|wat bieden wij.{0,15}|ons aanbod
        |aanbod|wij bieden|compensation|salary|vergütung|kontakt|contact|how to apply|bewerbung""",
}
_HEADING = {section: re.compile(any_phrase(phrases), re.IGNORECASE) for section, phrases in _HEADINGS.items()}
"""Tried in this order: what is welcome before what is required, the role before `about …`."""


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line that is not blank, without what stands around its words.

    `marked` when it stands out as a heading, `listed` when it is an item of a list.
    """

    start: int
    end: int
    text: str
    section: Section
    marked: bool
    listed: bool


def section_of(line: str) -> Section | None:
    """The section that a line opens, when it is a heading."""
    short = line[: LONGEST_HEADING + 1].strip(" \t*#_:?!.-–—")
    if not short or len(short) > LONGEST_HEADING:
        return None
    return next((section for section, pattern in _HEADING.items() if pattern.fullmatch(short)), None)


class Document:
    """A text to read. `text` is never changed, so that offsets hold."""

    def __init__(self, text: str) -> None:
        self.text = text

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
            marked = "#" in self.text[found.start() : start] or words.startswith("**")
            listed = bool(LISTED.search(self.text, found.start(), start))
            lines.append(TextLine(start, end, words, section, marked, listed))
        return tuple(lines)

    def _words(self, start: int, end: int) -> tuple[int, int]:
        bullet = BULLET.match(self.text, start, end)
        start = bullet.end() if bullet else start
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
        """The section that an offset lies in."""
        starts, sections = self._sections
        at = bisect_right(starts, offset)
        return sections[at - 1] if at else Section.OPENING


# Which of the four languages a text is written in, by its most frequent small words.


WORD = re.compile(r"[^\W\d_]+")
SAMPLE_WORDS = 1500
SMALL_WORDS = {
    "en": "the and of to in a for with you are our will we is as or on your be have that this looking from not near",
    "de": """und die der in mit für wir von zu das auf du den im sie ist ein eine bei als zur deine oder sowie suchen
    nicht""",
    "fr": """de et des la le les vous à en un une du pour dans nous est avec sur au votre recherche ans ou par recrute
    près""",
    "nl": "de en van het een je in voor met op te is ben wij naar jij zijn aan of bij om jouw zoeken zoek regio geen",
}
_LANGUAGES_OF = {
    word: tuple(language for language, words in SMALL_WORDS.items() if word in words.split())
    for words in SMALL_WORDS.values()
    for word in words.split()
}


def text_language(text: str) -> str | None:
    """`en`, `de`, `fr` or `nl`; null when the small words do not decide."""
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
