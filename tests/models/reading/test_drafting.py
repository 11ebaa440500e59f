"""Intents come about field by field: given values replace, null clears, what was read is remembered."""

from models.base.values import Range
from models.reading.intents import (
    DraftedIntent,
    Evidence,
    Intent,
    IntentLocation,
    IntentReading,
    drafted_from,
    touched,
    with_changes,
)

INTENT = Intent.model_validate(
    {
        "must": {"titles": ["Nurse"], "skills": ["triage"], "location": {"countries": ["BE"]}},
        "exclude": {"titles": ["intern"]},
        "target_companies": ["Acme"],
    }
)


def evidence(field: str) -> Evidence:
    return Evidence(field=field, value="v", quote="q", start=0, end=1)


def test_a_given_field_replaces_and_the_others_stay() -> None:
    changes = {"must": {"titles": ("Midwife",)}, "nice": {"skills": ("yoga",)}, "target_companies": ("Bolt",)}
    after = with_changes(INTENT, changes)
    assert after.must.titles == ("Midwife",)
    assert after.must.skills == ("triage",)
    assert after.nice.skills == ("yoga",)
    assert after.exclude == INTENT.exclude
    assert after.target_companies == ("Bolt",)


def test_a_location_is_one_field() -> None:
    after = with_changes(INTENT, {"must": {"location": {"location_ids": ("loc_1",)}}})
    assert after.must.location is not None
    assert after.must.location.countries == ()


def test_null_within_a_place_or_a_range_is_what_is_not_given() -> None:
    place = {"location_ids": None, "countries": None, "anchor_location_id": "loc_1", "radius_km": None}
    after = with_changes(
        INTENT, {"must": {"location": place}, "exclude": {"experience_years": {"min": 3, "max": None}}}
    )
    assert after.must.location == IntentLocation(anchor_location_id="loc_1")
    assert after.exclude.experience_years == Range(min=3)


def test_null_clears_a_field_a_block_and_the_companies() -> None:
    after = with_changes(
        INTENT, {"must": {"skills": None, "location": None}, "exclude": None, "target_companies": None}
    )
    assert after == Intent.model_validate({"must": {"titles": ["Nurse"]}})


def test_nothing_given_changes_nothing() -> None:
    assert with_changes(INTENT, {}) == INTENT


def test_touched_fields_are_those_given_and_all_of_a_cleared_block() -> None:
    fields = touched({"must": {"titles": ("x",), "skills": None}, "exclude": None, "target_companies": ()})
    assert {"must.titles", "must.skills", "target_companies", "exclude.titles", "exclude.profile_ids"} <= fields
    assert "must.location" not in fields


def test_a_reading_leaves_fields_and_evidence() -> None:
    reading = IntentReading(
        intent=INTENT, evidence=(evidence("must.titles"),), warnings=("look",), ignored_fields=("salary",)
    )
    assert drafted_from(reading) == DraftedIntent(
        fields=("exclude.titles", "must.location", "must.skills", "must.titles"),
        evidence=(evidence("must.titles"),),
        warnings=("look",),
        ignored_fields=("salary",),
    )


def test_what_is_replaced_loses_its_evidence() -> None:
    before = DraftedIntent(
        fields=("must.location", "must.titles"),
        evidence=(evidence("must.titles"), evidence("must.location.countries"), evidence("must.experience_years.min")),
        warnings=("look",),
        ignored_fields=("must.location.remote", "salary"),
    )
    after = before.without(frozenset({"must.location", "must.experience_years"}))
    assert after.fields == ("must.titles",)
    assert [one.field for one in after.evidence] == ["must.titles"]
    assert after.ignored_fields == ("salary",)
    assert after.warnings == ("look",)
