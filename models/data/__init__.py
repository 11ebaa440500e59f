"""The reference data the project ships: `reference()` gives it, loaded once per process."""

from dataclasses import dataclass
from functools import lru_cache

from models.data.places import load_places
from models.data.shipped import open_reference, unpacked
from models.rules.places import Places


@dataclass(frozen=True, slots=True)
class Reference:
    """Everything shipped, read-only."""

    places: Places


@lru_cache(maxsize=1)
def reference() -> Reference:
    """The shipped data; the first call on a machine unpacks it, later ones take a fraction of a second."""
    database = open_reference(unpacked())
    return Reference(places=load_places(database))
