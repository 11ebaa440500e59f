"""The shipped companies: the curated ones, and behind them those of the reference file."""

import sqlite3
from collections.abc import Iterable, Sequence

from models.market.companies import Company, company_key, plain_domain
from models.market.company_names import CuratedCompany
from models.market.place_names import place_key

COLUMNS = "company.id, company.name, company.country, company.domain"
BY_ID = f"SELECT {COLUMNS} FROM company WHERE id = ?"  # noqa: S608 - constants
BY_DOMAIN = f"SELECT {COLUMNS} FROM company WHERE domain = ? ORDER BY number"  # noqa: S608 - constants
BY_KEYS = f"""
    SELECT DISTINCT {COLUMNS} FROM company_key JOIN company ON company.number = company_key.company
    WHERE company_key.key >= ? AND company_key.key < ? ORDER BY company.number LIMIT ?
"""  # noqa: S608 - constants
ALL_LISTED = f"SELECT {COLUMNS} FROM company WHERE number < 3000 AND length(id) < ?"  # noqa: S608 - constants
LISTED = 20
"""Ids of listed firms are shorter than this: an ISIN or stock symbol; those of the register hold an LEI."""
IS_PLACE = "SELECT 1 FROM place_key WHERE key = ? LIMIT 1"
MOST_NAMESAKES = 50
SHORTEST_BEGINNING = 4


class StoredCompanies:
    """All shipped companies, curated ones first, then listed ones."""

    def __init__(self, database: sqlite3.Connection, curated: Iterable[CuratedCompany]) -> None:
        self._database = database
        self._curated: dict[str, Company] = {}
        self._by_key: dict[str, list[Company]] = {}
        self._by_domain: dict[str, Company] = {}
        for company, names in curated:
            self._curated[company.id] = company
            if company.domain:
                self._by_domain[company.domain] = company
            for key in dict.fromkeys(map(company_key, names)):
                self._by_key.setdefault(key, []).append(company)

    def get(self, company_id: str) -> Company:
        """Return the firm of an id; raises `KeyError` for an unknown one."""
        found = self._curated.get(company_id) or next(iter(self._read(BY_ID, company_id)), None)
        if found is None:
            raise KeyError(company_id)
        return found

    def knows(self, company_id: str) -> bool:
        """Return whether there is a firm of this id."""
        return company_id in self._curated or bool(self._read(BY_ID, company_id))

    def named(self, name: str) -> Sequence[Company]:
        """Return every firm a name can mean, best first: a curated name means the curated firms alone.

        A name that is no firm's whole name means the listed firms whose name begins with it (`Evonik`), unless it is
        also the name of a place.
        """
        key = company_key(name)
        return tuple(self._by_key.get(key, ())) or self._with_key(key) or self._listed_beginning(key)

    def listed(self) -> tuple[Company, ...]:
        """Return the listed firms of the reference file and the well-known ones that it knew when it was built."""
        return self._read(ALL_LISTED, LISTED)

    def at_domain(self, domain: str) -> Sequence[Company]:
        """Return firms at a domain, also given as a URL or mail address."""
        host = plain_domain(domain)
        known = self._by_domain.get(host)
        return (known,) if known else self._read(BY_DOMAIN, host)

    def beginning(self, name: str, *, limit: int) -> Sequence[Company]:
        """Return the firms whose name begins with this text."""
        key = company_key(name)
        if not key:
            return ()
        own = [company for known, found in self._by_key.items() if known.startswith(key) for company in found]
        found = dict.fromkeys([*own, *self._read(BY_KEYS, key, key + "~", limit)])
        return tuple(found)[:limit]

    def _with_key(self, key: str) -> tuple[Company, ...]:
        return self._read(BY_KEYS, key, key + "\0", MOST_NAMESAKES) if key else ()

    def _listed_beginning(self, key: str) -> tuple[Company, ...]:
        if len(key) < SHORTEST_BEGINNING or self._database.execute(IS_PLACE, (place_key(key),)).fetchone():
            return ()
        found = self._read(BY_KEYS, key + " ", key + "!", MOST_NAMESAKES)
        return tuple(company for company in found if len(company.id) < LISTED)

    def _read(self, query: str, *values: object) -> tuple[Company, ...]:
        rows = map(Company._make, self._database.execute(query, values))
        return tuple(self._curated.get(company.id, company) for company in rows)
