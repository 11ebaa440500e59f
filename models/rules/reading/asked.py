"""What reading a text asks of the shipped knowledge."""

from typing import Protocol

from models.rules.places import Places
from models.rules.titles import Titles


class ReadingKnowledge(Protocol):
    """The shipped reference data, as far as reading rests on it."""

    @property
    def places(self) -> Places:
        """All known places."""
        ...

    @property
    def titles(self) -> Titles:
        """All known titles."""
        ...
