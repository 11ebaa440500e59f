"""A ladder that holds too few people names the demands that keep most people out."""

from models.reading.intents import Intent, with_changes
from models.sourcing.rules.planning import draft
from tests.models.sourcing.rules.knowledge import knowledge

GHENT = "loc_2797656"
TITLES = {"titles": ["Data Engineer"]}


def test_a_ladder_that_holds_too_few_names_the_demand_that_costs_most_with_its_change() -> None:
    must = TITLES | {"skills": ["sql", "kafka"], "experience_years": {"min": 5}, "location": {"countries": ["BE"]}}
    intent = Intent.model_validate({"must": must, "nice": {"skills": ["spark"]}})
    ladder = draft(intent, knowledge())
    without = {one.suggestion.value or one.suggestion.field: one.query_key for one in ladder.relaxations}
    totals = dict.fromkeys(ladder.tier_keys, 1)
    counted = {without["sql"]: 20, without["kafka"]: 300, without["must.experience_years"]: 9}
    planned = ladder.priced(totals | counted, target=30)
    assert [(one.field, one.value, one.people) for one in planned.suggestions] == [
        ("must.skills", "kafka", 300),
        ("must.skills", "sql", 20),
        ("must.experience_years", None, 9),
    ]
    assert planned.suggestions[0].patch == {"must": {"skills": ["sql"]}, "nice": {"skills": ["spark", "kafka"]}}
    assert with_changes(intent, planned.suggestions[0].patch).must.skills == ("sql",)
    assert ladder.priced(dict.fromkeys(ladder.tier_keys, 10), target=30).suggestions == ()


def test_a_bound_that_keeps_people_out_is_suggested_away() -> None:
    area = {"location_id": GHENT, "radius_km": 5, "only": True}
    intent = Intent.model_validate({"must": TITLES | {"location": {"areas": [area]}}})
    ladder = draft(intent, knowledge())
    totals = dict.fromkeys(ladder.tier_keys, 0) | {ladder.relaxations[0].query_key: 90}
    (suggestion,) = ladder.priced(totals, target=30).suggestions
    assert (suggestion.field, suggestion.people) == ("must.location.only", 90)
    assert suggestion.patch == {"must": {"location": {"areas": [{"location_id": GHENT, "radius_km": 5}]}}}


def test_a_level_read_from_titles_is_suggested_away_with_its_word() -> None:
    ladder = draft(Intent.model_validate({"must": {"titles": ["Junior Data Engineer"]}}), knowledge())
    totals = dict.fromkeys(ladder.tier_keys, 0) | {ladder.relaxations[0].query_key: 40}
    (suggestion,) = ladder.priced(totals, target=30).suggestions
    assert suggestion.patch == {"must": {"titles": ["Data Engineer"]}}
