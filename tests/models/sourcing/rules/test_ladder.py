import itertools
from dataclasses import dataclass
from functools import lru_cache

from hypothesis import given, settings
from hypothesis import strategies as st

from models.base.errors import InvalidRequest
from models.base.values import Range
from models.market.reference import reference
from models.reading.intents import Intent, IntentLocation
from models.sourcing.rules.filters import TierFilters
from models.sourcing.rules.ladder import contains_words
from models.sourcing.rules.planning import plan_search
from models.sourcing.rules.plans import Knowledge, SearchPlanValue
from tests.models.sourcing.rules.invented import LANGUAGES, SKILLS, TITLES, Check, Invented, crowd
from tests.models.sourcing.rules.invented import check_of as fits
from tests.models.sourcing.rules.knowledge import knowledge

TOWNS = ("Ghent", "Antwerp", "Brussels", "Lille", "Rotterdam", "Terneuzen", "Berlin", "Liège", "Aalst")
COUNTRIES = ("BE", "NL", "FR", "DE")


@lru_cache(maxsize=1)
def known() -> Knowledge:
    return knowledge()


@lru_cache(maxsize=1)
def towns() -> dict[str, str]:
    found = [reference().places.find(name)[0] for name in TOWNS]
    return {place.id: place.country_code for place in found}


@lru_cache(maxsize=1)
def people() -> list[Invented]:
    return crowd(towns(), seed=7, size=300)


def some(values: tuple[str, ...], *, most: int = 2) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(values), max_size=most, unique=True)


def spans() -> st.SearchStrategy[dict[str, int] | None]:
    return st.none() | st.tuples(st.integers(0, 8), st.integers(0, 12)).map(
        lambda ends: {"min": ends[0], "max": ends[0] + ends[1]}
    )


@st.composite
def locations(draw: st.DrawFn) -> dict[str, object] | None:
    place: dict[str, object] = {}
    if countries := draw(some(COUNTRIES)):
        place["countries"] = countries
    if draw(st.booleans()):
        place["anchor_location_id"] = draw(st.sampled_from(list(towns())))
        if radius := draw(st.none() | st.integers(1, 40)):
            place["radius_km"] = radius
    if draw(st.integers(0, 3)) == 0:
        place["location_ids"] = draw(st.lists(st.sampled_from(list(towns())), min_size=1, max_size=2, unique=True))
    if draw(st.integers(0, 3)) == 0:
        spots = draw(st.lists(st.sampled_from(list(towns())), min_size=1, max_size=3, unique=True))
        bound = draw(st.booleans())
        place["areas"] = [{"location_id": spot, "radius_km": draw(st.integers(1, 60)), "only": bound} for spot in spots]
    if place.keys() & {"anchor_location_id", "location_ids"}:
        place["only"] = draw(st.booleans())
    return place or None


def blocks(titles: tuple[str, ...], *, least: int = 0) -> st.SearchStrategy[dict[str, object]]:
    return st.fixed_dictionaries(
        {
            "titles": st.lists(st.sampled_from(titles), min_size=least, max_size=2, unique=True),
            "location": locations(),
            "experience_years": spans(),
            "skills": some(SKILLS),
            "languages": some(LANGUAGES),
            "seniority": some(("senior", "entry"), most=1),
        }
    )


intents = st.fixed_dictionaries(
    {
        "must": blocks(("Data Engineer", "Nurse", "Chief of Nothing"), least=1),
        "nice": st.just({}) | blocks(("senior data engineer", "midwife")),
        "exclude": st.just({}) | blocks(("intern", "head nurse")),
    }
).map(Intent.model_validate)


def planned(intent: Intent) -> SearchPlanValue | None:
    """The plan, or null for an intent that contradicts itself."""
    try:
        return plan_search(intent, known(), totals={})
    except InvalidRequest:
        return None


@settings(max_examples=100, deadline=None)
@given(intents)
def test_no_person_is_in_two_tiers(intent: Intent) -> None:
    made = planned(intent)
    if made is None:
        return
    tests = [fits(tier.filters) for tier in made.tiers]
    for person in people():
        assert sum(test(person) for test in tests) <= 1


@settings(max_examples=100, deadline=None)
@given(intents)
def test_the_tiers_together_contain_all_people_of_the_intent(intent: Intent) -> None:
    made = planned(intent)
    if made is None:
        return
    tests = [fits(tier.filters) for tier in made.tiers]
    means = meaning(intent)
    for person in people():
        assert any(test(person) for test in tests) == means(person)


