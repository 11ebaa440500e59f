"""The people of a page: those who meet most wishes first, then the nearest, and no one is left out."""

from models.people.rules.profiles import CurrentJob, Profile, ProfileLocation, SpokenLanguage
from models.sourcing.rules.filters import PeopleFilters, SkillFilter, TitleFilter
from models.sourcing.rules.order import best_first, nearest_km, wishes_met
from models.sourcing.rules.plans import Anchor

GHENT = Anchor(location_id="loc_1", lat=51.05, lon=3.72)
BRUSSELS = Anchor(location_id="loc_2", lat=50.85, lon=4.35)
WISHES = (
    PeopleFilters(titles=TitleFilter(include=("lead",))),
    PeopleFilters(skills=SkillFilter(any=("Kafka",))),
    PeopleFilters(languages=("dutch",)),
    PeopleFilters(experience_years={"min": 5}),
    PeopleFilters(seniority=("senior",)),
)


def person(name: str, **facts: object) -> Profile:
    return Profile.model_validate({"id": name, "source": "s"} | facts)


def test_each_wish_is_met_by_what_the_profile_says() -> None:
    lead = person(
        "a",
        current=CurrentJob(title="Lead Engineer", seniority="senior"),
        skills=("kafka",),
        languages=(SpokenLanguage(language="Dutch"),),
        experience_years=5,
    )
    assert wishes_met(WISHES, lead) == (
        "the title lead",
        "Kafka",
        "Dutch",
        "at least 5 years of experience",
        "senior level",
    )
    assert wishes_met(WISHES, person("b", experience_years=4, current=CurrentJob(title="Leader"))) == ()


def test_distance_is_that_to_the_nearest_town() -> None:
    here = person("a", location=ProfileLocation(lat=50.85, lon=4.35))
    assert nearest_km((GHENT, BRUSSELS), here) == 0.0
    assert nearest_km((GHENT,), here) == 49.4
    assert nearest_km((GHENT,), person("b")) is None


def test_wishes_come_before_distance_and_ties_keep_their_order() -> None:
    near, far = ProfileLocation(lat=51.05, lon=3.72), ProfileLocation(lat=50.85, lon=4.35)
    page = [
        person("unknown"),
        person("far", location=far),
        person("near", location=near),
        person("wished and far", location=far, skills=("kafka",)),
        person("unknown too"),
    ]
    ordered = best_first(page, lambda one: one, wishes=WISHES, anchors=(GHENT,))
    assert [one.id for one in ordered] == ["wished and far", "near", "far", "unknown", "unknown too"]
    assert [one.id for one in best_first(page, lambda _: None, wishes=WISHES, anchors=())] == [one.id for one in page]
