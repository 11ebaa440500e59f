"""A draft collects what readers find, and every value of it is proved by a stretch of the text."""

import pytest
from pydantic import ValidationError

from models.base.values import Range
from models.reading.draft import MOST, DraftBlock, ReadingDraft
from models.reading.intents import ExcludeBlock, Intent, IntentArea, IntentBlock, IntentLocation, touched, with_changes
from models.reading.years import YearsFound

TEXT = "senior controller, two years in the job, no banks"


def test_each_list_field_of_a_block_can_be_drafted_and_proved() -> None:
    lists = {name for name, field in IntentBlock.model_fields.items() if field.get_default() == ()}
    assert set(MOST) == lists
    for block in DraftBlock:
        for name in lists:
            draft = ReadingDraft(TEXT)
            value = {"company_ids": "co_1", "past_company_ids": "co_1", "school_ids": "sch_1"}.get(name, "senior")
            draft.add(block, name, value, start=0, end=6)
            reading = draft.reading(candidates=(), language="en")
            assert getattr(getattr(reading.intent, block), name) == (value,)
            assert [(one.field, one.value, one.quote) for one in reading.evidence] == [
                (f"{block}.{name}", value, "senior")
            ]


def test_ranges_belong_to_a_block_and_each_end_is_proved() -> None:
    draft = ReadingDraft(TEXT)
    draft.set_years(YearsFound(low=3, high=7, start=0, end=6), block=DraftBlock.NICE)
    draft.set_tenure(Range(min=24), start=19, end=39)
    reading = draft.reading(candidates=(), language="en")
    assert reading.intent.nice.experience_years == Range(min=3, max=7)
    assert reading.intent.must == IntentBlock(tenure_months=Range(min=24))
    assert [(one.field, one.value) for one in reading.evidence] == [
        ("nice.experience_years.min", 3),
        ("nice.experience_years.max", 7),
        ("must.tenure_months.min", 24),
    ]


def test_what_is_wanted_is_not_excluded_in_any_field() -> None:
    draft = ReadingDraft(TEXT)
    draft.add(DraftBlock.MUST, "industries", "banking", start=0, end=6)
    draft.add(DraftBlock.EXCLUDE, "industries", "banking", start=41, end=49)
    reading = draft.reading(candidates=(), language="en")
    assert reading.intent.exclude == ExcludeBlock()
    assert "both wanted and excluded" in reading.warnings[0]


def test_several_areas_make_a_place() -> None:
    assert not IntentLocation(areas=(IntentArea(location_id="loc_1", radius_km=20, only=True),)).empty


@pytest.mark.parametrize(
    "place", [{"radius_km": 20}, {"only": True}, {"only": True, "areas": [{"location_id": "loc_1"}]}]
)
def test_a_radius_and_a_bound_need_the_place_they_speak_of(place: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="needs an anchor_location_id"):
        IntentLocation.model_validate(place)


def test_stored_intents_of_before_are_read_as_they_were() -> None:
    stored = {"must": {"titles": ["Nurse"], "location": {"anchor_location_id": "loc_1", "radius_km": 20}}}
    intent = Intent.model_validate(stored)
    assert intent.model_dump(mode="json", exclude_defaults=True) == stored


def test_areas_are_given_like_any_field_and_nulls_within_them_are_not_given() -> None:
    place = {"areas": ({"location_id": "loc_1", "radius_km": None},)}
    changes = {"must": {"location": place, "seniority": ("senior",)}}
    after = with_changes(Intent(), changes)
    assert after.must.location == IntentLocation(areas=(IntentArea(location_id="loc_1"),))
    assert after.must.seniority == ("senior",)
    assert touched(changes) == {"must.location", "must.seniority"}
