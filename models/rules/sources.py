"""What each people source can apply: which filters, and which values of the closed ones (reference data, no calls)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from models.rules.filters import PeopleFilters

VOCABULARY = Path(__file__).parents[1] / "data" / "people_data_labs.json"


@dataclass(frozen=True, slots=True)
class Inapplicable:
    """A filter the source cannot apply; `field` is its key inside `filters`, `value` null when it is the whole key."""

    field: str
    value: str | None = None


@dataclass(frozen=True)
class PeopleSourceAbilities:
    """The filters of `PeopleFilters` that a source applies, and the only values it knows of the closed ones."""

    name: str
    filters: frozenset[str]
    vocabulary_file: Path

    @cached_property
    def vocabulary(self) -> Mapping[str, tuple[str, ...]]:
        """The known values by filter: `seniority` (lowest first), `functions`, `industries`, all in lower case."""
        read = json.loads(self.vocabulary_file.read_text(encoding="utf-8"))
        return {key: tuple(read[key]) for key in ("seniority", "functions", "industries")}

    @cached_property
    def countries(self) -> Mapping[str, tuple[str, ...]]:
        """The source's names of each ISO 3166-1 alpha-2 country, most usual first."""
        read = json.loads(self.vocabulary_file.read_text(encoding="utf-8"))
        return {code: tuple(names) for code, names in read["countries"].items()}

    def inapplicable(self, filters: PeopleFilters) -> Inapplicable | None:
        """The first thing in `filters` that this source cannot apply (specification, `unsupported_filter`)."""
        for field in filters.model_fields_set:
            if field not in self.filters and getattr(filters, field) not in (None, ()):
                return Inapplicable(field)
        if unknown := next((code for code in filters.countries if code not in self.countries), None):
            return Inapplicable("countries", unknown)
        for field, known in self.vocabulary.items():
            values: tuple[str, ...] = getattr(filters, field)
            if unknown := next((value for value in values if value.strip().lower() not in known), None):
                return Inapplicable(field, unknown)
        return None


PEOPLE_DATA_LABS = PeopleSourceAbilities(
    name="people_data_labs",
    filters=frozenset(
        {
            "titles",
            "location_ids",
            "exclude_location_ids",
            "countries",
            "company_ids",
            "exclude_company_ids",
            "past_company_ids",
            "seniority",
            "functions",
            "skills",
            "industries",
            "experience_years",
            "languages",
            "keywords",
            "exclude_profile_ids",
            "all_of",
            "none_of",
        }
    ),
    vocabulary_file=VOCABULARY,
)

SOURCES: Mapping[str, PeopleSourceAbilities] = {PEOPLE_DATA_LABS.name: PEOPLE_DATA_LABS}
