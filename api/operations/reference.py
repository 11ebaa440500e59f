"""Reference data that operations read: loaded once by each process."""

from dataclasses import dataclass

from models import data
from models.rules.planner import Knowledge
from models.rules.sources import PEOPLE_DATA_LABS


@dataclass(frozen=True, slots=True)
class Reference:
    """What the project ships about the world, and the part of it that planning rests on."""

    shipped: data.Reference
    knowledge: Knowledge


def load() -> Reference:
    """Load everything."""
    shipped = data.reference()
    return Reference(
        shipped=shipped,
        knowledge=Knowledge(
            titles=shipped.titles,
            places=shipped.places,
            companies=shipped.companies,
            statistics=shipped.statistics,
            source=PEOPLE_DATA_LABS,
        ),
    )
