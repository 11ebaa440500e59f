"""Invented places, companies and people, and the facts about them that the adapter needs."""

from datetime import UTC, date, datetime

from activities.upstream.ports.people import CompanyNames, PlaceNames

NOW = datetime(2026, 3, 4, 10, 14, 30, tzinfo=UTC)
TODAY = date(2026, 3, 4)

PLACES = {
    "loc_1": PlaceNames(city="Utrecht", region="Utrecht", country_code="NL", country="Netherlands"),
    "loc_2": PlaceNames(city="Amersfoort", region="Utrecht", country_code="NL", country="Netherlands"),
    "loc_3": PlaceNames(city="Málaga", region="Andalusia", country_code="ES", country="Spain"),
    "loc_4": PlaceNames(city=None, region="Bavaria", country_code="DE", country="Germany"),
    "loc_5": PlaceNames(city=None, region=None, country_code="TR", country="Turkey"),
    "loc_6": PlaceNames(city="Munich", region="Bavaria", country_code="DE", country="Germany"),
}
COMPANIES = {
    "co_1": CompanyNames(name="Acme Example", domains=("acme.example",), provider_ids=("acmeexample-7q2",)),
    "co_2": CompanyNames(name="Beta Example", domains=("beta.example",)),
    "co_3": CompanyNames(name="Gamma  Example"),
}
PEOPLE = {f"prof_{'0' * 26}": ("ex0001_0000",), f"prof_{'1' * 26}": (), f"prof_{'2' * 26}": ("ex2_0", "ex2_1")}


class Atlas:
    """A `Directory` of invented facts."""

    def place(self, location_id: str) -> PlaceNames:
        return PLACES[location_id]

    def company(self, company_id: str) -> CompanyNames:
        return COMPANIES[company_id]

    def source_ids(self, profile_id: str) -> tuple[str, ...]:
        return PEOPLE[profile_id]

    def location_id(self, *, city: str | None, region: str | None, country_code: str | None) -> str | None:
        for location_id, names in PLACES.items():
            known = (names.city or "").lower(), (names.region or "").lower(), names.country_code
            if known == (city or "", region or "", country_code):
                return location_id
        return None
