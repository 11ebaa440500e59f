"""What is left of an advertised title once everything that is not the occupation is taken out."""

import html
import re
import unicodedata

from models.rules.titles.generic import is_generic
from models.rules.titles.keys import fold, title_key
from models.rules.titles.noise import CUTS, GENDER_MARKS, LEVELS, NOISE, SEPARATOR, SPACES

_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\{[^{}]*\}")
_EDGES = " \t,;:|/\\-–—•·*_!?#&+\"'«»„“”‚‘’()[]{}"
_RIGHT_EDGES = _EDGES.replace("+", "").replace("#", "")
_CODE = re.compile(r"(?=.*\d)[A-Z0-9/. ]{1,7}$")
_PAIR = re.compile(r"([^\W\d_][\w'’-]*)\s*(?:/|\bou\b|\boder\b|\bof\b|\bor\b)\s*-?([^\W\d_][\w'’-]*)", re.IGNORECASE)
_SHORT_FEMALE = re.compile(r"(?<=[^\W\d_]{3})/-?(?:frau|mann|ster|se|euse|rice|trice|ère|ière|ne|e)\b", re.IGNORECASE)
_INCLUSIVE = (
    re.compile(r"(?<=[^\W\d_]{2})(?:[*:_]|/-?)in(?:nen)?\b"),
    re.compile(r"(?<=[^\W\d_]{2})\((?:in|innen|e|ne|se|euse|rice|trice|ère|ière|le|te|fe|ve|esse)s?\)"),
    re.compile(r"(?<=[^\W\d_]{2})[·•.](?:e|ne|se|euse|rice|trice|ère|ière|le|te)(?:[·•.]?s)?\b"),
    re.compile(r"(?<=[^\W\d_]{3})-(?:e|ne|se|euse|trice|ère)\b(?!-)"),
    re.compile(r"(?<=[a-zäöüß](?:er|or|nt|st|ur))In(?:nen)?\b"),
)
_DUTCH_FEMALE = re.compile(r"\(st\)(?=er\b)|(?<=[^\W\d_]{3})\(ster\)")
_MALE_ENDINGS = "er eur teur r n en ier mann ien"
_FEMALE_ENDINGS = "e ne se te le in innen frau ster euse teuse trice rice esse ere iere ienne"
_MALE = frozenset(["", *_MALE_ENDINGS.split()])
_FEMALE = frozenset(_FEMALE_ENDINGS.split())
_STEM = 4


def clean(title: str) -> str:
    """The title as a search phrase: without gender marks, contract, hours, pay, level, brackets, place or employer.

    Seniority words and what follows a comma stay. Cleaning twice changes nothing more. Where nothing would be left,
    the title itself is given with its white space collapsed; an empty title stays empty.
    """
    text = collapsed(title)
    while True:
        cleaned = _once(text)
        if not cleaned or cleaned == text:
            return text
        text = cleaned


def normalise(title: str) -> str:
    """The key of the cleaned title: equal for two advertised spellings of the same title."""
    return title_key(clean(title))


def collapsed(text: str) -> str:
    """One space for any white space, composed letters, no character references."""
    return SPACES.sub(" ", unicodedata.normalize("NFC", html.unescape(text)).replace("\x00", " ")).strip()


def _once(text: str) -> str:
    for mark in GENDER_MARKS:
        text = mark.sub(" ", text)
    text = _one_gender(text)
    text = _BRACKETS.sub(" ", text)
    for noise in NOISE:
        text = noise.sub(" ", text)
    text = _main_part(text)
    text = _without_levels(text)
    text = _cut(text)
    return _trim(SPACES.sub(" ", text))


def _trim(text: str) -> str:
    return text.rstrip(_RIGHT_EDGES).lstrip(_EDGES).replace(" ,", ",")


def _one_gender(text: str) -> str:
    """`Serveur / Serveuse`, `Kaufmann/-frau`, `technicien(ne)`: the shorter wording alone."""
    text = _DUTCH_FEMALE.sub("", text)
    text = _PAIR.sub(_without_female, text)
    text = _SHORT_FEMALE.sub("", text)
    for ending in _INCLUSIVE:
        text = ending.sub("", text)
    return text


def _without_female(pair: re.Match[str]) -> str:
    first, second = pair.groups()
    folded = fold(first), fold(second)
    shared = _shared_start(*folded)
    if shared < _STEM:
        return pair.group()
    ends = folded[0][shared:], folded[1][shared:]
    if _is_pair(*ends):
        return first
    return second if _is_pair(ends[1], ends[0]) else pair.group()


def _is_pair(male: str, female: str) -> bool:
    return male in _MALE and (female in _FEMALE or (male == "mann" and female == "frau"))


def _shared_start(first: str, second: str) -> int:
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


def _without_levels(text: str) -> str:
    for level in LEVELS:
        text = level.sub(" ", text)
    return text


def _main_part(text: str) -> str:
    """Of parts set off by dashes, bars or colons the first that says something; a generic one takes the next along."""
    parts = [part for part in (_trim(piece) for piece in SEPARATOR.split(text)) if part]
    telling = [part for part in parts if not _CODE.fullmatch(part)] or parts
    if not telling:
        return ""
    if len(telling) > 1 and is_generic(telling[0]):
        return f"{telling[0]}, {telling[1]}"
    return telling[0]


def _cut(text: str) -> str:
    """Leave out the employer, place or task after a preposition, unless only a generic word would stay."""
    for cut in CUTS:
        found = cut.search(text, 1)
        if found and not is_generic(text[: found.start()]):
            text = text[: found.start()]
    return text
