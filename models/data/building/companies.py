"""Companies for the reference file: listed firms with their domains, and operating firms of the LEI register."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from models.market.companies import company_key, plain_domain
from models.market.company_names import curated_companies

COUNTRIES = frozenset(["AT", "BE", "CH", "DE", "DK", "FI", "FR", "GB", "IE", "LU", "NL", "NO", "SE"])
BUSY_COUNTRIES = frozenset(["AU", "CA", "ES", "IT", "PL", "US"])  # only firms of the TECHNICAL sectors
TECHNICAL = (
    "aerospace_defense",
    "electronics_semiconductors",
    "healthcare_medical_devices",
    "industrial_machinery",
    "technology",
)
NOT_OPERATING = re.compile(
    r"\b(?:funds?|fonds|fondo|trusts?|reit|invest\w*|capital|partners|partnership|properties|property|realty|estates?|"
    r"real estate|immo\w*|foncière|sci|vastgoed|leasing|lease|financ\w*|securit\w+ (?:ltd|limited|inc)|ventures|equity|"
    r"acquisition\w*|bidco|topco|midco|holdco|holdings?|holding|beteiligung\w*|verwaltung\w*|vermögen\w*|nominees?|pensions?|"
    r"settlement|will|windpark\w*|solarpark\w*|wind farm|solar farm|solar \d+|spv|issuer|series|portfolio|wealth|"
    r"asset management|beheer|stichting|storage|road|street|avenue|boulevard|drive|lane|plaza|hotel|l\.?p\.?|"
    r"onroerend|patrimoni\w*|grundstücks\w*|objekt\w*|projekt\w*|huf|stak|securiti[sz]ation|master|feeder|sicav|"
    r"foundation|club|plan|benefits?|llc|s\.?l\.?|ltda|association|temple|church|farms?|estate)\b",
    re.IGNORECASE,
)
NUMBERED = re.compile(r"^\W*\d{2,}|\b\d{3,}\b|\b(?:I{2,3}|IV|VI{1,3})\b")
MEANINGLESS = frozenset({"financial", "real_estate", "jewelry_investment_coinage"})
LEGAL_CASE = {
    "gmbh": "GmbH", "ag": "AG", "se": "SE", "kg": "KG", "nv": "NV", "bv": "BV", "sa": "SA", "sas": "SAS", "srl": "Srl",
    "spa": "SpA", "llc": "LLC", "plc": "plc", "ltd": "Ltd", "inc": "Inc", "bvba": "BVBA", "ab": "AB", "as": "AS",
    "a/s": "A/S", "oy": "Oy", "kgaa": "KGaA", "sarl": "SARL", "co": "Co", "ltd.": "Ltd.", "inc.": "Inc.", "co.": "Co.",
}  # fmt: skip
SHORT_WORD = 3
DOMAIN = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")


class Firm(NamedTuple):
    """One firm to ship, and the keys by which it is found."""

    id: str
    name: str
    country: str | None
    domain: str | None
    keys: tuple[str, ...]


def build_companies(register: Path, country_codes: dict[str, str]) -> list[Firm]:
    """Return well-known firms, then listed ones, then those of the register; each name once per country.

    `country_codes` maps English names.
    """
    known = list(_known())
    taken = {key for firm in known for key in firm.keys}
    domains, ids = {firm.domain for firm in known}, {firm.id for firm in known}
    listed = [
        firm
        for firm in _listed(country_codes)
        if firm.domain not in domains and firm.id not in ids and taken.isdisjoint(firm.keys)
    ]
    taken |= {key for firm in listed for key in firm.keys}
    return [*known, *listed, *_registered(register, taken)]


def _known() -> Iterator[Firm]:
    for company, names in curated_companies():
        yield Firm(*company, keys=tuple(dict.fromkeys(company_key(name) for name in names)))


def _listed(country_codes: dict[str, str]) -> list[Firm]:
    from pytickersymbols import PyTickerSymbols

    stocks = PyTickerSymbols().get_all_stocks()
    firms: dict[str, Firm] = {}
    taken: set[str] = set()
    for stock in sorted(stocks, key=lambda stock: (str(stock["name"]), str(stock.get("symbol")))):
        key = company_key(stock["name"])
        number = next(iter(stock.get("isins") or ()), None) or stock.get("symbol")
        if not key or not number or key in taken:
            continue
        taken.add(key)
        firm = _listed_firm(stock, number, country_codes)
        known = firms.get(firm.id, firm)
        firms[firm.id] = known._replace(keys=(*known.keys, key), domain=known.domain or firm.domain)
    return list(firms.values())


def _listed_firm(stock: dict[str, Any], number: str, country_codes: dict[str, str]) -> Firm:
    website = plain_domain((stock.get("metadata") or {}).get("website") or "")
    return Firm(
        id="co_" + re.sub(r"[^0-9a-z]", "", number.lower()),
        name=stock["name"],
        country=country_codes.get(stock.get("country") or ""),
        domain=website if DOMAIN.fullmatch(website) else None,
        keys=(),
    )


def _registered(register: Path, taken: set[str]) -> Iterator[Firm]:
    best: dict[tuple[str, str], tuple[str, str]] = {}
    for entity in _entities(register):
        name, country, lei = entity["Entity.LegalName"], entity["Entity.LegalAddress.Country"], entity["LEI"]
        key = company_key(name)
        if len(key) <= 1 or key in taken:
            continue
        kept = best.get((key, country))
        if kept is None or (len(name), lei) < (len(kept[1]), kept[0]):
            best[key, country] = (lei, name)
    for (key, country), (lei, name) in sorted(best.items()):
        yield Firm(id=f"co_{lei.lower()}", name=without_capitals(name), country=country, domain=None, keys=(key,))


def _entities(register: Path) -> Iterator[dict[str, Any]]:
    import pyarrow.parquet

    for file in sorted(register.glob("gleif_*.parquet")):
        for entity in pyarrow.parquet.read_table(file).to_pylist():
            if _operates(entity):
                yield entity


def _operates(entity: dict[str, Any]) -> bool:
    country, name = entity["Entity.LegalAddress.Country"], entity["Entity.LegalName"]
    if entity["Entity.EntityCategory"] != "GENERAL" or country not in COUNTRIES | BUSY_COUNTRIES:
        return False
    if country in BUSY_COUNTRIES and not any(entity[sector] for sector in TECHNICAL):
        return False
    sectors = {field for field, value in entity.items() if value is True} - MEANINGLESS
    return bool(sectors) and not NOT_OPERATING.search(name) and not NUMBERED.search(name)


def without_capitals(name: str) -> str:
    """Return a name in capitals with the usual letter case: `ACME TOOLS GMBH` becomes `Acme Tools GmbH`."""
    if not name.isupper():
        return " ".join(name.split())
    return " ".join(_word(word) for word in name.split())


def _word(word: str) -> str:
    legal = LEGAL_CASE.get(word.lower())
    if legal:
        return legal
    return word if len(word) <= SHORT_WORD and not set("AEIOU") & set(word) else word.capitalize()
