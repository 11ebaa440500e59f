"""Skills: their usual names, and where a text names them."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

import ahocorasick

NEAR = 70
"""Characters on either side of a doubtful word in which a word of its field must stand."""
_DASHES = dict.fromkeys(map(ord, "-\u2010\u2011\u2012\u2013"), " ")
_BLANKS = dict.fromkeys(map(ord, "\t\n\u00a0\u2002\u2003\u2009\u200a\u202f"), " ")
_ALIKE = {**_DASHES, **_BLANKS, ord("’"): "'"}
_ADDRESS = re.compile(r"https?://\S+|www\.\S+|(?<!\S)[^\s@]+@\S+")
_GOES_ON = re.compile(r"(?:kenntnis|kennis|erfahrung|programmier)", re.IGNORECASE)
"""German and Dutch write `Excelkenntnisse` in one word."""
_COMPOUND = re.compile(r"[-\u2010\u2011][A-ZÄÖÜ][^\W\d_]{3}")
"""`Go-Entwickler` is about Go, `Go-live` is not."""


class SkillField(StrEnum):
    """The fields that skills are sorted into; each is a file of the curated data."""

    PROGRAMMING_LANGUAGES = "programming_languages"
    FRAMEWORKS = "frameworks"
    DATA_SOFTWARE = "data_software"
    DATA_PRACTICE = "data_practice"
    DATABASES = "databases"
    CLOUD_AND_OPERATIONS = "cloud_and_operations"
    SECURITY_AND_NETWORKS = "security_and_networks"
    TESTING = "testing"
    DESIGN_SOFTWARE = "design_software"
    BUSINESS_SOFTWARE = "business_software"
    ENGINEERING_SOFTWARE = "engineering_software"
    OFFICE_SOFTWARE = "office_software"
    SOFTWARE_PRACTICE = "software_practice"
    MARKETING = "marketing"
    SALES_AND_SERVICE = "sales_and_service"
    FINANCE = "finance"
    HUMAN_RESOURCES = "human_resources"
    METHODS = "methods"
    LEGAL_AND_COMPLIANCE = "legal_and_compliance"
    ENGINEERING = "engineering"
    MANUFACTURING = "manufacturing"
    CONSTRUCTION = "construction"
    TRADES = "trades"
    LICENCES = "licences"
    LOGISTICS = "logistics"
    HEALTHCARE = "healthcare"
    LABORATORY = "laboratory"
    HOSPITALITY = "hospitality"
    SOCIAL_AND_EDUCATION = "social_and_education"


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill and how texts write it.

    A spelling counts in any case; after `=` only as written; after `~` as written, and after `?` in any case, when one
    of the beginnings of words in `near` stands near it. The name itself is a spelling like the others, in any case
    unless it is marked too. A skill without a name is a decoy: its spellings are no skill.
    """

    name: str
    field: SkillField | None
    spellings: tuple[str, ...] = ()
    near: str = ""


@dataclass(frozen=True, slots=True)
class SkillMatch:
    """A skill named in a text between two character offsets."""

    name: str
    start: int
    end: int
    field: SkillField


@dataclass(frozen=True, slots=True)
class _Spelling:
    skill: Skill
    written: str
    exact: bool
    near: bool


