"""Languages that people have to speak, as lower-case English names; programming languages and markets are none."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from models.reading.document import Document, Section
from models.reading.languages import AND, LANGUAGES, OR, phrases, word_set

ENGLISH_OF = {
    name: spoken for language in LANGUAGES for spoken, names in language.spoken.names.items() for name in names.split()
}
ENGLISH_NAMES = frozenset(ENGLISH_OF.values())
LEVEL = rf"(?:[ABC][12]\b(?:\s?[-–/+]\s?[ABC]?[12]\b)?\+?|{phrases(lambda each: each.spoken.level)})"


def _by_first_letter(names: Iterable[str]) -> str:
    """Return a group that matches any of the names, longest first; with their first letters apart it fails fast."""
    letters: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names, key=len, reverse=True):
        letters[name[0]].append(re.escape(name[1:]))
    return "(?:" + "|".join(f"{letter}(?:{'|'.join(rest)})" for letter, rest in letters.items()) + ")"


_NAMED = _by_first_letter(ENGLISH_OF)
NAME = re.compile(
    rf"(?<![\w-])(?P<name>{_NAMED})(?P<tail>s?-?{phrases(lambda each: each.spoken.tail)}?)(?!\w)", re.IGNORECASE
)
CUE = re.compile(rf"\b(?:{LEVEL}|{phrases(lambda each: each.spoken.cue)}\b)", re.IGNORECASE)
NOT_SPOKEN_AFTER = re.compile(rf"\s+(?!{phrases(lambda each: each.spoken.goes_on)})(?=[a-z]{{3,}})")
"""`German market`: the English name of a language before another noun."""
WELCOME = re.compile(rf"\b{phrases(lambda each: each.spoken.welcome)}\b", re.IGNORECASE)
IDEALLY = re.compile(rf"\b{phrases(lambda each: each.spoken.ideally)}\b", re.IGNORECASE)
NOT_NEEDED = re.compile(
    rf"\b{phrases(lambda each: each.spoken.no)}\b[^,;]{{0,25}}$"
    rf"|^[^,;]{{0,25}}\b{phrases(lambda each: each.spoken.not_)}\s{phrases(lambda each: each.spoken.needed)}",
    re.IGNORECASE,
)
OF_OTHERS = re.compile(phrases(lambda each: each.spoken.of_others), re.IGNORECASE)
"""Other people, markets and countries that speak the language."""
OR_AFTER = re.compile(rf"\W{{0,3}}\s*{LEVEL}?\W*\b{OR}\s+{_NAMED}", re.IGNORECASE)
OR_BEFORE = re.compile(rf"{_NAMED}\W{{0,3}}\s*{LEVEL}?\W*\b{OR}\s+$", re.IGNORECASE)
_REQUIRED = phrases(lambda each: each.spoken.required)
REQUIRED = re.compile(rf"\b{_REQUIRED}\b", re.IGNORECASE)
REQUIRED_AFTER = re.compile(
    rf"(?:\W+{OR}\W+{_NAMED}|\W+{AND}\W+{_NAMED})?\W*(?:{phrases(lambda each: each.spoken.is_)}\s+)?"
    rf"{_REQUIRED}\b",
    re.IGNORECASE,
)
"""`German or French is needed`."""
HAS_LEVEL = re.compile(LEVEL, re.IGNORECASE)
ALSO_A_WORD = word_set(lambda each: each.spoken.also_words)
"""Names that are words of their own without a capital."""
CLAUSE = re.compile(r"[.;!?](?=\s|$)|[\r\n•·]")
WINDOW = 120
REACH = 60
MOST_LOOKED = 30
"""A language that is named so often without being asked for is a subject of the text."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A language with the stretch that names it; `welcome` when it is not required, `level` when one was given."""

    language: str
    start: int
    end: int
    welcome: bool
    level: bool
    alternative: bool


def read_spoken(document: Document) -> list[Spoken]:
    """Return each language once, where it is first asked for."""
    found: dict[str, Spoken] = {}
    looked: Counter[str] = Counter()
    for name in NAME.finditer(document.text):
        language = ENGLISH_OF[name["name"].lower()]
        known = found.get(language)
        if (known and not known.welcome) or looked[language] == MOST_LOOKED:
            continue
        looked[language] += 1
        spoken = _spoken(document, name)
        if spoken and not (known and spoken.welcome):
            found[language] = spoken
    return list(found.values())


def _spoken(document: Document, name: re.Match[str]) -> Spoken | None:
    text = document.text
    before, after = clause_around(text, name.start(), name.end())
    if not name["name"][0].isupper() and name["name"].lower() in ALSO_A_WORD:
        return None
    near = f"{before[-REACH:]} {name['tail']} {after[:REACH]}"
    cued = name["tail"].endswith("-") or len(name["tail"]) > 1 or CUE.search(near) or REQUIRED_AFTER.match(after)
    if OF_OTHERS.match(text, name.start()) or not cued or NOT_NEEDED.search(before) or NOT_NEEDED.search(after):
        return None
    if len(name["tail"]) <= 1 and name["name"].lower() in ENGLISH_NAMES and NOT_SPOKEN_AFTER.match(after):
        return None
    section = document.section_at(name.start())
    if section is Section.COMPANY and not HAS_LEVEL.search(near):
        return None
    return Spoken(
        language=ENGLISH_OF[name["name"].lower()],
        start=name.start(),
        end=name.end(),
        welcome=section is Section.NICE or _is_welcome(after[:REACH]) or bool(IDEALLY.search(before[-25:])),
        level=bool(HAS_LEVEL.search(near)),
        alternative=bool(OR_AFTER.match(after) or OR_BEFORE.search(before)),
    )


def _is_welcome(after: str) -> bool:
    """Return whether it is said to be a plus; in `English is required, Polish is a plus` another language is meant."""
    welcome = WELCOME.search(after)
    return welcome is not None and not REQUIRED.search(after, 0, welcome.start())


def clause_around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return what stands before and after a stretch within its sentence, at most 120 characters each."""
    before = text[max(0, start - WINDOW) : start]
    before = before[max((found.end() for found in CLAUSE.finditer(before)), default=0) :]
    after = text[end : end + WINDOW]
    stop = CLAUSE.search(after)
    return before, after[: stop.start()] if stop else after
