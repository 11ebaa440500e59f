"""The intent that readers draft: values with their evidence, warnings, and demands that cannot be searched for."""

from dataclasses import dataclass, field
from enum import StrEnum

from models.base.values import Range
from models.reading.exclusions import REMOTE
from models.reading.intents import Evidence, ExcludeBlock, Intent, IntentBlock, IntentLocation, IntentReading
from models.reading.places.workplace import PlaceReading
from models.reading.years import YearsFound

MOST = {
    "titles": 3,
    "skills": 15,
    "languages": 10,
    "seniority": 10,
    "company_ids": 100,
    "past_company_ids": 100,
    "school_ids": 20,
    "industries": 20,
    "functions": 10,
    "degrees": 20,
    "majors": 10,
    "company_sizes": 8,
    "company_types": 6,
}
"""The list fields of a block, and the most values of each that a reading gives; later ones matter less."""


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
    ranges: dict[tuple[DraftBlock, str], Range] = field(default_factory=dict)
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

    def set_years(self, found: YearsFound, *, block: DraftBlock = DraftBlock.MUST) -> None:
        """Set the years of experience of a block."""
        self._set_range(block, "experience_years", Range(min=found.low, max=found.high), found.start, found.end)

    def set_tenure(self, months: Range, *, start: int, end: int, block: DraftBlock = DraftBlock.MUST) -> None:
        """Set the months in the current job."""
        self._set_range(block, "tenure_months", months, start, end)

    def _set_range(self, block: DraftBlock, name: str, span: Range, start: int, end: int) -> None:
        self.ranges[block, name] = span
        for bound, value in (("min", span.min), ("max", span.max)):
            if value is not None:
                self.prove(f"{block}.{name}.{bound}", value, start=start, end=end)

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
                must=IntentBlock.model_validate(self._block(DraftBlock.MUST)),
                nice=IntentBlock.model_validate(self._block(DraftBlock.NICE)),
                exclude=ExcludeBlock.model_validate(self._block(DraftBlock.EXCLUDE)),
            ),
            evidence=tuple(self.evidence),
            title_candidates=candidates,
            text_language=language,
            warnings=tuple(self.warnings),
            ignored_fields=tuple(self.ignored),
        )

    def _block(self, block: DraftBlock) -> dict[str, object]:
        """Return the fields of a block that have a value."""
        place = {"location": self.locations[block]} if block in self.locations else {}
        spans = {name: span for (owner, name), span in self.ranges.items() if owner is block}
        return place | spans | {name: tuple(values) for (owner, name), values in self.values.items() if owner is block}

    def _tuple(self, block: DraftBlock, name: str) -> tuple[str, ...]:
        return tuple(self.values.get((block, name), ()))


def barred(location: IntentLocation) -> IntentLocation:
    """Return a place as it is excluded: each value excludes on its own, so a city comes without its country."""
    if location.anchor_location_id is None and not location.location_ids and not location.areas:
        return location
    if location.radius_km is not None or location.areas:
        return location.model_copy(update={"countries": ()})
    anchor = (location.anchor_location_id,) if location.anchor_location_id else ()
    return IntentLocation(location_ids=tuple(dict.fromkeys((*anchor, *location.location_ids))))
