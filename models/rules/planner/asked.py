"""What the planner asks of the shipped knowledge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from models.rules.companies import Companies
from models.rules.places import Places
from models.rules.sources import PeopleSourceAbilities


class TitleKnowledge(Protocol):
    """Titles that mean the same, and titles next to them."""

    def exact(self, title: str) -> Sequence[str]:
        """Other wordings of the title, best first; empty when it is not known."""
        ...

    def nearby(self, title: str) -> Sequence[str]:
        """Neighbouring titles, nearest first; empty when it is not known."""
        ...


class PeopleStatistics(Protocol):
    """A rough count of people from shipped occupation and place statistics."""

    def people(self, titles: Sequence[str], *, location_ids: Sequence[str], countries: Sequence[str]) -> int | None:
        """How many people with such a title live there; null when the statistics do not say."""
        ...


@dataclass(frozen=True, slots=True)
class Knowledge:
    """All that a plan rests on, apart from what was counted before."""

    titles: TitleKnowledge
    places: Places
    companies: Companies
    statistics: PeopleStatistics
    source: PeopleSourceAbilities
