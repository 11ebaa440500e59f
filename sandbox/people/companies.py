"""Company enrich and company clean."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from sandbox.people import ask as people_ask
from sandbox.people.gate import Call
from sandbox.people.lookup import plain
from sandbox.people.population.build import Population
from sandbox.people.population.employers import Employer
from sandbox.people.wire import Answer, ApiError, selected, titled

_INPUTS = ("pdl_id", "name", "profile", "ticker", "website")
_PLACES = ("location", "locality", "region", "country", "street_address", "postal_code")
_LIKELIHOOD = {"pdl_id": 10, "profile": 9, "website": 8, "name": 6}


@dataclass(frozen=True)
class Companies:
    """Answers the company calls."""

    population: Population

    def enrich(self, call: Call) -> Answer:
        """Return the best match as a flat object, or 404 without one."""
        firm, matched = self._find(call.ask, _INPUTS)
        likelihood = _LIKELIHOOD[matched]
        least = people_ask.whole(call.ask, "min_likelihood", low=0, high=10, default=2)
        if likelihood < least:
            raise ApiError(404, "no companies were found matching your request")
        facts = self._facts(firm) | {
            "display_name": firm.name.title(),
            "employee_count": firm.employee_count,
            "alternative_names": [],
            "tags": [],
            "headline": None,
            "summary": None,
        }
        facts = selected(facts, people_ask.text(call.ask, "data_include"))
        if people_ask.flag(call.ask, "titlecase"):
            facts = titled(facts)
        body = {"status": 200, "likelihood": likelihood} | facts
        if people_ask.flag(call.ask, "include_if_matched"):
            body["matched"] = [matched]
        return Answer(body, credits=1)

    def clean(self, call: Call) -> Answer:
        """Return the company of a name, website or profile, free of charge."""
        firm, matched = self._find(call.ask, ("name", "website", "profile"))
        body = {"status": 200} | self._facts(firm) | {"score": _LIKELIHOOD[matched] / 10, "fuzzy_match": False}
        return Answer(body)

    def _find(self, ask: Mapping[str, Any], inputs: tuple[str, ...]) -> tuple[Employer, str]:
        given = {name: value for name in inputs if (value := people_ask.text(ask, name))}
        if not given:
            raise ApiError(400, f"one of {', '.join(inputs)} is needed")
        for name, value in given.items():
            firms = self._tables.get(name, {}).get(_key(name, value), [])
            firms = [firm for firm in firms if self._lies_in(firm, ask)] or firms
            if firms:
                return max(firms, key=lambda firm: (firm.known, firm.employee_count)), name
        raise ApiError(404, "no companies were found matching your request")

    def _lies_in(self, firm: Employer, ask: Mapping[str, Any]) -> bool:
        city = self.population.columns.places.cities[firm.city]
        parts = {city.locality, city.region, city.country.name, city.name}
        return all(plain(str(ask[name])) in parts for name in _PLACES if name in ask)

    def _facts(self, firm: Employer) -> dict[str, Any]:
        city = self.population.columns.places.cities[firm.city]
        return {
            "id": firm.id,
            "name": firm.name,
            "size": firm.size,
            "founded": firm.founded,
            "industry": firm.industry,
            "location": {
                "name": city.name,
                "locality": city.locality,
                "region": city.region,
                "country": city.country.name,
                "continent": city.country.continent,
                "geo": city.geo,
            },
            "linkedin_id": firm.linkedin_id,
            "linkedin_url": firm.linkedin_url,
            "website": firm.website,
            "facebook_url": None,
            "twitter_url": None,
            "ticker": None,
            "type": firm.type,
        }

    @cached_property
    def _tables(self) -> dict[str, dict[str, list[Employer]]]:
        tables: dict[str, dict[str, list[Employer]]] = {name: {} for name in _LIKELIHOOD}
        for firm in self.population.columns.employers.firms:
            keys = {"pdl_id": firm.id, "profile": firm.slug, "website": firm.website, "name": plain(firm.name)}
            for name, key in keys.items():
                tables[name].setdefault(key, []).append(firm)
        # A firm is also found by its name without the legal form, unless another firm has exactly that name.
        for firm in self.population.columns.employers.firms:
            country = self.population.columns.places.countries[firm.country]
            for legal in country.legal:
                short = plain(firm.name).removesuffix(f" {plain(legal)}")
                if legal and short != plain(firm.name):
                    tables["name"].setdefault(short, []).append(firm)
        return tables


def _key(name: str, value: str) -> str:
    if name == "pdl_id":
        return value
    if name == "name":
        return plain(value)
    split = urlsplit(value if "//" in value else f"//{value}")
    if name == "website":
        return (split.hostname or "").removeprefix("www.")
    return split.path.strip("/").rsplit("/", 1)[-1].lower()
