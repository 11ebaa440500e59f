"""Where a plan searches: the areas asked for, bands around them, the rest of their countries."""

from typing import Any

import pytest

from models.base.errors import InvalidRequest
from models.market.reference import reference
from models.reading.intents import Intent
from models.sourcing.rules.filters import (
    TitleFilter,
)
from models.sourcing.rules.planning import plan_search
from models.sourcing.rules.plans import Anchor, Origin, SearchPlanValue
from tests.models.sourcing.rules.knowledge import knowledge

GHENT, ANTWERP = "loc_2797656", "loc_2803138"
TITLES = {"titles": ["Data Engineer"]}
NEAR_GHENT = {"location": {"anchor_location_id": GHENT, "radius_km": 20}}


def made(**blocks: Any) -> SearchPlanValue:
    return plan_search(Intent.model_validate(blocks), knowledge(), totals={})


def place(name: str) -> str:
    return reference().places.find(name)[0].id


def labels(planned: SearchPlanValue) -> list[str]:
    return [tier.label for tier in planned.tiers]


def refused(**blocks: Any) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        made(**blocks)
    return caught.value


def test_without_a_place_the_search_is_worldwide_and_says_so() -> None:
    planned = made(must=TITLES)
    assert labels(planned) == ["Exact titles worldwide", "Nearby titles worldwide"]
    assert planned.tiers[0].filters.countries == ()
    assert any("worldwide" in warning for warning in planned.warnings)
    assert planned.anchor is None


def test_countries_alone_are_searched_as_a_whole() -> None:
    planned = made(must=TITLES | {"location": {"countries": ["NL", "BE"]}})
    assert labels(planned) == [
        "Exact titles in the Netherlands and Belgium",
        "Nearby titles in the Netherlands and Belgium",
    ]
    assert planned.tiers[0].filters.countries == ("NL", "BE")


def test_a_local_area_comes_before_the_rest_of_its_country() -> None:
    planned = made(must=TITLES | NEAR_GHENT)
    assert labels(planned) == [
        "Exact titles within 20 km of Ghent",
        "Nearby titles within 20 km of Ghent",
        "Exact titles 20 to 50 km from Ghent",
        "Nearby titles 20 to 50 km from Ghent",
        "Exact titles 50 to 100 km from Ghent",
        "Nearby titles 50 to 100 km from Ghent",
        "Exact titles in the rest of Belgium",
        "Nearby titles in the rest of Belgium",
    ]
    local, band, outer, rest = (planned.tiers[number].filters for number in (0, 2, 4, 6))
    assert local.location_ids[0] == GHENT
    assert band.exclude_location_ids == local.location_ids
    assert outer.exclude_location_ids == (*local.location_ids, *band.location_ids)
    assert rest.exclude_location_ids == (*local.location_ids, *band.location_ids, *outer.location_ids)
    assert planned.anchor == Anchor(location_id=GHENT, lat=51.05, lon=3.71667)
    assert planned.tiers[1].filters.titles == TitleFilter(
        include=("analytics engineer", "etl developer", "backend engineer"),
        exclude=("Data Engineer", "data platform engineer", "dataingenieur"),
    )


def test_an_area_that_binds_is_not_left_and_the_summary_says_so() -> None:
    planned = made(must=TITLES | {"location": NEAR_GHENT["location"] | {"only": True}})
    assert labels(planned) == ["Exact titles within 20 km of Ghent", "Nearby titles within 20 km of Ghent"]
    assert planned.summary.startswith("No tier goes beyond the area asked for. ")
    named = made(must=TITLES | {"location": {"location_ids": [GHENT], "only": True}})
    assert labels(named) == ["Exact titles in Ghent", "Nearby titles in Ghent"]


def test_several_towns_have_an_area_each_and_distances_to_the_nearest() -> None:
    areas = [{"location_id": GHENT, "radius_km": 20}, {"location_id": ANTWERP}]
    planned = made(must=TITLES | {"location": {"areas": areas}})
    assert labels(planned)[0] == "Exact titles within 20 km of Ghent or within 25 km of Antwerp"
    assert labels(planned)[1] == "Exact titles farther out within 20 km of Ghent or within 50 km of Antwerp"
    assert labels(planned)[2] == "Nearby titles within 20 km of Ghent or within 50 km of Antwerp"
    assert labels(planned)[3] == "Exact titles farther out, within 50 km of Ghent"
    assert labels(planned)[5] == "Exact titles farther out, within 100 km of Ghent or Antwerp"
    assert [anchor.location_id for anchor in planned.anchors] == [GHENT, ANTWERP]
    assert planned.anchor == planned.anchors[0]
    told = {one.field: one.value for one in planned.applied_filters}
    assert told["must.location.areas"] == (
        "20 km around Ghent, Flanders, Belgium",
        "50 km around Antwerp, Flanders, Belgium",
    )


