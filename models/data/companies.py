"""Reads the companies of the reference file: `company` with keys in `company_key`."""

import sqlite3
from collections.abc import Sequence

from models.rules.companies import Company, company_key, plain_domain

COLUMNS = "company.id, company.name, company.country, company.domain"
BY_ID = f"SELECT {COLUMNS} FROM company WHERE id = ?"  # noqa: S608 - constants
BY_DOMAIN = f"SELECT {COLUMNS} FROM company WHERE domain = ? ORDER BY number"  # noqa: S608
BY_KEY = f"""
    SELECT {COLUMNS} FROM company_key JOIN company ON company.number = company_key.company
    WHERE company_key.key = ? ORDER BY company.number
"""  # noqa: S608
BEGINNING = f"""
    SELECT DISTINCT {COLUMNS} FROM company_key JOIN company ON company.number = company_key.company
    WHERE company_key.key >= ? AND company_key.key < ? ORDER BY company.number LIMIT ?
"""  # noqa: S608


class StoredCompanies:
    """The firms in the reference file, listed ones first."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def get(self, company_id: str) -> Company:
        """The firm of an id; raises `KeyError` for an unknown one."""
        found = self._read(BY_ID, company_id)
        if not found:
            raise KeyError(company_id)
        return found[0]

    def knows(self, company_id: str) -> bool:
        """Whether there is a firm of this id."""
        return bool(self._read(BY_ID, company_id))

    def named(self, name: str) -> Sequence[Company]:
        """Every firm a name can mean, best first."""
        return self._read(BY_KEY, company_key(name))

    def at_domain(self, domain: str) -> Sequence[Company]:
        """Firms at a domain, also given as a URL or mail address."""
        return self._read(BY_DOMAIN, plain_domain(domain))

    def beginning(self, name: str, *, limit: int) -> Sequence[Company]:
        """Firms whose name begins so."""
        key = company_key(name)
        return self._read(BEGINNING, key, key + "~", limit) if key else ()

    def _read(self, query: str, *values: object) -> tuple[Company, ...]:
        return tuple(Company(*row) for row in self._database.execute(query, values))
