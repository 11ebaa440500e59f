"""Draws skills, languages, certificates, and the difficulties of records."""

import numpy as np

from sandbox.people.population.careers import Backdrop
from sandbox.people.population.columns import Oddity, Precision, Runs, Words
from sandbox.people.population.draws import Draws, Floats, Ints

_COMMON_SKILLS = ("communication", "teamwork", "microsoft office", "english", "problem solving", "leadership")
_CORE_SHARE, _MORE_SHARE, _COMMON_SHARE, _CERTIFIED_SHARE = 0.72, 0.38, 0.14, 0.16
_NO_LANGUAGES_SHARE = 0.15
_EARLIEST_CERTIFICATE, _CERTIFICATE_YEARS = 2010, 16

SHARES = {
    Oddity.NO_FAMILY_NAME: 0.004,
    Oddity.CONTACTS_WITHHELD: 0.15,
    Oddity.NO_DATES: 0.03,
    Oddity.NO_COORDINATES: 0.02,
    Oddity.NO_PLACE: 0.008,
    Oddity.NO_CURRENT_JOB: 0.06,
    Oddity.TWO_CURRENT_JOBS: 0.03,
    Oddity.HOSTILE_TEXT: 0.006,
    Oddity.LONG_TEXT: 0.003,
    Oddity.SHARED_ADDRESS: 0.004,
    Oddity.ODD_SLUG: 0.01,
    Oddity.FORMER_ID: 0.004,
    Oddity.OPTED_OUT: 0.003,
    Oddity.OPTED_OUT_BUT_LISTED: 0.003,
    Oddity.NO_SKILLS: 0.05,
    Oddity.OLDEST_JOB_FIRST: 0.1,
    Oddity.FREELANCE: 0.04,
}

_FOREIGN = {
    "dutch": (("english", 0.88), ("french", 0.35), ("german", 0.3)),
    "french": (("english", 0.62), ("dutch", 0.12), ("spanish", 0.15), ("german", 0.08)),
    "german": (("english", 0.78), ("french", 0.15), ("spanish", 0.06)),
    "english": (("french", 0.12), ("spanish", 0.14), ("german", 0.06)),
}
_FOREIGN_ELSEWHERE = (("english", 0.7), ("german", 0.12), ("french", 0.1))
_HERITAGE = {
    "turkish": "turkish",
    "arabic": "arabic",
    "polish": "polish",
    "italian": "italian",
    "spanish": "spanish",
    "portuguese": "portuguese",
    "indian": "hindi",
    "chinese": "chinese",
    "romanian": "romanian",
}
_HERITAGE_SHARE = 0.5


def draw_oddities(draws: Draws, people: Ints) -> Ints:
    """Spread the oddities independently of one another."""
    oddity = np.zeros(len(people), dtype=np.int64)
    for kind, share in SHARES.items():
        oddity |= np.where(draws.unit(f"oddity {kind.name}", people) < share, int(kind), 0)
    return oddity


def draw_precision(draws: Draws, people: Ints) -> Ints:
    """Let most people state months, some only years, some days."""
    units = draws.unit("precision", people)
    return np.where(units < 0.12, Precision.YEAR, np.where(units < 0.86, Precision.MONTH, Precision.DAY))


def _chosen(taken: Floats, table: Ints, share: Floats) -> tuple[Ints, Ints]:
    """Return owners and codes of the entries of `table` (people, slots) whose draw falls below its share."""
    owners, slots = np.nonzero((taken < share) & (table >= 0))
    return owners.astype(np.int64), table[owners, slots]


def _words(size: int, vocabulary: tuple[str, ...], owners: Ints, codes: Ints, extra: Ints) -> Words:
    runs = Runs.of_lengths(np.bincount(owners, minlength=size).astype(np.int64))
    return Words(runs=runs, vocabulary=vocabulary, code=codes, extra=extra)


def _padded(rows: list[list[int]]) -> Ints:
    widest = max(len(row) for row in rows)
    return np.array([row + [-1] * (widest - len(row)) for row in rows], dtype=np.int64)


def draw_skills(backdrop: Backdrop) -> Words:
    """Draw most skills of each person's occupation, some of its further ones and a few common ones."""
    families = backdrop.occupations.families
    vocabulary = tuple(
        dict.fromkeys(skill for each in families for skill in (*each.skills, *each.more_skills, *_COMMON_SKILLS))
    )
    code = {skill: number for number, skill in enumerate(vocabulary)}
    lists = [list(dict.fromkeys((*each.skills, *each.more_skills, *_COMMON_SKILLS))) for each in families]
    table = _padded([[code[skill] for skill in skills] for skills in lists])
    share = np.full(table.shape, _COMMON_SHARE)
    for row, each in enumerate(families):
        core = len(each.skills)
        own = len(dict.fromkeys((*each.skills, *each.more_skills)))
        share[row, :core] = _CORE_SHARE
        share[row, core:own] = _MORE_SHARE
    taken = backdrop.slots("skill", table.shape[1])
    taken = np.where(backdrop.has(Oddity.NO_SKILLS)[:, None], 1.0, taken)
    owners, codes = _chosen(taken, table[backdrop.family], share[backdrop.family])
    return _words(len(backdrop.country), vocabulary, owners, codes, np.zeros_like(codes))