def fold_text(text: str) -> str:
    """Fold case, dashes and blanks; the result is as long as the text, so that offsets hold."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    return lower.translate(_ALIKE)


def parse_skills(lines: Iterable[str], field: SkillField | None) -> Iterator[Skill]:
    """Read the skills of a file: name, spellings and beginnings of near words, parted by `|`, each after a tab.

    A line `@name<tab>words` names a list of near words for the lines below it; `#` opens a comment.

    Raises:
        ValueError: a line has no name, or doubtful spellings without near words.
    """
    lists: dict[str, str] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        name, spellings, near = (*line.split("\t"), "", "")[:3]
        if name.startswith("@"):
            lists[name] = spellings
            continue
        skill = Skill(name, field, tuple(filter(None, spellings.split("|"))), lists.get(near, near))
        if bool(name) is (field is None) or (_needs_near(skill) and not near):
            raise ValueError(f"not a skill: {line!r}")
        yield skill


def _needs_near(skill: Skill) -> bool:
    return any(spelling[0] in "~?" for spelling in skill.spellings)


class Skills:
    """All known skills, found in a text in one pass. Safe to share between threads."""

    def __init__(self, skills: Iterable[Skill]) -> None:
        found: dict[str, list[_Spelling]] = {}
        names: dict[str, str] = {}
        for skill in skills:
            for spelling in _spellings(skill):
                found.setdefault(fold_text(spelling.written), []).append(spelling)
            if skill.name:
                names[fold_text(skill.name)] = skill.name
        self.names: Mapping[str, str] = names
        self._automaton = ahocorasick.Automaton()
        for key, spellings in found.items():
            self._automaton.add_word(key, (len(key), tuple(spellings)))
        self._automaton.make_automaton()

    def find(self, text: str) -> tuple[SkillMatch, ...]:
        """Return every skill named in the text, in order, the longest name where several fit; none overlap."""
        folded, reached, matches = fold_text(text), 0, []
        addresses = [found.span() for found in _ADDRESS.finditer(text)] if "@" in text or "://" in text else []
        for start, end, skill in sorted(self._hits(text, folded), key=lambda hit: (hit[0], -hit[1])):
            if start < reached:
                continue
            reached = end
            at = bisect_left(addresses, (end,)) - 1
            if skill.field and not (at >= 0 and start < addresses[at][1]):
                matches.append(SkillMatch(skill.name, start, end, skill.field))
        return tuple(matches)

    def _hits(self, text: str, folded: str) -> Iterator[tuple[int, int, Skill]]:
        for last, (length, spellings) in self._automaton.iter(folded):
            start, end = last + 1 - length, last + 1
            if start and _in_word(text[start - 1]):
                continue
            if end < len(text) and not _may_follow(text, end):
                continue
            for spelling in spellings:
                if _fits(spelling, text, folded, start, end):
                    yield start, end, spelling.skill
                    break


def _spellings(skill: Skill) -> Iterator[_Spelling]:
    for spelling in skill.spellings:
        mark = spelling[0] if spelling[0] in "=~?" else ""
        yield _Spelling(skill, spelling[len(mark) :], exact=mark in {"=", "~"}, near=mark in {"~", "?"})
    marked = {fold_text(spelling[1:]) for spelling in skill.spellings if spelling[0] in "=~?"}
    if skill.name and fold_text(skill.name) not in marked:
        yield _Spelling(skill, skill.name, exact=False, near=False)


def _in_word(letter: str) -> bool:
    return letter.isalnum() or letter == "_" or unicodedata.category(letter)[0] == "M"


def _may_follow(text: str, end: int) -> bool:
    letter, after = text[end], text[end + 1 : end + 2]
    if letter == "#" or text.startswith("++", end) or (letter in ".@" and after.isalnum() and not after.isupper()):
        return False
    return not _in_word(letter) or _GOES_ON.match(text, end) is not None


def _fits(spelling: _Spelling, text: str, folded: str, start: int, end: int) -> bool:
    if spelling.exact and (text[start:end] != spelling.written or _is_part(text, start, end)):
        return False
    if not spelling.near:
        return True
    around = f"{folded[max(0, start - NEAR) : start]}\n{folded[end : end + NEAR]}"
    return _near(spelling.skill.near).search(around) is not None


def _is_part(text: str, start: int, end: int) -> bool:
    """Return whether a short word belongs to a longer one: `R&D`, `C-level`, `C'est`, `on-Go`."""
    before, after = text[max(0, start - 1) : start], text[end : end + 1]
    if (before and before in "-&'’.+") or (after and after in "&'’+"):
        return True
    return after == "-" and _COMPOUND.match(text, end) is None


@lru_cache(maxsize=1000)
def _near(words: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(re.escape(fold_text(word)) for word in words.split('|'))})")
