"""Query keys: one for one search at one source, whatever the order, case or repetition of its values."""

import pytest

from models.sourcing.rules.filters import TierFilters, query_key

FILTERS = {
    "titles": {"include": ["Data Engineer", "Nurse"], "exclude": ["intern"]},
    "countries": ["BE", "NL"],
    "none_of": [{"languages": ["dutch"]}, {"countries": ["FR", "DE"]}],
}


def key(changed: dict[str, object] | None = None, *, source: str = "people_data_labs") -> str:
    return query_key(TierFilters.model_validate(FILTERS | (changed or {})), source=source)


def test_a_key_is_a_sha_256() -> None:
    assert len(key()) == 64
    assert int(key(), 16)


@pytest.mark.parametrize(
    "same",
    [
        {"countries": ["NL", "BE", "NL"]},
        {"titles": {"include": ["nurse", "DATA ENGINEER"], "exclude": ["Intern"], "match": "exact"}},
        {"none_of": [{"countries": ["DE", "FR"]}, {"languages": ["dutch"]}, {"languages": ["dutch"]}]},
        {"location_ids": [], "skills": None},
    ],
)
def test_order_case_repetition_and_defaults_do_not_matter(same: dict[str, object]) -> None:
    assert key(same) == key()


@pytest.mark.parametrize(
    "other",
    [
        {"countries": ["BE"]},
        {"titles": {"include": ["Data Engineer", "Nurse"]}},
        {"titles": {"include": ["Data Engineer", "Nurse"], "exclude": ["intern"], "match": "similar"}},
        {"none_of": [{"languages": ["dutch"], "countries": ["FR", "DE"]}]},
        {"all_of": FILTERS["none_of"], "none_of": []},
        {"open_to_work": False},
    ],
)
def test_everything_else_does(other: dict[str, object]) -> None:
    assert key(other) != key()


def test_the_source_is_part_of_the_key() -> None:
    assert key(source="another") != key()
