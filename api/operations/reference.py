"""Reference data that operations read: loaded once by each process."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reference:
    """What the project ships about the world."""


def load() -> Reference:
    """Load everything."""
    return Reference()