def draw_certifications(backdrop: Backdrop) -> Words:
    """Draw certificates of the occupation for some people, with the year of each."""
    families = backdrop.occupations.families
    vocabulary = tuple(dict.fromkeys(name for each in families for name in each.certifications))
    code = {name: number for number, name in enumerate(vocabulary)}
    table = _padded([[code[name] for name in each.certifications] for each in families])
    taken = backdrop.slots("certification", table.shape[1])
    owners, codes = _chosen(taken, table[backdrop.family], np.full(taken.shape, _CERTIFIED_SHARE))
    units = backdrop.draws.unit("certificate year", owners * 16 + codes % 16)
    years = _EARLIEST_CERTIFICATE + np.floor(units * _CERTIFICATE_YEARS).astype(np.int64)
    return _words(len(backdrop.country), vocabulary, owners, codes, years)


def draw_languages(backdrop: Backdrop, cultures: Ints, culture_names: tuple[str, ...]) -> Words:
    """Draw each person's mother tongue and usual foreign languages of the country."""
    countries = backdrop.places.countries
    heritage = tuple(_HERITAGE.get(name, "") for name in culture_names)
    foreign = {word for pairs in (*_FOREIGN.values(), _FOREIGN_ELSEWHERE) for word, _ in pairs}
    natives = {word for country in countries for word in country.languages}
    vocabulary = tuple(sorted((natives | foreign | set(heritage)) - {""}))
    code = {word: number for number, word in enumerate(vocabulary)}
    mother = _mother_tongues(backdrop, code)
    widest = max(len(pairs) for pairs in _FOREIGN.values())
    foreign_code = np.full((len(vocabulary), widest), -1, dtype=np.int64)
    foreign_share = np.zeros((len(vocabulary), widest))
    for word, row in code.items():
        for slot, (other, share) in enumerate(_FOREIGN.get(word, _FOREIGN_ELSEWHERE)):
            if other != word:
                foreign_code[row, slot], foreign_share[row, slot] = code[other], share
    own = np.array([code.get(word, -1) for word in heritage], dtype=np.int64)[cultures]
    own = np.where((own == mother) | (foreign_code[mother] == own[:, None]).any(axis=1), -1, own)
    table = np.column_stack((mother, own, foreign_code[mother]))
    shares = np.column_stack((np.ones(len(own)), np.full(len(own), _HERITAGE_SHARE), foreign_share[mother]))
    taken = backdrop.slots("language", table.shape[1])
    silent = backdrop.slots("no languages", 1) < _NO_LANGUAGES_SHARE
    owners, codes = _chosen(np.where(silent, 1.0, taken), table, np.where(silent, 0.0, shares))
    units = backdrop.draws.unit("proficiency", owners * 64 + codes)
    level = np.where(units < 0.2, 0, 2 + np.floor(units * 4).astype(np.int64))
    spoken = np.where(codes == mother[owners], np.where(units < 0.2, 0, 5), np.minimum(level, 5))
    return _words(len(backdrop.country), vocabulary, owners, codes, spoken)


def _mother_tongues(backdrop: Backdrop, code: dict[str, int]) -> Ints:
    countries = backdrop.places.countries
    widest = max(len(country.languages) for country in countries)
    words = _padded([[code[word] for word in country.languages] for country in countries])
    ends = np.full((len(countries), widest), 101.0)
    for row, country in enumerate(countries):
        shares = list(country.languages.values())
        ends[row, : len(shares) - 1] = np.cumsum(shares)[:-1]
    wanted = np.floor(100 * backdrop.slots("mother tongue", 1))
    slot = (ends[backdrop.country] <= wanted).sum(axis=1)
    if "BE" in (country.code for country in countries):
        slot = _belgian_regions(backdrop, slot)
    tongues: Ints = words[backdrop.country, np.minimum(slot, widest - 1)]
    return tongues


def _belgian_regions(backdrop: Backdrop, slot: Ints) -> Ints:
    """Let Flanders speak Dutch and Wallonia French."""
    cities = backdrop.places.cities
    flanders = np.array([city.country.code == "BE" and city.region == "flanders" for city in cities])
    wallonia = np.array([city.country.code == "BE" and city.region == "wallonia" for city in cities])
    slot = np.where(flanders[backdrop.city], 0, slot)
    return np.where(wallonia[backdrop.city], 1, slot)
