"""Members of the network: the invented people under their ids and slugs, and the owners of connected accounts."""

import unicodedata
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import quote, unquote

from sandbox.people.population.build import Population
from sandbox.people.population.draws import Draws
from sandbox.people.population.employers import slug_of

OWNERS = 1_000_000_000
"""Owners of accounts are numbered from here, above all people of the population."""
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_ID_LETTERS = 30
_MOST_DECODINGS = 4


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the network with the fields of their profile."""

    number: int
    id: str
    public_identifier: str
    first_name: str
    last_name: str
    headline: str

    @property
    def display_name(self) -> str:
        """First and family name."""
        return f"{self.first_name} {self.last_name}".strip()

    @property
    def profile_url(self) -> str:
        """The public address."""
        return f"https://www.linkedin.com/in/{quote(self.public_identifier, safe='-_.~')}"


class Members:
    """Finds members; the same seed yields the same members."""

    def __init__(self, population: Population, seed: int) -> None:
        self._population = population
        self._draws = Draws(seed)

    def __len__(self) -> int:
        return len(self._population)

    def member(self, number: int) -> Member:
        """Return a member by number."""
        if number >= OWNERS:
            return self._owner(number)
        writer = self._population.writer
        return Member(
            number=number,
            id=self._id_of(number),
            public_identifier=plain_slug(writer.profile_slug(number)),
            first_name=writer.first_name(number).title(),
            last_name=(writer.last_name(number) or "").title(),
            headline=writer.headline(number),
        )

    def find(self, text: str) -> int | None:
        """Return the number of the member with this network id, slug or people provider's id; None without one."""
        number = self._numbers.get(text)
        if number is None:
            number = self._slugs.get(plain_slug(text))
        if number is None:
            number = self._population.number_of(text)
        return number

    def with_id(self, text: str) -> int | None:
        """Return the number of the member with this network id."""
        return self._numbers.get(text)

    def _owner(self, number: int) -> Member:
        names, nth = self._population.columns.name_lists, number - OWNERS
        first = names.first[self._draws.below("owner first name", nth, len(names.first))]
        family = names.family[self._draws.below("owner family name", nth, len(names.family))]
        return Member(
            number=number,
            id=self._id_of(number),
            public_identifier=f"{slug_of(f'{first} {family}')}-owner{nth}",
            first_name=first.title(),
            last_name=family.title(),
            headline="Recruiter",
        )

    def _id_of(self, number: int) -> str:
        letters = ""
        for part in range(3):
            word = self._draws.word_at(f"network member {part}", number)
            for _ in range(_ID_LETTERS // 3):
                letters += _ALPHABET[word & 63]
                word >>= 6
        return f"ACoAA{letters}"

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {self._id_of(number): number for number in range(len(self._population))}

    @cached_property
    def _slugs(self) -> dict[str, int]:
        writer = self._population.writer
        slugs: dict[str, int] = {}
        for number in range(len(self._population)):
            # A few records of the people provider have another's address: on the network it belongs to the first.
            slugs.setdefault(plain_slug(writer.profile_slug(number)), number)
        return slugs


def plain_slug(text: str) -> str:
    """Return the normal form of a slug: decoded, composed, lower case."""
    for _ in range(_MOST_DECODINGS):
        decoded = unquote(text)
        if decoded == text:
            break
        text = decoded
    return unicodedata.normalize("NFC", text).lower()
