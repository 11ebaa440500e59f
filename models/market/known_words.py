"""The vocabulary of the words that a mistyped one may mean: towns, titles, skills, companies and languages."""

import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

import numpy as np
from rapidfuzz.distance import OSA

from models.market.company_names import CuratedCompany
from models.market.nearest_words import KnownWord, WordKind
from models.market.place_names import place_key
from models.market.skills import Skills
from models.market.title_families import Family, TitleLanguage
from models.market.title_words import fold
from models.market.titles import Titles

MOST_TOWNS = 12_000
"""The most populous towns whose names a mistyped word may mean."""
LARGE_TOWN = 100_000
"""Towns of so many people are also meant by their names in other languages, which differ in more than `SPELLING`."""
SPELLING = 2
PEOPLE_OF_WEIGHT_ONE = 100_000
TOWN_KEYS = "SELECT key, row, alias FROM place_key WHERE row < ? AND key NOT LIKE '% %' AND length(key) > 3"
WORD = re.compile(r"[^\W\d_]{3,}")
POPULATION = "SELECT data FROM value WHERE name = 'place.population'"
NAMES = "SELECT data FROM value WHERE name = 'place.names'"


def town_names(database: sqlite3.Connection) -> Iterator[KnownWord]:
    """Yield the one-word names of the most populous towns, each with the English one; a town weighs by its people."""
    people = np.frombuffer(database.execute(POPULATION).fetchone()[0], dtype="<i8")
    names = database.execute(NAMES).fetchone()[0].decode().split("\n")
    for key, row, alias in database.execute(TOWN_KEYS, (MOST_TOWNS,)):
        if not alias or (people[row] >= LARGE_TOWN and OSA.distance(key, place_key(names[row])) > SPELLING):
            yield KnownWord(key, WordKind.PLACE, float(people[row]) / PEOPLE_OF_WEIGHT_ONE, names[row], f"place {row}")


def title_words_known(families: Iterable[Family]) -> Iterator[KnownWord]:
    """Yield each word of titles once, with the people of all families that have it; it means the largest of these."""
    shares: dict[str, dict[str, float]] = {}
    spelled: dict[str, str] = {}
    for family in families:
        for title in chain.from_iterable(map(family.titles, TitleLanguage)):
            for word in WORD.findall(title):
                spelled.setdefault(fold(word), word)
                shares.setdefault(fold(word), {})[family.id] = family.share
    for key, by_family in shares.items():
        meant = max(by_family, key=by_family.__getitem__)
        yield KnownWord(key, WordKind.TITLE, sum(by_family.values()), spelled[key], meant)


def vocabulary(
    titles: Titles, skills: Skills, companies: Sequence[CuratedCompany], languages: Mapping[str, str]
) -> Iterator[KnownWord]:
    """Yield the words that a mistyped one may mean besides towns; a word of titles weighs by those who hold one."""
    yield from title_words_known(titles.families)
    for name in skills.names.values():
        yield from (KnownWord(word, WordKind.SKILL, 2, word, word) for word in WORD.findall(name))
    for company, names in companies:
        yield from (KnownWord(name, WordKind.COMPANY, 2, name, company.id) for name in names if name.isalpha())
    for name, english in languages.items():
        yield KnownWord(name, WordKind.LANGUAGE, 5, english.capitalize(), english)
