"""Employers: well-known firms as facts, and invented firms for every country and industry."""

import tomllib
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sandbox.data.build_cities import ascii_form
from sandbox.people.population.draws import Draws, Floats, Ints, mixed
from sandbox.people.population.occupations import load_occupations
from sandbox.people.population.places import DATA, Places, load_places

SIZES = ("1-10", "11-50", "51-200", "201-500", "501-1000", "1001-5000", "5001-10000", "10001+")
_SIZE_FLOOR = (2, 11, 51, 201, 501, 1001, 5001, 10001)
_SIZE_CEILING = (10, 50, 200, 500, 1000, 5000, 10000, 180000)
_SIZE_SHARES = np.array([22, 26, 24, 11, 7, 6, 2, 2], dtype=np.int64)
_SIZE_WEIGHTS = (2, 4, 8, 14, 22, 40, 60, 90)
_INVENTED_PER_WEIGHT = 40
_PUBLIC = frozenset({"government administration", "public safety", "public policy", "international affairs"})
_EDUCATIONAL = frozenset({"higher education", "primary/secondary education", "education management"})


@dataclass(frozen=True, slots=True)
class Employer:
    """One firm as the provider describes it; `known` firms exist, all others are invented."""

    id: str
    name: str
    website: str
    country: int
    city: int
    industry: str
    size: str
    employee_count: int
    founded: int
    type: str
    linkedin_id: str
    slug: str
    known: bool

    @property
    def linkedin_url(self) -> str:
        """The firm's page on the network, without scheme."""
        return f"linkedin.com/company/{self.slug}"


@dataclass(frozen=True, slots=True)
class Employers:
    """All firms, with weighted pools for each (country, industry)."""

    firms: tuple[Employer, ...]
    industries: tuple[str, ...]
    pool: Ints
    """Firm indexes, pool after pool."""
    ends: Ints
    """Running sum of the weights of `pool`, with a leading zero."""
    pool_run: Ints
    """Start and end within `pool` for each (country, industry), shape (countries, industries, 2)."""

    def draw(self, countries: Ints, industries: Ints, units: Floats) -> Ints:
        """Choose an employer of that industry hiring in that country."""
        runs = self.pool_run[countries, industries]
        low, high = self.ends[runs[:, 0]], self.ends[runs[:, 1]]
        return self.pool[np.searchsorted(self.ends, low + np.floor(units * (high - low)), side="right") - 1]


def base36(number: int, length: int) -> str:
    """Write the low digits of a number with letters and digits."""
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    text = ""
    for _ in range(length):
        number, digit = divmod(number, 36)
        text += digits[digit]
    return text


def slug_of(name: str) -> str:
    """Write a name the way it stands in addresses."""
    letters = "".join(letter if letter.isalnum() else "-" for letter in ascii_form(name).lower())
    return "-".join(part for part in letters.split("-") if part)


def _firm_type(industry: str, size: str, *, known: bool) -> str:
    if industry in _PUBLIC:
        return "government"
    if industry in _EDUCATIONAL:
        return "educational"
    if industry == "nonprofit organization management":
        return "nonprofit"
    return "public" if known and size == "10001+" else "private"


@dataclass(frozen=True, slots=True)
class _Founding:
    draws: Draws
    places: Places

    def firm(
        self, number: int, *, name: str, website: str | None, country: int, city: int, industry: str, size: int
    ) -> Employer:
        key = mixed(mixed(number) ^ int.from_bytes(name.encode()[:8], "big"))
        slug = slug_of(name)
        spread = _SIZE_CEILING[size] - _SIZE_FLOOR[size]
        chance = self.draws.unit_at("employee count", number)
        return Employer(
            id=f"{slug[:20].strip('-')}-{base36(key, 8)}",
            name=name,
            website=website or f"{slug}.example",
            country=country,
            city=city,
            industry=industry,
            size=SIZES[size],
            employee_count=_SIZE_FLOOR[size] + int(spread * chance * chance),
            founded=1890 + int(133 * self.draws.unit_at("founded", number)),
            type=_firm_type(industry, SIZES[size], known=website is not None),
            linkedin_id=str(1_000_000 + key % 90_000_000),
            slug=slug if website else f"{slug}-{base36(key, 4)}",
            known=website is not None,
        )


