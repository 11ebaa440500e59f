"""What reading places yields: a location with evidence, warnings in place of guesses."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from models.rules.intents import Evidence, IntentLocation

MOST_COUNTRIES = 60
"""As many as an intent can name."""


@dataclass(frozen=True, slots=True)
class PlaceReading:
    """Where the people sought should live. `location` is null when the text does not say.

    A radius stands only when the text gives one. `spans` are the stretches of a short intent that speak of places,
    prepositions included; `excluded` is where such an intent wants nobody.
    """

    location: IntentLocation | None
    evidence: tuple[Evidence, ...] = ()
    warnings: tuple[str, ...] = ()
    spans: tuple[tuple[int, int], ...] = ()
    excluded: IntentLocation | None = None


@dataclass(slots=True)
class Findings:
    """What is collected while reading."""

    text: str
    evidence: list[Evidence] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def read(self, name: str, value: str | int, start: int, end: int) -> None:
        """A value of the location, and where it stands."""
        quote = self.text[start:end]
        self.evidence.append(Evidence(field=f"must.location.{name}", value=value, quote=quote, start=start, end=end))

    def fitting(self, codes: Iterable[str]) -> tuple[str, ...]:
        """The countries, each once; those past what an intent takes are left out with a warning."""
        distinct = tuple(dict.fromkeys(codes))
        if len(distinct) > MOST_COUNTRIES:
            self.warnings.append(f"More than {MOST_COUNTRIES} countries are named; the others are left out.")
        return distinct[:MOST_COUNTRIES]

    def reading(self, location: IntentLocation | None) -> PlaceReading:
        """The outcome."""
        return PlaceReading(location, tuple(self.evidence), tuple(dict.fromkeys(self.warnings)))
