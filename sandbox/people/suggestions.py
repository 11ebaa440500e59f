"""Autocomplete: known values of a field that begin like a text, the most frequent first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sandbox.people import ask
from sandbox.people.columns import WordColumn
from sandbox.people.fields import index_of
from sandbox.people.gate import Call
from sandbox.people.lookup import plain
from sandbox.people.population.build import Population
from sandbox.people.wire import Answer, ApiError

_COLUMNS: Mapping[str, str] = {
    "title": "experience.title.name",
    "role": "experience.title.role",
    "sub_role": "experience.title.sub_role",
    "class": "experience.title.class",
    "skill": "skills",
    "company": "experience.company.name",
    "website": "experience.company.website",
    "industry": "experience.company.industry",
    "school": "education.school.name",
    "major": "education.majors",
    "country": "location_country",
    "region": "regions",
    "location": "location_name",
    "location_name": "location_name",
    "all_location": "location_name",
}
_MOST, _DEFAULT = 100, 10


@dataclass(frozen=True)
class Suggestions:
    """Answers autocomplete."""

    population: Population
    _counts: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def perform(self, call: Call) -> Answer:
        """Return up to `size` values, or an empty list."""
        name = ask.text(call.ask, "field")
        if name is None or name not in _COLUMNS:
            raise ApiError(400, f"field must be one of {', '.join(sorted(_COLUMNS))}")
        wanted = plain(ask.text(call.ask, "text") or "")
        size = ask.whole(call.ask, "size", low=1, high=_MOST, default=_DEFAULT)
        titled = ask.flag(call.ask, "titlecase")
        found = [
            {"name": value.title() if titled else value, "count": count, "meta": self._meta(name, value)}
            for value, count in self._values(name)
            if _fits(plain(value), wanted)
        ]
        return Answer({"status": 200, "data": found[:size], "fields": [name]})

    def _values(self, name: str) -> list[tuple[str, int]]:
        if name not in self._counts:
            column = index_of(self.population).column(_COLUMNS[name])
            if not isinstance(column, WordColumn):
                raise TypeError(name)
            counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values)).tolist()
            pairs = [(value, count) for value, count in zip(column.values, counts, strict=True) if count]
            self._counts[name] = sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
        return self._counts[name]

    def _meta(self, name: str, value: str) -> dict[str, Any] | None:
        write: Mapping[str, Callable[[str], dict[str, Any]]] = {
            "location": _place,
            "location_name": _place,
            "all_location": _place,
            "company": self._company,
            "title": self._title,
        }
        return write[name](value) if name in write else None

    def _company(self, value: str) -> dict[str, Any]:
        columns = self.population.columns
        firm = next((firm for firm in columns.employers.firms if firm.name == value), None)
        if firm is None:
            return {"id": None, "website": None, "location_name": None, "industry": None}
        return {
            "id": firm.id,
            "website": firm.website,
            "location_name": columns.places.cities[firm.city].name,
            "industry": firm.industry,
            "display_name": firm.name.title(),
            "alternative_names": [],
        }

    def _title(self, value: str) -> dict[str, Any]:
        title = next(title for title in self.population.columns.occupations.titles if title.name == value)
        return {"role": title.role, "sub_role": title.sub_role, "class": title.job_class, "levels": list(title.levels)}


def _fits(value: str, wanted: str) -> bool:
    return value.startswith(wanted) or f" {wanted}" in value


def _place(value: str) -> dict[str, Any]:
    locality, *middle, country = value.split(", ")
    return {"locality": locality, "region": middle[0] if middle else None, "country": country}
