"""Location clean: the place that a text names."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from sandbox.people import ask
from sandbox.people.gate import Call
from sandbox.people.lookup import plain
from sandbox.people.population.places import City, Country, Places
from sandbox.people.wire import Answer, ApiError, titled

_OTHER_NAMES = {"uk": "GB", "great britain": "GB", "usa": "US", "the netherlands": "NL", "holland": "NL"}


@dataclass(frozen=True)
class Locations:
    """Answers location/clean."""

    places: Places

    def clean(self, call: Call) -> Answer:
        """Return the largest place with the name within the areas named after it, free of charge."""
        text = ask.text(call.ask, "location")
        if not text or not text.strip():
            raise ApiError(400, "location is missing")
        parts = [plain(part) for part in text.split(",") if part.strip()]
        body = self._locality(parts) or self._area(parts)
        if body is None:
            raise ApiError(404, "no location was found matching your request")
        if ask.flag(call.ask, "titlecase"):
            body = titled(body)
        return Answer({"status": 200} | body)

    def _locality(self, parts: list[str]) -> dict[str, Any] | None:
        for city in self._by_name.get(parts[0], ()):
            if all(part in self._areas_of(city) for part in parts[1:]):
                return self._written(city)
        return None

    def _area(self, parts: list[str]) -> dict[str, Any] | None:
        country = self._countries.get(parts[-1])
        if len(parts) == 1 and country is not None:
            return _area(country, region=None)
        for city in self.places.cities:
            if city.region == parts[0] and (len(parts) == 1 or country is city.country):
                return _area(city.country, region=city.region)
        return None

    def _areas_of(self, city: City) -> set[str]:
        names = {name for name, country in self._countries.items() if country is city.country}
        return names | {city.region, city.locality}

    def _written(self, city: City) -> dict[str, Any]:
        return {
            "name": city.name,
            "locality": city.locality,
            "region": city.region,
            "subregion": None,
            "country": city.country.name,
            "continent": city.country.continent,
            "type": "locality",
            "geo": city.geo,
        }

    @cached_property
    def _by_name(self) -> dict[str, list[City]]:
        table: dict[str, list[City]] = {}
        for city in sorted(self.places.cities, key=lambda city: -city.population):
            table.setdefault(city.locality, []).append(city)
        return table

    @cached_property
    def _countries(self) -> dict[str, Country]:
        by_code = {country.code: country for country in self.places.countries}
        named = {country.name: country for country in self.places.countries}
        codes = {code.lower(): country for code, country in by_code.items()}
        return named | codes | {name: by_code[code] for name, code in _OTHER_NAMES.items()}


def _area(country: Country, *, region: str | None) -> dict[str, Any]:
    name = f"{region}, {country.name}" if region else country.name
    return {
        "name": name,
        "locality": None,
        "region": region,
        "subregion": None,
        "country": country.name,
        "continent": country.continent,
        "type": "region" if region else "country",
        "geo": None,
    }
