"""A title taken apart: the occupation that people call themselves, and beside it level, skills and specialism."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import NamedTuple, Protocol

from models.market.curated import curated_rows
from models.market.skills import Skills, fold_text
from models.market.specialisms import Specialisms
from models.market.title_cleaning import (
    MOST_LETTERS,
    Seniority,
    alternatives,
    clean,
    core,
    in_one_gender,
    seniority,
    without_seniority,
)
from models.market.title_words import Occurrence, fold, is_generic, words

_BRACKETS = re.compile(r"[()\[\]{}]")
_APART = re.compile(r"\s*[,;:|•·]\s*|\s+[-–—]+\s+|\s*\n\s*")
_EDGES = " ,;:|/+&-–—.*"
_LINK_WORDS = """
a an and at auf aus avec d de den der des du en et for fur im in l la le met mit of oder op or ou pour te und van voor
with zu zum zur dans chez bij bei
"""
_LINKS = frozenset(_LINK_WORDS.split())
_PLURALS = re.compile(
    r"(?:(?<=[^\W\d_]{2})|(?=head|chef))(er|or|eur|euse|ist|iste|ant|ante|ent|ian|ien|ienne|ier|iere|eer|ice|ive|man|tech|rep|hand|dev|lead"
    r"|ste|aar|ur|chef|ef|ard|head)s$"
)
_OF = frozenset(("of", "de", "du", "des", "d", "en", "van"))
_MEN = re.compile(r"(?<=[^\W\d_]{3})men$")
_DUTCH = re.compile(r"(?<=[^\W\d_]{3})(ig|erk|ologen|und)en$")
_INITIALS = re.compile(r"^[A-Z]{2,5}s$")
_SHORT = {
    "rep": "Representative", "reps": "Representatives", "dev": "Developer", "devs": "Developers", "mgr": "Manager",
    "engr": "Engineer", "asst": "Assistant", "acct": "Accountant", "coord": "Coordinator", "exec": "Executive",
}  # fmt: skip
"""What people type for the last word of a title."""
MOST_SKILLS = 4
"""So many skills of a title are tried as part of a known one (`PHP/Laravel developer`)."""
_NOT_WORD = r"(?<![\w+]){}(?![\w+])"


class TitleParts(NamedTuple):
    """A title taken apart: `Senior welder TIG/MIG` is the head `Welder`, senior, and two skills.

    `head` is what people call themselves, in the singular; `level` is null where no word states one. `skills` are names
    of skills and licences; `specialism` are the other words beside the head, as written: prefer them, they are part of
    no title.
    """

    head: str
    level: Seniority | None
    skills: tuple[str, ...] = ()
    specialism: tuple[str, ...] = ()

    @property
    def narrowed(self) -> bool:
        """Whether the title asks for more than its head."""
        return bool(self.skills or self.specialism)


class KnownPhrases(Protocol):
    """The known titles, as far as taking one apart needs them."""

    def known(self, title: str) -> bool:
        """Return whether the title, as a whole, is one of the curated or classified ones."""
        ...

    def spelling(self, text: str) -> str | None:
        """Return the usual spelling of a known title, in the singular; null for an unknown one."""
        ...

    def occurrences(self, text: str) -> tuple[Occurrence, ...]:
        """Return the longest known titles in a text."""
        ...


class TitleCode(NamedTuple):
    """A short code that names a skill beside titles with a word that begins as one of `near`."""

    skill: str
    pattern: re.Pattern[str]
    near: tuple[str, ...]


def read_title_codes() -> list[TitleCode]:
    """Return the curated codes, longest spellings first within each."""
    return [
        TitleCode(
            skill,
            re.compile("|".join(_NOT_WORD.format(re.escape(code)) for code in _longest_first(codes)), re.IGNORECASE),
            tuple(map(fold, near.split("|"))),
        )
        for skill, codes, near in curated_rows("title_codes")
    ]


def _longest_first(codes: str) -> list[str]:
    return sorted(codes.split("|"), key=len, reverse=True)


class TitleReader:
    """Takes titles apart by the titles, skills and codes that are known."""

    def __init__(
        self, titles: KnownPhrases, skills: Skills, specialisms: Specialisms, codes: Iterable[TitleCode]
    ) -> None:
        self._titles, self._skills, self._specialisms, self._codes = titles, skills, specialisms, tuple(codes)

    def read(self, title: str) -> TitleParts:
        """Take a title apart. What cannot be taken apart is given whole, cleaned, as the head."""
        title = " ".join(_SHORT.get(word, word) for word in title[:MOST_LETTERS].split())
        level, text = seniority(title) or seniority(singular(title)), _BRACKETS.sub(" , ", in_one_gender(title))
        plain = core(title)
        rest, codes = self._without_codes(without_seniority(text))
        if whole := self._spelling(plain):
            skills, specialism = self._around(text, plain)
            return TitleParts(whole, level, _distinct(codes, skills), specialism)
        if any(self._titles.known(part) for part in alternatives(title)):
            return TitleParts(singular(clean(title)), level)
        if codes and (whole := self._spelling(_joined(rest))):
            return TitleParts(whole, level, codes)
        for shorter, skills in self._with_fewer_skills(rest):
            if whole := self._spelling(_joined(shorter)):
                return TitleParts(whole, level, _distinct(codes, skills))
        parts = self._split(rest, level, codes) or self._split(singular(rest, every=True), level, codes)
        return parts or TitleParts(singular(_kept(title, plain)), level, codes)

    def _spelling(self, text: str) -> str | None:
        """Return the usual spelling of a known title that tells the occupation; null for another."""
        found = self._titles.spelling(text) or self._titles.spelling(singular(text))
        return None if found is None or is_generic(found) else found

    def _around(self, text: str, plain: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the skills and the specialism that stand beside a known title, in brackets or behind a comma."""
        at = fold(text).find(fold(plain))
        if at < 0:
            return (), ()
        return self._sorted([text[:at], text[at + len(plain) :]], plain)

    def _without_codes(self, text: str) -> tuple[str, tuple[str, ...]]:
        stems = [word.key for word in words(text)]
        found: dict[str, None] = {}
        for code in self._codes:
            if any(stem.startswith(near) for stem in stems for near in code.near):
                text, count = code.pattern.subn(" ", text)
                if count:
                    found[code.skill] = None
        return text, tuple(found)

    def _without_skills(self, text: str) -> tuple[str, tuple[str, ...]]:
        found = self._skills.find(text)
        for skill in reversed(found):
            text = text[: skill.start] + " " + text[skill.end :]
        return text, tuple(dict.fromkeys(skill.name for skill in found))

    def _with_fewer_skills(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the text without its skills, without all but one of them, and with only the first word of one."""
        shorter, names = self._without_skills(text)
        if names:
            yield shorter, names
        found = self._skills.find(text)[:MOST_SKILLS]
        for kept in found:
            word = text[kept.start : kept.end].replace("-", " ").split()[0]
            others = tuple(skill.name for skill in found if skill is not kept)
            for written, asked in ((text[kept.start : kept.end], others), (word, (*others, kept.name))):
                if asked:
                    yield (
                        f"{self._without_skills(text[: kept.start])[0]} {written}"
                        f" {self._without_skills(text[kept.end :])[0].lstrip('-')}",
                        asked,
                    )

    def _split(self, text: str, level: Seniority | None, codes: tuple[str, ...]) -> TitleParts | None:
        """Return the parts around the first known title in the text; null where it only belongs to another title."""
        for found in self._titles.occurrences(text):
            if is_generic(text[found.start : found.end]) or self._goes_on(text[found.end :]):
                continue
            start = self._start(text, found)
            head = text[start : found.end].strip(_EDGES)
            name = self._titles.spelling(head) if start == found.start else None
            skills, specialism = self._sorted([text[:start], text[found.end :]], head)
            return TitleParts(name or singular(head), level, _distinct(codes, skills), specialism)
        return None

    def _goes_on(self, after: str) -> bool:
        """Return whether the title goes on to another role right behind a known one: `nurse recruiter`."""
        until = _APART.search(after)
        close = after[: until.start()] if until else after
        if close.lstrip().startswith(("/", "+", "&")):
            return False
        return any(is_generic(word) or self._titles.known(word) for word in close.split() if word.isalpha())

    def _start(self, text: str, found: Occurrence) -> int:
        """Return where the head begins: before words that make it another occupation (`clinical project manager`)."""
        before = text[: found.start]
        last = max((apart.end() for apart in _APART.finditer(before)), default=0)
        left, _ = self._without_skills(without_seniority(before[last:] + "."))
        telling = [word for word in words(left) if word.key not in _LINKS and not self._specialisms.named(word.key)]
        return last + len(before[last:]) - len(before[last:].lstrip(_EDGES)) if telling else found.start

    def _sorted(self, pieces: Iterable[str], head: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the skills in the pieces, and what else they say."""
        skills: dict[str, None] = {}
        specialism: list[str] = []
        for piece in pieces:
            left, codes = self._beside(piece, head)
            left, named = self._without_skills(left)
            skills |= dict.fromkeys((*codes, *named))
            for part in filter(None, map(_trimmed, _APART.split(left))):
                if name := self._skills.names.get(fold_text(part)):
                    skills[name] = None
                else:
                    specialism.append(part)
        return tuple(skills), tuple(specialism)

    def _beside(self, piece: str, head: str) -> tuple[str, tuple[str, ...]]:
        left, codes = self._without_codes(f"{head}\n{piece}")
        return left.partition("\n")[2], codes


def _distinct(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


def _kept(title: str, plain: str) -> str:
    """Return an unknown title without its words of level; those at its end stay: a `Tax Senior` is no `Tax`."""
    whole = clean(title)
    return whole if fold(whole).startswith(fold(plain)) else plain


def _joined(text: str) -> str:
    return " ".join(text.strip(_EDGES).replace(" , ", " ").split()).strip(_EDGES)


def _trimmed(text: str) -> str:
    """Return a piece without links and signs at its ends and without words of level; empty when it has no letters."""
    kept = without_seniority(" ".join(text.split()).strip(_EDGES))
    parts = kept.split()
    while parts and fold(parts[0]) in _LINKS:
        parts.pop(0)
    while parts and fold(parts[-1]) in _LINKS:
        parts.pop()
    kept = " ".join(parts).strip(_EDGES)
    return kept if any(map(str.isalpha, kept)) and seniority(kept) is None else ""


def singular(title: str, *, every: bool = False) -> str:
    """Return a title in the singular: its last noun, and the first before `of` or `de`; unknown endings stay.

    `every` takes each word for a noun.
    """
    parts = title.split()
    if every:
        return " ".join(map(_singular, parts))
    if not parts:
        return title
    last = _singular(parts[-1])
    if len(parts) == 1:
        return last
    if last != parts[-1] or fold(parts[1]) in _OF:
        parts[0] = _singular(parts[0])
    return " ".join([*parts[:-1], last])


def _singular(word: str) -> str:
    if _INITIALS.match(word):
        return word[:-1]
    for ending, one in ((_MEN, "man"), (_PLURALS, None), (_DUTCH, None)):
        found = ending.search(fold(word))
        if found and len(fold(word)) == len(word):
            return word[: found.start()] + one if one else word[: found.end(1)]
    return word
