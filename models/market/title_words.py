"""How titles are compared: words folded so that every spelling of the same wording gives the same key."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

_ENDING = (
    r"(?:[*:_]|/-?)in(?:nen)?\b"  # Entwickler:in, Pfleger/-innen
    r"|\(in(?:nen)?\)"
    r"|[(·•./-]{1,2}(?:e|ne|se|euse|rice|trice|ère|ière)s?(?:\)|(?![\w-]))"  # technicien(ne), chargé·e
)
_WORD = re.compile(
    r"(?<!\w)(\.net\b"  # the platform
    r"|[^\W_]+(?:[+#]+(?!\w))?"  # a word; C++ and C# keep their signs
    rf"|&)({_ENDING})?",
    re.IGNORECASE,
)
_INNER_CAPITAL = re.compile(r"(?<=[a-zäöüß](?:er|or|nt|st|ur))In(?:nen)?$")  # EntwicklerIn
_PLAIN = re.compile(r"[^\W_]+(?:[ '’-]+[^\W_]+)*[+#]*")
_APART = str.maketrans("'’-", "   ")
_SAME_WORD = {"&": "and", "und": "and", "et": "and", "en": "and", "og": "and"}
_COMPOUNDS = {
    ("full", "stack"): "fullstack",
    ("front", "end"): "frontend",
    ("back", "end"): "backend",
    ("dev", "ops"): "devops",
    ("e", "commerce"): "ecommerce",
    ("e", "mail"): "email",
    ("on", "line"): "online",
    ("web", "site"): "website",
    ("node", "js"): "nodejs",
    ("health", "care"): "healthcare",
    ("fork", "lift"): "forklift",
    ("co", "founder"): "cofounder",
    ("multi", "media"): "multimedia",
    ("team", "leader"): "teamleader",
    ("team", "lead"): "teamlead",
    ("team", "leiter"): "teamleiter",
    ("pre", "sales"): "presales",
    ("key", "account"): "keyaccount",
    ("fund", "raiser"): "fundraiser",
    ("copy", "writer"): "copywriter",
    ("bar", "tender"): "bartender",
    ("child", "care"): "childcare",
    ("ware", "house"): "warehouse",
}
"""Words that are written together, apart or with a hyphen."""
_ENDINGS = ("s", "es", "n", "en", "e", "nen")
"""Plural and case endings of English, German, French and Dutch nouns."""
_SHORTEST_INFLECTED = 5
_FIRST_PARTS = frozenset(first for first, _ in _COMPOUNDS)


@dataclass(frozen=True, slots=True)
class Word:
    """One folded word and the character offsets it was read from."""

    key: str
    start: int
    end: int


def _letters() -> dict[int, str]:
    """Return every accented Latin letter to its plain form."""
    table = {"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
    for code in range(0xC0, 0x250):
        letter = chr(code).lower()
        table.setdefault(letter, _decomposed(letter))
    return {ord(letter): plain for letter, plain in table.items() if len(letter) == 1}


def _decomposed(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


_LETTERS = _letters()


def fold(text: str) -> str:
    """Fold case and accents; umlauts lose their dots, other scripts stay."""
    plain = text.lower()
    if plain.isascii():
        return plain
    plain = plain.translate(_LETTERS)
    return plain if plain.isascii() else _decomposed(plain)


def words(text: str) -> list[Word]:
    """Return the words of a text with their offsets; a gender ending belongs to its word but not to the key."""
    return list(_joined(_single(text)))


def _single(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        word = found.group(1)
        if word.endswith(("In", "Innen")):
            word = _INNER_CAPITAL.sub("", word)
        key = fold(word)
        yield Word(_SAME_WORD.get(key, key), found.start(), found.end())


def _joined(parts: Iterable[Word]) -> Iterator[Word]:
    held: Word | None = None
    for word in parts:
        if held is not None and held.key in _FIRST_PARTS and word.start - held.end <= 1:
            compound = _COMPOUNDS.get((held.key, word.key))
            if compound is not None:
                yield Word(compound, held.start, word.end)
                held = None
                continue
        if held is not None:
            yield held
        held = word
    if held is not None:
        yield held


def title_key(text: str) -> str:
    """Return the folded words of a title parted by one space: `Full-Stack` and `fullstack` give the same."""
    if not _PLAIN.fullmatch(text) or "In" in text:
        return " ".join(word.key for word in words(text))
    parts = [_SAME_WORD.get(word, word) for word in fold(text.translate(_APART)).split()]
    if _FIRST_PARTS.isdisjoint(parts):
        return " ".join(parts)
    return " ".join(word.key for word in words(text))


def key_contains(key: str, phrase: str) -> bool:
    """Return whether the words of the key `phrase` stand together, in order, in the key `key`."""
    return f" {phrase} " in f" {key} "


def inflected(word: str) -> list[str]:
    """Return the word, then what it may be the plural or another case of."""
    if len(word) <= _SHORTEST_INFLECTED or word[-1] not in "sne":
        return [word]
    stems = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)]
    return [word, *stems, word[:-3] + "y"] if word.endswith("ies") else [word, *stems]


# Words that name no occupation by themselves: never searched for alone.


_GENERIC_WORDS = """
administrator agent analist analyst analyste angestellte angestellter apprenti apprentie aide arbeiter arbeider
architect architekt architecte assistance assistant assistante assistent assistentin assistenz associate aushilfe
auszubildende auszubildender azubi aushilfskraft bediende beambte beauftragte beauftragter begeleider berater
beraterin besoin betreuer career careers cadre chef chief clerk collaborateur collaboratrice conseiller conseillere
consultant consultante contractor coordinateur coordinatrice coordinator deputy designer developer developpeur
developpeuse directeur director directrice direktor direktorin dienst duales einsteiger employe employee
engineer entwickler entwicklerin executive expert experte experten expertin fachkraft fachkrafte
fachmann fellow functionaris functionnaire fachberater fellowship first freelancer fuhrungskraft
gerant gestionnaire graduate group hand head helfer
helferin help hilfskraft hire hoofd ingenieur ingenieurin ingenieure inspector intern internship interim jobstudent
junior koordinator koordinatorin kraft leader lead leider leiter leiterin leitung local lokal manager managerin
management medewerker medewerkster member meister meisterin mitarbeitende mitarbeitender mitarbeiter mitarbeiterin
monteur officer ontwikkelaar operateur operator operatrice ouvrier ouvriere owner partner person personal
personnel personeel position praktikant praktikantin praktikum president professional programme program
projekt project projet quereinsteiger raadgever referent referentin regional responsable sachbearbeiter
sachbearbeiterin secretary senior service spezialist spezialistin specialist specialiste specialisten staff stage
stagiair stagiaire starter student studentin studium supervisor support talent talents teamleiter teamleiterin
teamlead teamleader teamleider team technicien technicienne technician techniker technikerin technieker technicus
trainee trainer tutor verantwoordelijke verantwortliche verantwortlicher vice volunteer volontar werknemer
werkstudent werkstudentin worker working hogeschoolstudent alternant alternante alternance vp svp evp sr jr sen jun
adjoint adjointe stellvertretende stellvertretender stv hauptamtlich erfahrene erfahrener experienced qualified
medior confirme debutant principal candidate candidat candidato kandidat
"""
_GENERIC = frozenset(_GENERIC_WORDS.split())
_LINKS = frozenset(
    {"and", "of", "de", "du", "des", "la", "le", "l", "d", "the", "a", "in", "im", "or", "oder", "ou", "level"}
)


_TELLING_PHRASES = """
project manager|project managerin|project leader|project lead|project director|project coordinator|project officer
project management|project engineer|project administrator|project assistant|project analyst|project architect
projekt ingenieur|ingenieur projet|chef de projet|responsable de projet|directeur de projet|directrice de projet
coordinateur de projet|coordinatrice de projet|gestionnaire de projet|assistant de projet|assistante de projet
program manager|programme manager|program managerin|program director|programme director|chef de programme
directeur de programme|directrice de programme|responsable de programme|management consultant|management berater
management beraterin|consultant and management|personal trainer|personal assistant|executive assistant
executive assistentin|executive secretary|management assistant|management assistent|management assistentin
team assistant|chief of staff|service designer|designer de service|level designer|stage designer|stage manager
stage technician|head chef|executive chef|service technician|service techniker|technicien de service
technicienne de service|service engineer|service ingenieur|support engineer|support ingenieur|support techniker
ingenieur support|ingenieure support|technicien support|technicienne support|support worker|talent partner
talent manager|personnel manager|l and d manager|l and d specialist|l and d partner|volunteer coordinator
volunteer manager|partner manager|first officer|vice principal|assistant principal|deputy principal
chief architect|chief executive|chief engineer|interim manager|service coordinator
""".strip().replace("\n", "|")
_TELLING = tuple(f" {phrase} " for phrase in _TELLING_PHRASES.split("|"))
"""What names an occupation although each of its words alone does not."""


def is_generic(title: str) -> bool:
    """Return whether the words of the title leave open which occupation it is."""
    key = title_key(title)
    if not all(word in _GENERIC or word in _LINKS or word.isdigit() for word in key.split()):
        return False
    return not any(phrase in f" {key} " for phrase in _TELLING)


# Finds the longest known phrases in a text, on word boundaries.


MOST_WORDS = 8

Known = Callable[[str], frozenset[str] | set[str] | None]
"""The phrases that begin with a word."""


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A known phrase in a text: `text[start:end]` reads as `key`."""

    key: str
    start: int
    end: int


