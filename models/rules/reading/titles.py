"""Which title an advertisement is about: every phrase that may name it, weighed."""

import re
from collections import defaultdict
from dataclasses import dataclass, field

from models.rules.places import Places
from models.rules.reading.document import Document
from models.rules.reading.head_words import head_words
from models.rules.reading.title_lines import is_wording, line_titles, title_core
from models.rules.reading.title_marks import clean_title
from models.rules.reading.title_phrases import MOST_CHARACTERS, phrases

LINE_WEIGHT = 2.0
WITHOUT_HEAD = 0.3
MOST_CANDIDATES = 3
MOST_SEARCHED = 3
LEAST_SCORE = 2.0
SURE_SCORE = 6.0


@dataclass(slots=True)
class Candidate:
    """One title in one wording, with the best place it was read at."""

    title: str
    score: float = 0.0
    start: int = 0
    end: int = 0
    best: float = 0.0


@dataclass(frozen=True, slots=True)
class TitleReading:
    """Candidates, best first, and how many of them are worth searching for."""

    candidates: tuple[Candidate, ...] = ()
    searched: tuple[Candidate, ...] = ()


@dataclass(slots=True)
class Ballot:
    """Votes for titles, by their key."""

    votes: dict[str, Candidate] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def vote(self, title: str, *, weight: float, start: int, end: int) -> None:
        """Count a wording; what is repeated counts less each time."""
        key = title_key(title)
        if not is_wording(title) or not key:
            return
        found = self.votes.setdefault(key, Candidate(title))
        self.counts[key] += 1
        found.score += weight / self.counts[key]
        if weight > found.best:
            found.best, found.start, found.end, found.title = weight, start, end, title


def title_key(title: str) -> str:
    """The form in which wordings are the same."""
    return " ".join(re.findall(r"[^\W_]+[+#]*", title.casefold()))


def read_titles(document: Document, language: str | None, places: Places) -> TitleReading:
    """The titles of an advertisement; nothing when none can be read."""
    ballot = Ballot()
    for line in line_titles(document, places):
        for rank, wording in enumerate(line.wordings):
            ballot.vote(wording, weight=LINE_WEIGHT * line.score - 0.1 * rank, start=line.start, end=line.end)
    for phrase in phrases(document, language):
        raw = document.text[phrase.start : phrase.end]
        title = clean_title(raw)
        weight = phrase.weight * (1.0 if head_words(title) else WITHOUT_HEAD)
        ballot.vote(title, weight=weight, start=phrase.start, end=phrase.end)
        core = title_core(title)
        if core != title:
            ballot.vote(core, weight=weight * 0.8, start=phrase.start, end=phrase.end)
    return _chosen(ballot, document.text[:MOST_CHARACTERS])


def _chosen(ballot: Ballot, text: str) -> TitleReading:
    lowered = text.casefold()
    for candidate in ballot.votes.values():
        candidate.score += min(1.5, 0.3 * lowered.count(candidate.title.casefold()))
    ranked = sorted(ballot.votes.values(), key=lambda candidate: (-candidate.score, candidate.start, candidate.title))
    sure = [candidate for candidate in ranked if candidate.score >= LEAST_SCORE and candidate.end > candidate.start]
    if not sure:
        return TitleReading()
    searched = [sure[0]] + [other for other in sure[1:] if _same_place(sure[0], other)]
    return TitleReading(candidates=tuple(sure[:MOST_CANDIDATES]), searched=tuple(searched[:MOST_SEARCHED]))


def _same_place(first: Candidate, other: Candidate) -> bool:
    return other.start < first.end and first.start < other.end
