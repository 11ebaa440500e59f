"""Finds one person by addresses, numbers, or a name with corroborating facts."""

import hashlib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

from sandbox.data.build_cities import ascii_form
from sandbox.people import ask as people_ask
from sandbox.people.population.build import Population
from sandbox.people.presence import Presence
from sandbox.people.wire import ApiError

DIRECT = ("pdl_id", "profile", "email", "email_hash", "phone", "lid")
_PLACES = ("location", "street_address", "locality", "region", "country", "postal_code")
_CORROBORATING = ("company", "school", "birth_date", *_PLACES)
KNOWN = frozenset((*DIRECT, "name", "first_name", "middle_name", "last_name", *_CORROBORATING))
CERTAIN = 10
_LIKELY, _PER_EVIDENCE, _MOST_BY_NAME = 3, 3, 9


@dataclass(frozen=True, slots=True)
class Match:
    """A found person, the likelihood of the match (1 to 10), and the matching inputs."""

    number: int
    likelihood: int
    matched: tuple[str, ...]


def plain(text: str) -> str:
    """Reduce text for comparison: lower-case ASCII without surrounding space."""
    return ascii_form(text).lower().strip()


def profile_key(url: str) -> str:
    """Reduce a profile address to its last part, decoded and composed."""
    path = urlsplit(url).path.strip("/")
    return unicodedata.normalize("NFC", unquote(path.rsplit("/", 1)[-1])).lower()


class Lookup:
    """Look-up tables over a population, each made when first needed."""

    def __init__(self, population: Population, presence: Presence) -> None:
        self._population = population
        self._presence = presence
        self._writer = population.writer

    def find(self, ask: Mapping[str, Any]) -> list[Match]:
        """Return the matches for enrich-like inputs, best first.

        Raises:
            ApiError: 400 when the inputs are below the documented minimum.
        """
        given = {name: people_ask.texts(ask, name) for name in KNOWN if name in ask}
        given = {name: values for name, values in given.items() if values}
        if "pdl_id" in given:
            return self._certain("pdl_id", [self._presence.resolve(value) for value in given["pdl_id"]])
        for name in DIRECT[1:]:
            found = self._certain(name, self._direct(name, given.get(name, ())))
            if found:
                return found
        names = self._names_of(given)
        if names and any(name in given for name in _CORROBORATING):
            return self._by_name(names, given)
        if any(name in given for name in DIRECT):
            return []
        raise ApiError(
            400, "one of profile, email, phone, email_hash, lid, pdl_id, or a name with company, school or place"
        )

    def _certain(self, name: str, numbers: Iterable[int | None]) -> list[Match]:
        found = dict.fromkeys(number for number in numbers if number is not None)
        return [
            Match(number=number, likelihood=CERTAIN, matched=(name,))
            for number in found
            if self._presence.fate_of(number).found
        ]

    def _direct(self, name: str, values: Iterable[str]) -> list[int]:
        read: Mapping[str, tuple[Callable[[], dict[str, list[int]]], Callable[[str], str]]] = {
            "profile": (lambda: self._by_profile, profile_key),
            "email": (lambda: self._by_email, str.lower),
            "email_hash": (lambda: self._by_email_hash, str.lower),
            "phone": (lambda: self._by_phone, lambda value: value.replace(" ", "").replace("-", "")),
            "lid": (lambda: self._by_network_id, str.strip),
        }
        table, key = read[name]
        return [number for value in values for number in table().get(key(value), ())]

    def _names_of(self, given: Mapping[str, list[str]]) -> list[str]:
        if "name" in given:
            return given["name"]
        if "first_name" in given and "last_name" in given:
            return [f"{first} {last}" for first in given["first_name"] for last in given["last_name"]]
        return []

    def _by_name(self, names: Iterable[str], given: Mapping[str, list[str]]) -> list[Match]:
        matches = []
        for name in names:
            for number in self._by_full_name.get(plain(name), ()):
                if not self._presence.fate_of(number).found:
                    continue
                facts = self._facts(number)
                evidence = tuple(field for field in _CORROBORATING if _agrees(facts, field, given.get(field, ())))
                if evidence:
                    likelihood = min(_MOST_BY_NAME, _LIKELY + _PER_EVIDENCE * len(evidence))
                    matches.append(Match(number=number, likelihood=likelihood, matched=("name", *evidence)))
        return sorted(matches, key=lambda match: -match.likelihood)

    def _facts(self, number: int) -> dict[str, set[str]]:
        record = self._population.record(number)
        companies = [job["company"] for job in record["experience"]]
        place = [record["location_locality"], record["location_region"], record["location_country"]]
        return {
            "company": _plain_set(
                value for company in companies for value in (company["name"], company["website"], company["id"])
            ),
            "school": _plain_set(study["school"]["name"] for study in record["education"]),
            "location": _plain_set([*place, record["location_name"]]),
            "locality": _plain_set(place[:1]),
            "region": _plain_set(place[1:2]),
            "country": _plain_set(place[2:]),
        }

    def _table(self, values: Callable[[int], Iterable[str | None]]) -> dict[str, list[int]]:
        table: dict[str, list[int]] = {}
        for number in range(len(self._population)):
            for value in values(number):
                if value:
                    table.setdefault(value, []).append(number)
        return table

    def _emails(self, number: int) -> list[str]:
        both = (self._writer.work_email(number), self._writer.personal_email(number))
        return [address for address in both if address]

    @cached_property
    def _by_full_name(self) -> dict[str, list[int]]:
        return self._table(lambda number: [plain(self._writer.full_name(number))])

    @cached_property
    def _by_profile(self) -> dict[str, list[int]]:
        return self._table(lambda number: [profile_key(f"in/{self._writer.profile_slug(number)}")])

    @cached_property
    def _by_email(self) -> dict[str, list[int]]:
        return self._table(self._emails)

    @cached_property
    def _by_email_hash(self) -> dict[str, list[int]]:
        digests = (hashlib.sha256, hashlib.md5)
        return self._table(
            lambda number: [digest(email.encode()).hexdigest() for email in self._emails(number) for digest in digests]
        )

    @cached_property
    def _by_phone(self) -> dict[str, list[int]]:
        return self._table(lambda number: [self._writer.mobile_phone(number)])

    @cached_property
    def _by_network_id(self) -> dict[str, list[int]]:
        return self._table(lambda number: [self._writer.network_id(number)])


def _plain_set(values: Iterable[str | None]) -> set[str]:
    return {plain(value) for value in values if value}


def _agrees(facts: Mapping[str, set[str]], field: str, values: Iterable[str]) -> bool:
    known = facts.get(field, set())
    if any(plain(value) in known for value in values):
        return True
    # A company also matches by its name without the legal form, a place by its first part.
    if field == "company":
        return any(name.startswith(f"{plain(value)} ") for value in values for name in known)
    if field == "location":
        return any(plain(value).split(",")[0] in known for value in values)
    return False
