"""The intent that readers draft: values with their evidence, warnings, and demands that cannot be searched for."""

from dataclasses import dataclass, field
from enum import StrEnum

from models.base.values import Range
from models.reading.exclusions import REMOTE
from models.reading.intents import Evidence, ExcludeBlock, Intent, IntentBlock, IntentLocation, IntentReading
from models.reading.places.workplace import PlaceReading
from models.reading.years import YearsFound

MOST = {"titles": 3, "skills": 15, "languages": 10}
"""The most values of a field that a reading gives; later ones matter less."""


class DraftBlock(StrEnum):
    """The blocks of an intent."""

    MUST = "must"
    NICE = "nice"
    EXCLUDE = "exclude"


@dataclass(slots=True)
class ReadingDraft:
    """An intent in the making: distinct values in order, each with the stretch it was read from."""

    text: str
    values: dict[tuple[DraftBlock, str], list[str]] = field(default_factory=dict)
    locations: dict[DraftBlock, IntentLocation] = field(default_factory=dict)
    years: Range | None = None
    evidence: list[Evidence] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def add(self, block: DraftBlock, name: str, value: str, *, start: int, end: int) -> None:
        """Add a value of a list field; a repeated one, or one beyond the most, is left out."""
        if block is DraftBlock.EXCLUDE and value.casefold() in map(str.casefold, self._tuple(DraftBlock.MUST, name)):
            self.warn(f"“{value}” is both wanted and excluded; the exclusion was dropped.")
            return
        values = self.values.setdefault((block, name), [])
        if value in values or len(values) >= MOST[name]:
            return
        values.append(value)
        self.prove(f"{block}.{name}", value, start=start, end=end)

    def set_years(self, found: YearsFound) -> None:
        """Set the required years of experience."""
        self.years = Range(min=found.low, max=found.high)
        for name, value in (("min", found.low), ("max", found.high)):
            if value is not None:
                self.prove(f"must.experience_years.{name}", value, start=found.start, end=found.end)

    def set_place(self, place: PlaceReading) -> None:
        """Set where the people sought should live, with the evidence and warnings of its reader."""
        if place.location is not None:
            self.locations[DraftBlock.MUST] = place.location
        if place.excluded is not None:
            self.locations[DraftBlock.EXCLUDE] = barred(place.excluded)
        self.evidence.extend(place.evidence)
        for warning in place.warnings:
            self.warn(warning)

    def prove(self, name: str, value: str | int, *, start: int, end: int) -> None:
        """Note the stretch that a value was read from."""
        self.evidence.append(Evidence(field=name, value=value, quote=self.text[start:end], start=start, end=end))

    def warn(self, text: str) -> None:
        """Note something the caller should know before searching."""
        if text not in self.warnings:
            self.warnings.append(text)

    def ignore(self, name: str, why: str) -> None:
        """Note a demand that no filter can express."""
        if name not in self.ignored:
            self.ignored.append(name)
        self.warn(why)

    def ignore_language_levels(self) -> None:
        """Note that how well a language is spoken is not searched for."""
        self.ignore(
            "must.languages.level", "Language levels cannot be searched for; the languages are searched without them."
        )

    def ignore_working_place(self, text: str) -> None:
        """Note that remote, hybrid or office work is not searched for, when the text asks for it."""
        found = REMOTE.search(text)
        if found:
            self.ignore(
                "remote",
                f"“{found.group()}” cannot be searched for: the search covers where people live, not where they work.",
            )

    def ignore_exclusion(self, what: str) -> None:
        """Note that no filter excludes what the text rules out."""
        self.ignore("exclude", f"“{what}” cannot be excluded: there is no filter for it.")

    def exclude_freelancers(self, *, start: int, end: int) -> None:
        """Exclude people whose titles say that they are freelancers."""
        for title in ("freelance", "freelancer"):
            self.add(DraftBlock.EXCLUDE, "titles", title, start=start, end=end)
        self.warn("Freelancers can be excluded only by their titles.")

    def reading(self, *, candidates: tuple[str, ...], language: str | None) -> IntentReading:
        """Return the reading."""
        return IntentReading(
            intent=Intent(
                must=IntentBlock(
                    titles=self._tuple(DraftBlock.MUST, "titles"),
                    location=self.locations.get(DraftBlock.MUST),
                    experience_years=self.years,
                    skills=self._tuple(DraftBlock.MUST, "skills"),
                    languages=self._tuple(DraftBlock.MUST, "languages"),
                ),
                nice=IntentBlock(
                    skills=self._tuple(DraftBlock.NICE, "skills"), languages=self._tuple(DraftBlock.NICE, "languages")
                ),
                exclude=ExcludeBlock(
                    titles=self._tuple(DraftBlock.EXCLUDE, "titles"),
                    location=self.locations.get(DraftBlock.EXCLUDE),
                    skills=self._tuple(DraftBlock.EXCLUDE, "skills"),
                ),
            ),
            evidence=tuple(self.evidence),
            title_candidates=candidates,
            text_language=language,
            warnings=tuple(self.warnings),
            ignored_fields=tuple(self.ignored),
        )

    def _tuple(self, block: DraftBlock, name: str) -> tuple[str, ...]:
        return tuple(self.values.get((block, name), ()))


def barred(location: IntentLocation) -> IntentLocation:
    """Return a place as it is excluded: each value excludes on its own, so a city comes without its country."""
    if location.anchor_location_id is None and not location.location_ids:
        return location
    if location.radius_km is not None:
        return location.model_copy(update={"countries": ()})
    anchor = (location.anchor_location_id,) if location.anchor_location_id else ()
    return IntentLocation(location_ids=tuple(dict.fromkeys((*anchor, *location.location_ids))))
