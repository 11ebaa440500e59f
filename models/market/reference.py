"""Unpacks the shipped reference file once per machine and opens it for reading."""

import hashlib
import json
import lzma
import os
import sqlite3
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np

from models.market.attributes import Attributes, read_attributes
from models.market.companies import Companies, without_legal_form
from models.market.company_names import (
    CuratedCompany,
    KnownCompanyNames,
    ambiguous_names,
    curated_companies,
    curated_groups,
)
from models.market.curated import curated_rows
from models.market.known_words import town_names, vocabulary
from models.market.nearest_words import NearestWords
from models.market.occupations import Concept, GroupShare, Label, Occupations, Related, RoughStatistics, label_key
from models.market.place_names import CountryNames, Gazetteer, Hit
from models.market.place_words import PlaceResolver, read_place_resolver
from models.market.places import Places
from models.market.schools import Schools, read_schools
from models.market.skills import Skill, SkillField, Skills, parse_skills
from models.market.specialisms import read_specialisms
from models.market.stored_companies import StoredCompanies
from models.market.title_families import Family, parse_families
from models.market.title_parts import read_title_codes
from models.market.title_words import is_generic, title_key
from models.market.titles import Titles

DATA = Path(__file__).parents[1] / "data"
SHIPPED = DATA / "reference.sqlite.xz"