def _known_firms(founding: _Founding) -> list[Employer]:
    places = founding.places
    codes = {country.code: number for number, country in enumerate(places.countries)}
    cities: dict[tuple[int, str], int] = {}
    for number, city in enumerate(places.cities):
        cities.setdefault((int(places.city_country[number]), city.locality), number)
    firms = []
    lines = DATA.joinpath("companies_known.tsv").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines):
        name, website, code, town, industry, size = line.split("\t")
        country = codes[code]
        firms.append(
            founding.firm(
                number,
                name=name,
                website=website,
                country=country,
                city=cities[country, town.lower()],
                industry=industry,
                size=SIZES.index(size),
            )
        )
    return firms


def _invented_firms(founding: _Founding, industries: tuple[str, ...], first: int) -> list[Employer]:
    """Found at least two firms of every industry in every country, more in larger ones."""
    draws, places = founding.draws, founding.places
    halves = tomllib.loads(DATA.joinpath("firm_names.toml").read_text(encoding="utf-8"))
    heads, tails = halves["heads"].split(), halves["tails"].split()
    firms: list[Employer] = []
    for country, facts in enumerate(places.countries):
        per_industry = max(2, facts.weight * _INVENTED_PER_WEIGHT // len(industries) // 10)
        towns = places.largest(country, 400)
        for industry in industries:
            for _ in range(per_industry):
                number = first + len(firms)
                size = int(np.searchsorted(np.cumsum(_SIZE_SHARES), draws.below("size", number, 100), "right"))
                town = towns[int(len(towns) * draws.unit_at("town", number) * draws.unit_at("town 2", number))]
                head = heads[draws.below("head", number, len(heads))]
                tail = tails[draws.below("tail", number, len(tails))]
                legal = facts.legal[draws.below("legal", number, len(facts.legal))]
                firms.append(
                    founding.firm(
                        number,
                        name=f"{head}{tail} {legal}".strip(),
                        website=None,
                        country=country,
                        city=town,
                        industry=industry,
                        size=size,
                    )
                )
    return firms


def _pools(places: Places, firms: list[Employer], industries: tuple[str, ...]) -> tuple[list[int], list[int], Ints]:
    numbers = {industry: number for number, industry in enumerate(industries)}
    members: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for firm_number, firm in enumerate(firms):
        industry = numbers[firm.industry]
        weight = _SIZE_WEIGHTS[SIZES.index(firm.size)]
        members.setdefault((firm.country, industry), []).append((firm_number, weight))
        if firm.known and firm.size == "10001+":
            for country in range(len(places.countries)):
                if country != firm.country:
                    members.setdefault((country, industry), []).append((firm_number, 6))
    pool: list[int] = []
    weights: list[int] = []
    runs = np.zeros((len(places.countries), len(industries), 2), dtype=np.int64)
    for (country, industry), firm_weights in sorted(members.items()):
        start = len(pool)
        pool.extend(firm for firm, _ in firm_weights)
        weights.extend(weight for _, weight in firm_weights)
        runs[country, industry] = (start, len(pool))
    return pool, weights, runs


@lru_cache(maxsize=4)
def found_employers(seed: int) -> Employers:
    """Found all firms of this seed; they do not depend on how many people there are."""
    places, occupations = load_places(), load_occupations()
    founding = _Founding(Draws(seed), places)
    known = _known_firms(founding)
    wanted = {industry for family in occupations.families for industry in family.industries}
    industries = tuple(sorted(wanted | {firm.industry for firm in known}))
    firms = known + _invented_firms(founding, industries, len(known))
    pool, weights, runs = _pools(places, firms, industries)
    return Employers(
        firms=tuple(firms),
        industries=industries,
        pool=np.array(pool, dtype=np.int64),
        ends=np.concatenate(([0], np.cumsum(np.array(weights, dtype=np.int64)))),
        pool_run=runs,
    )
