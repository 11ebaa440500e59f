"""The words of a plan: how places, conditions, tiers and the whole plan are put to a person."""

from collections.abc import Sequence

from models.rules.filters import PeopleFilters, Range
from models.rules.intents import ExcludeBlock, IntentLocation
from models.rules.places import Places

WITH_ARTICLE = frozenset({"AE", "BS", "CF", "CG", "CD", "CZ", "DO", "GB", "GM", "KM", "MV", "NL", "PH", "SB", "US"})
MOST_SHOWN = 8


def listed(words: Sequence[str], *, most: int = MOST_SHOWN, last: str = "and") -> str:
    """`a, b and c`; what is beyond `most` is counted."""
    shown = list(words[:most])
    if len(words) > most:
        shown.append(f"{len(words) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def country_names(codes: Sequence[str], places: Places) -> str:
    """Countries in English, as they stand in a sentence."""
    return listed([f"{'the ' if code in WITH_ARTICLE else ''}{places.country_name(code)}" for code in codes], most=3)


def years(span: Range) -> str:
    """A range of years in words."""
    if span.max is None:
        return f"at least {span.min} years"
    if not span.min:
        return f"at most {span.max} years"
    return f"{span.min} to {span.max} years"


def conditions(filters: PeopleFilters, *, place: str = "") -> str:
    """A conjunction of filters in words, for `with …` and `without …`."""
    parts = []
    if filters.skills and filters.skills.any:
        parts.append(listed(filters.skills.any, most=4, last="or"))
    if filters.languages:
        parts.append(listed([language.capitalize() for language in filters.languages], most=4, last="or"))
    if filters.experience_years:
        parts.append(f"{years(filters.experience_years)} of experience")
    if filters.titles:
        parts.append(f"the title {listed(filters.titles.include, most=3, last='or')}")
    if filters.company_ids:
        parts.append("a preferred employer")
    if place:
        parts.append(f"a home {place}")
    return listed(parts)


def required(common: PeopleFilters, all_of: Sequence[PeopleFilters]) -> str:
    """What everybody must have, in words; empty when nothing."""
    parts = []
    if common.skills and common.skills.all:
        parts.append(listed(common.skills.all))
    languages = [language for filters in (common, *all_of) for language in filters.languages]
    if languages:
        parts.append(listed([language.capitalize() for language in languages]))
    if common.experience_years:
        parts.append(f"{years(common.experience_years)} of experience")
    if common.company_ids:
        count = len(common.company_ids)
        parts.append("a job at the wanted company" if count == 1 else f"a job at one of {count} companies")
    return listed(parts) if parts else ""


def excluded(block: ExcludeBlock, places: Places) -> str:
    """Who is left out, in words; empty when nobody."""
    place = block.location or IntentLocation()
    spots = [*place.location_ids, *([place.anchor_location_id] if place.anchor_location_id else [])]
    parts = [
        *(f"the title {title}" for title in block.titles),
        *(f"the skill {skill}" for skill in block.skills),
        *(f"speakers of {language.capitalize()}" for language in block.languages),
        *(f"people in {places.get(spot).name}" for spot in spots),
        *([f"people in {country_names(place.countries, places)}"] if place.countries else []),
    ]
    if block.experience_years and not block.experience_years.empty:
        parts.append(f"people with {years(block.experience_years)} of experience")
    if block.company_ids:
        parts.append(f"people at {_counted(len(block.company_ids), 'company', 'companies')}")
    if block.profile_ids:
        parts.append(_counted(len(block.profile_ids), "person", "people"))
    return listed(parts) if parts else ""


def _counted(number: int, one: str, more: str) -> str:
    return f"one {one}" if number == 1 else f"{number} {more}"
