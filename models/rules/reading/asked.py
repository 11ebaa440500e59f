"""What reading a text asks of the shipped knowledge."""

from collections.abc import Sequence
from typing import Protocol

from models.rules.places import Places
from models.rules.skills import SkillField
from models.rules.titles import Titles


class SkillMention(Protocol):
    """A skill named in a text: `text[start:end]` reads as `name`."""

    @property
    def name(self) -> str:
        """The skill as it is searched for."""
        ...

    @property
    def start(self) -> int:
        """Where it begins."""
        ...

    @property
    def end(self) -> int:
        """Where it ends."""
        ...

    @property
    def field(self) -> SkillField:
        """The field it belongs to."""
        ...


class SkillKnowledge(Protocol):
    """The known skills."""

    def find(self, text: str) -> Sequence[SkillMention]:
        """The skills that a text names, from left to right, none overlapping."""
        ...


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

    @property
    def skills(self) -> SkillKnowledge:
        """All known skills."""
        ...