class LabelsByWord(Protocol):
    """Titles beyond the curated ones, by their first word."""

    def starting_with(self, word: str) -> frozenset[str]:
        """Return the keys that begin with that word and are no word of everyday prose."""
        ...


class Phrases:
    """Known keys, in a form that is walked word by word; `labels` are further ones."""

    def __init__(self, keys: Iterable[str], labels: LabelsByWord) -> None:
        self._by_first: dict[str, set[str]] = {}
        for key in keys:
            self._by_first.setdefault(key.partition(" ")[0], set()).add(key)
        self._labels = labels

    def find(self, text: str) -> tuple[Occurrence, ...]:
        """Return the longest phrases from left to right, none overlapping another."""
        return tuple(_walk(words(text), self._known))

    def find_keys(self, text: str) -> tuple[Occurrence, ...]:
        """Return the same among the keys alone, without the labels."""
        return tuple(_walk(words(text), self._by_first.get))

    def _known(self, first: str) -> frozenset[str] | set[str]:
        curated, stored = self._by_first.get(first), self._labels.starting_with(first)
        if curated and stored:
            return curated | stored
        return curated or stored


def _walk(parts: list[Word], known: Known) -> Iterator[Occurrence]:
    at = 0
    while at < len(parts):
        found = _longest(parts, at, known)
        if found is None:
            at += 1
            continue
        key, end = found
        yield Occurrence(key, parts[at].start, parts[end - 1].end)
        at = end


def _longest(parts: list[Word], at: int, known: Known) -> tuple[str, int] | None:
    for first in inflected(parts[at].key):
        if not (keys := known(first)):
            continue
        for end in range(min(at + MOST_WORDS, len(parts)), at, -1):
            if key := _match([first, *(word.key for word in parts[at + 1 : end])], keys):
                return key, end
    return None


def _match(parts: list[str], known: frozenset[str] | set[str]) -> str | None:
    stem = " ".join(parts[:-1])
    for last in inflected(parts[-1]):
        key = f"{stem} {last}" if stem else last
        if key in known:
            return key
    return None