def test_only_areas_that_do_not_bind_are_left() -> None:
    areas = [{"location_id": GHENT, "radius_km": 20, "only": True}, {"location_id": place("Lille"), "radius_km": 20}]
    planned = made(must=TITLES | {"location": {"areas": areas}})
    assert labels(planned)[2::2] == [
        "Exact titles farther out, within 50 km of Lille",
        "Exact titles farther out, within 100 km of Lille",
        "Exact titles in the rest of France",
    ]
    assert planned.tiers[-1].filters.countries == ("FR",)


def test_an_area_that_binds_outside_the_wanted_countries_is_refused() -> None:
    bound = {"countries": ["FR"], "anchor_location_id": GHENT, "radius_km": 1, "only": True}
    assert refused(must=TITLES | {"location": bound}).details["field"] == "must.location"


def test_given_countries_bind_an_area_that_reaches_over_the_border() -> None:
    near = {"anchor_location_id": place("Terneuzen"), "radius_km": 30}
    codes = {
        countries: {
            reference().places.get(spot).country_code
            for spot in made(must=TITLES | {"location": near | ({"countries": [countries]} if countries else {})})
            .tiers[0]
            .filters.location_ids
        }
        for countries in ("", "NL", "BE")
    }
    assert codes == {"": {"NL", "BE"}, "NL": {"NL"}, "BE": {"BE"}}


def test_an_area_outside_the_wanted_countries_is_left_out() -> None:
    planned = made(must=TITLES | {"location": {"countries": ["FR"], "anchor_location_id": GHENT, "radius_km": 1}})
    assert labels(planned) == ["Exact titles in France", "Nearby titles in France"]
    assert any("outside the wanted countries" in warning for warning in planned.warnings)


def test_named_places_are_a_local_area() -> None:
    planned = made(must=TITLES | {"location": {"location_ids": [GHENT, ANTWERP]}})
    assert labels(planned)[::2] == [
        "Exact titles in Ghent and Antwerp",
        "Exact titles farther out, within 50 km of Ghent or Antwerp",
        "Exact titles farther out, within 100 km of Ghent or Antwerp",
        "Exact titles in the rest of Belgium",
    ]
    assert [anchor.location_id for anchor in planned.anchors] == [GHENT, ANTWERP]
    assert set(planned.tiers[0].filters.location_ids) == {GHENT, ANTWERP}
    both = made(must=TITLES | {"location": {"location_ids": [ANTWERP], "anchor_location_id": GHENT, "radius_km": 5}})
    assert labels(both)[0] == "Exact titles within 5 km of Ghent or in Antwerp"


def test_a_country_among_named_places_is_searched_as_a_whole() -> None:
    alone = made(must=TITLES | {"location": {"location_ids": [place("Netherlands")]}})
    assert labels(alone)[0] == "Exact titles in the Netherlands"
    beside = made(must=TITLES | {"location": {"location_ids": [GHENT, place("Netherlands")]}})
    assert labels(beside)[::6] == ["Exact titles in Ghent", "Exact titles in the rest of the Netherlands and Belgium"]
    assert beside.tiers[0].filters.location_ids == (GHENT,)


def test_a_metropolitan_area_reaches_as_far_as_it_does() -> None:
    metro = reference().places.metro("Greater London")
    assert metro is not None
    planned = made(must=TITLES | {"location": {"anchor_location_id": metro.id}})
    assert labels(planned)[0] == "Exact titles within 25 km of Greater London"
    assert labels(planned)[1] == f"Exact titles 25 to {max(50, metro.radius_km or 0)} km from Greater London"


def test_the_default_radius_is_applied_and_reported() -> None:
    planned = made(must=TITLES | {"location": {"anchor_location_id": GHENT}})
    told = {one.field: one for one in planned.applied_filters}
    assert told["must.location.radius_km"].value == 50
    assert told["must.location.radius_km"].origin is Origin.DEFAULT
    assert told["must.location.countries"].value == ("BE",)
    assert told["must.titles"].origin is Origin.INTENT


def test_an_area_of_too_many_places_keeps_the_largest_and_says_so() -> None:
    planned = made(must=TITLES | {"location": {"anchor_location_id": GHENT, "radius_km": 200}})
    spots = next(tier.filters.location_ids for tier in planned.tiers if tier.label.startswith("Nearby"))
    assert len(spots) == 1000
    assert any("only the 1000 with most people" in warning for warning in planned.warnings)
    people = [reference().places.get(spot).population for spot in spots]
    assert people == sorted(people, reverse=True)


def test_a_nice_place_is_its_area() -> None:
    planned = made(must=TITLES, nice={"location": {"anchor_location_id": GHENT, "radius_km": 5}})
    assert planned.tiers[0].label == "Exact titles worldwide, with a home within 5 km of Ghent"
    assert GHENT in planned.tiers[0].filters.all_of[0].location_ids