def meaning(intent: Intent) -> Check:
    """Spelled out without the planner: an exact or nearby title, the country, every demand and no exclusion."""
    must, exclude = intent.must, intent.exclude
    titled, placed = _titled(intent), _placed(intent)
    return lambda person: (
        person.title in titled
        and placed(person)
        and (not person.skills or person.skills.issuperset(must.skills))
        and (not person.languages or person.languages.issuperset(must.languages))
        and _levelled(person, must.seniority)
        and (must.experience_years is None or _within(person.years, must.experience_years))
        and person.level not in exclude.seniority
        and person.skills.isdisjoint(exclude.skills)
        and person.languages.isdisjoint(exclude.languages)
        and not (exclude.experience_years is not None and _within(person.years, exclude.experience_years))
    )


def _levelled(person: Invented, levels: tuple[str, ...]) -> bool:
    """Spelled out for the levels of these tests: the levels asked for, those beside them, or none stated."""
    beside = {"senior": {"manager"}, "entry": {"training"}}
    near = set(levels).union(*(beside[level] for level in levels))
    return not levels or person.level is None or person.level in near


def _within(years: int | None, span: Range) -> bool:
    return years is not None and (span.min or 0) <= years <= (99 if span.max is None else span.max)


def _titled(intent: Intent) -> set[str]:
    bad = intent.exclude.titles
    wanted = [title for title in intent.must.titles if not any(contains_words(title, word) for word in bad)]
    titles = known().titles
    words = [*wanted, *itertools.chain.from_iterable([*titles.exact(title), *titles.nearby(title)] for title in wanted)]
    return {
        title
        for title in TITLES
        if any(contains_words(title, word) for word in words) and not any(contains_words(title, word) for word in bad)
    }


def _placed(intent: Intent) -> Check:
    place, barred = intent.must.location or IntentLocation(), intent.exclude.location or IntentLocation()
    gone, no_country = _within_areas(_areas(barred)), barred.countries
    areas = _areas(place)
    bounds = set(place.countries or reference().places.country_codes) - set(no_country)
    local = {spot for spot in _within_areas(areas) if reference().places.get(spot).country_code in bounds}
    beyond = [area for area in areas if not area.only] if local else areas
    bands = _within_areas([Area(area.id, km, only=False) for area in beyond for km in (50, 100) if area.km * 1.5 <= km])
    spots = local | (bands if local else set())
    countries = set(place.countries) or {towns()[area.id] for area in beyond}
    if areas and not beyond:
        countries = set()

    def placed(person: Invented) -> bool:
        if person.location_id in gone or person.country in no_country:
            return False
        if place.empty or person.country in countries:
            return True
        return person.location_id in spots and (not place.countries or person.country in place.countries)

    return placed


@dataclass(frozen=True)
class Area:
    """A town, how far around it, and whether the search ends there."""

    id: str
    km: int
    only: bool


def _areas(place: IntentLocation) -> list[Area]:
    areas = [Area(spot, 0, place.only) for spot in place.location_ids]
    areas += [Area(area.location_id, area.radius_km or 50, area.only) for area in place.areas]
    if place.anchor_location_id:
        areas.append(Area(place.anchor_location_id, place.radius_km or 50, place.only))
    return areas


def _within_areas(areas: list[Area]) -> set[str]:
    """The places that lie in one of the areas."""
    places = reference().places
    return {
        near.id
        for area in areas
        for near in (places.area(places.get(area.id), area.km) if area.km else (places.get(area.id),))
    }


@settings(max_examples=60, deadline=None)
@given(intents)
def test_the_same_intent_gives_the_same_plan_and_every_tier_fits_the_filters(intent: Intent) -> None:
    made = planned(intent)
    assert made == planned(intent)
    if made is None:
        return
    assert [tier.tier for tier in made.tiers] == list(range(1, len(made.tiers) + 1))
    assert len({tier.query_key for tier in made.tiers}) == len(made.tiers)
    for tier in made.tiers:
        assert TierFilters.model_validate(tier.filters.model_dump(mode="json")) == tier.filters


def test_a_hundred_titles_with_thirty_exclusions_fit_the_filters() -> None:
    intent = Intent.model_validate(
        {
            "must": {"titles": [f"role {number}" for number in range(30)]},
            "exclude": {"titles": [f"bad {number}" for number in range(30)]},
        }
    )
    made = plan_search(intent, known(), totals={})
    assert len(made.tiers) == 1
    assert made.tiers[0].filters.titles is not None
    assert len(made.tiers[0].filters.titles.include) == 30
    assert len(made.tiers[0].filters.titles.exclude) == 30
