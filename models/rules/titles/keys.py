"""How titles are compared: words folded so that every spelling of the same wording gives the same key."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

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
    """Every accented Latin letter to its plain form."""
    table = {"ß": "ss", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ı": "i"}
    for code in range(0xC0, 0x250):
        letter = chr(code).lower()
        table.setdefault(letter, _decomposed(letter))
    return {ord(letter): plain for letter, plain in table.items() if len(letter) == 1}


def _decomposed(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))


_LETTERS = _letters()


def fold(text: str) -> str:
    """Lower case without accents; umlauts lose their dots, other scripts stay."""
    plain = text.lower()
    if plain.isascii():
        return plain
    plain = plain.translate(_LETTERS)
    return plain if plain.isascii() else _decomposed(plain)


def words(text: str) -> list[Word]:
    """The words of a text with their offsets; a gender ending belongs to its word but not to the key."""
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
    """The folded words of a title parted by one space: `Full-Stack` and `fullstack` give the same."""
    if not _PLAIN.fullmatch(text) or "In" in text:
        return " ".join(word.key for word in words(text))
    parts = [_SAME_WORD.get(word, word) for word in fold(text.translate(_APART)).split()]
    if _FIRST_PARTS.isdisjoint(parts):
        return " ".join(parts)
    return " ".join(word.key for word in words(text))


def contains(key: str, phrase: str) -> bool:
    """Whether the words of the key `phrase` stand together, in order, in the key `key`."""
    return f" {phrase} " in f" {key} "


def inflected(word: str) -> list[str]:
    """The word, then what it may be the plural or another case of."""
    if len(word) <= _SHORTEST_INFLECTED or word[-1] not in "sne":
        return [word]
    stems = [word[: -len(ending)] for ending in _ENDINGS if word.endswith(ending)]
    return [word, *stems, word[:-3] + "y"] if word.endswith("ies") else [word, *stems]