def unpack_reference(shipped: Path = SHIPPED, *, cache: Path | None = None) -> Path:
    """Return the path of the unpacked file, named by the content of the shipped one.

    Several processes may do this at once: each writes a file of its own and moves it into place whole.
    """
    packed = shipped.read_bytes()
    folder = cache or cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"reference-{hashlib.sha256(packed).hexdigest()[:32]}.sqlite"
    if target.exists():
        return target
    handle, name = tempfile.mkstemp(dir=folder, prefix="unpacking-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(lzma.decompress(packed))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)
    return target


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME` or `~/.cache`; a private folder of this user where neither can be written."""
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = base / "sourcing-and-outreach"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        folder = Path(tempfile.gettempdir()) / f"sourcing-and-outreach-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
    if folder.stat().st_uid != os.getuid() or not os.access(folder, os.W_OK):
        raise PermissionError(f"the cache folder {folder} is not ours")
    return folder


def open_reference(path: Path) -> sqlite3.Connection:
    """Return a read-only connection that any thread may use."""
    return sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)


# Reads the places of the reference file into the table that the rules search.


EXACT = "SELECT row, alias FROM place_key WHERE key = ? ORDER BY row"
LONGEST = "SELECT longest FROM place_word WHERE word = ?"
EVERYDAY = "SELECT 1 FROM everyday_word WHERE word = ?"
PREFIX = "SELECT row, alias FROM place_key WHERE key >= ? AND key < ? ORDER BY row LIMIT ?"


class StoredNames:
    """Rows by the key of a name, from the reference file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._exact = lru_cache(maxsize=50_000)(self._read)
        self.longest = lru_cache(maxsize=50_000)(self._longest)
        self.everyday = lru_cache(maxsize=50_000)(self._everyday)

    def exact(self, key: str) -> Sequence[Hit]:
        """Return all rows with this name, most populous first."""
        return self._exact(key)

    def _read(self, key: str) -> tuple[Hit, ...]:
        return tuple(Hit(row, bool(alias)) for row, alias in self._database.execute(EXACT, (key,)))

    def _longest(self, word: str) -> int:
        found = self._database.execute(LONGEST, (word,)).fetchone()
        return int(found[0]) if found else 0

    def _everyday(self, key: str) -> bool:
        return self._database.execute(EVERYDAY, (key,)).fetchone() is not None

    def prefix(self, key: str, *, limit: int) -> Sequence[Hit]:
        """Return the rows whose name begins with the key, most populous first."""
        return [Hit(row, bool(alias)) for row, alias in self._database.execute(PREFIX, (key, key + "~", limit))]


def value(database: sqlite3.Connection, name: str) -> bytes:
    """Return one named value of the file; raises `KeyError` when the file lacks it."""
    found = database.execute("SELECT data FROM value WHERE name = ?", (name,)).fetchone()
    if found is None:
        raise KeyError(name)
    return bytes(found[0])


def load_places(database: sqlite3.Connection) -> Places:
    """Return the places, with their names looked up in the file."""
    facts = json.loads(value(database, "place.facts"))

    def read(name: str) -> bytes:
        return value(database, f"place.{name}")

    table = Gazetteer(
        ids=np.frombuffer(read("ids"), dtype="<i8"),
        names=tuple(read("names").decode().split("\n")),
        level=np.frombuffer(read("level"), dtype="u1"),
        country=np.frombuffer(read("country"), dtype="<i2"),
        region=np.frombuffer(read("region"), dtype="<i4"),
        district=np.frombuffer(read("district"), dtype="<i4"),
        lat=np.frombuffer(read("lat"), dtype="<f4"),
        lon=np.frombuffer(read("lon"), dtype="<f4"),
        population=np.frombuffer(read("population"), dtype="<i8"),
        time_zone=np.frombuffer(read("time_zone"), dtype="<i2"),
        time_zones=tuple(facts["time_zones"]),
        countries=tuple(CountryNames(**country) for country in facts["countries"]),
        radii={int(row): radius for row, radius in facts["radii"].items()},
        cities=facts["cities"],
        country_keys=facts["country_keys"],
        groups={key: tuple(codes) for key, codes in facts["groups"].items()},
        name_index=StoredNames(database),
    )
    return Places(table)


# Reads the curated title families, and the labels of the reference file by their first word.


FAMILIES = DATA / "curated" / "title_families"
BY_FIRST_WORD = (
    "SELECT text, language, preferred FROM label WHERE key = :word OR (key >= :word || ' ' AND key < :word || '!')"
)
SHORTEST_SINGLE = 9
"""A label of one shorter word is too easily everyday prose, unless it is a taxonomy's own German or Dutch name."""
SHORTEST_PREFERRED = 7


class StoredLabels:
    """Labels of the taxonomies that can be told from prose."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.starting_with = lru_cache(maxsize=50_000)(self._read)

    def _read(self, word: str) -> frozenset[str]:
        rows = self._database.execute(BY_FIRST_WORD, {"word": word})
        return frozenset(title_key(text) for text, language, preferred in rows if _telling(text, language, preferred))


def _telling(text: str, language: str, preferred: int) -> bool:
    if is_generic(text):
        return False
    if " " in title_key(text):
        return True
    compound = language in ("de", "nl")
    return compound and len(text) >= (SHORTEST_PREFERRED if preferred else SHORTEST_SINGLE)


def read_families(folder: Path = FAMILIES) -> list[Family]:
    """Return every family of every sector; raises `ValueError` for a damaged file."""
    files = sorted(folder.glob("*.tsv"))
    return [family for file in files for family in parse_families(file.read_text(encoding="utf-8").splitlines())]


def load_titles(database: sqlite3.Connection, occupations: Occupations) -> Titles:
    """Return the titles, with the taxonomies behind them."""
    return Titles(
        read_families(),
        occupations,
        StoredLabels(database),
        skills=load_skills(),
        specialisms=read_specialisms(),
        codes=read_title_codes(),
        broad=(tuple(row[0].split("|")) for row in curated_rows("broad_titles")),
        usual={title: family for titles, family in curated_rows("usual_titles") for title in titles.split("|")},
    )


# Reads the curated skills.


CURATED = DATA / "curated" / "skills"
DECOYS = "decoys"


def read_skill_files(folder: Path = CURATED) -> list[Skill]:
    """Return every skill of every field, and the decoys; raises `ValueError` for a damaged file or an unknown field."""
    found: list[Skill] = []
    for file in sorted(folder.glob("*.tsv")):
        field = None if file.stem == DECOYS else SkillField(file.stem)
        found += parse_skills(file.read_text(encoding="utf-8").splitlines(), field)
    return found


@lru_cache(maxsize=1)
def load_skills() -> Skills:
    """Return all skills, ready to be found."""
    return Skills(read_skill_files())


def load_company_names(companies: StoredCompanies, known: Sequence[CuratedCompany]) -> KnownCompanyNames:
    """Return the names by which companies and groups are found in texts: curated ones, and those of listed firms."""
    listed = (name for firm in companies.listed() for name in (firm.name, without_legal_form(firm.name)))
    names = (name for company in known for name in company.names)
    return KnownCompanyNames(companies, [*listed, *names], curated_groups(known), ambiguous_names(), load_skills())


# Reads the occupations of the reference file: `concept`, `label` and `related` tables, keyed by `label_key`.


LABEL = """
    SELECT label.text, label.language, label.preferred, concept.id, concept.name, concept.isco
    FROM label JOIN concept ON concept.number = label.concept
"""
OCCUPATIONS_BY_KEY = LABEL + "WHERE label.key = ? ORDER BY label.preferred DESC, concept.id, label.language"
BY_CONCEPT = LABEL + "WHERE concept.id = ? ORDER BY label.preferred DESC, label.language, label.key"
RELATED = """
    SELECT other.id, other.name, other.isco, related.tier, related.rank
    FROM related JOIN concept ON concept.number = related.concept JOIN concept AS other ON other.number = related.other
    WHERE concept.id = ? ORDER BY related.rank
"""
GROUP = "SELECT id, name, isco FROM concept WHERE isco = ? ORDER BY id"


class StoredOccupations:
    """The taxonomies in the reference file."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self.labelled = lru_cache(maxsize=10_000)(self._labelled)

    def _labelled(self, title: str) -> Sequence[Label]:
        return self._read_labels(OCCUPATIONS_BY_KEY, label_key(title))

    def labels(self, concept_id: str) -> Sequence[Label]:
        """Return all labels of an occupation."""
        return self._read_labels(BY_CONCEPT, concept_id)

    def related(self, concept_id: str) -> Sequence[Related]:
        """Return O*NET's related occupations, closest first."""
        rows = self._database.execute(RELATED, (concept_id,))
        return tuple(Related(Concept(id_, name, isco), tier, rank) for id_, name, isco, tier, rank in rows)

    def group(self, isco: str) -> Sequence[Concept]:
        """Return ESCO's occupations of a four-digit ISCO group."""
        return tuple(Concept(*row) for row in self._database.execute(GROUP, (isco,)))

    def _read_labels(self, query: str, value: str) -> tuple[Label, ...]:
        rows = self._database.execute(query, (value,))
        return tuple(
            Label(text, language, Concept(id_, name, isco), bool(preferred))
            for text, language, preferred, id_, name, isco in rows
        )


# The reference data the project ships: `reference()` gives it, loaded once per process.


@dataclass(frozen=True, slots=True)
class ShippedReference:
    """Everything shipped, read-only. `languages` maps `place_key` of a name in four languages to the English one."""

    places: Places
    place_words: PlaceResolver
    occupations: Occupations
    titles: Titles
    skills: Skills
    companies: Companies
    company_names: KnownCompanyNames
    attributes: Attributes
    schools: Schools
    languages: Mapping[str, str]
    nearest_words: NearestWords
    statistics: RoughStatistics


@lru_cache(maxsize=1)
def reference() -> ShippedReference:
    """Return the shipped data; the first call on a machine unpacks it, later ones take a fraction of a second."""
    database = open_reference(unpack_reference())
    places, occupations = load_places(database), StoredOccupations(database)
    shares = json.loads(value(database, "isco_shares"))
    known = tuple(curated_companies())
    companies = StoredCompanies(database, known)
    titles, skills = load_titles(database, occupations), load_skills()
    languages: dict[str, str] = json.loads(value(database, "languages"))
    return ShippedReference(
        places=places,
        place_words=read_place_resolver(places),
        occupations=occupations,
        titles=titles,
        skills=skills,
        companies=companies,
        company_names=load_company_names(companies, known),
        attributes=read_attributes(),
        schools=read_schools(),
        languages=languages,
        nearest_words=NearestWords(
            lambda: chain(town_names(database), vocabulary(titles, skills, known, languages)),
        ),
        statistics=RoughStatistics(
            places=places,
            occupations=occupations,
            shares={group: GroupShare(employed / 1000, visible / 100) for group, (employed, visible) in shares.items()},
        ),
    )
