"""Lookups: names become ids and values, all meanings best first, nothing guessed."""

from typing import Any

import pytest

from tests.api.conftest import Workspace, error_of

GHENT = "loc_2797656"


async def look(workspace: Workspace, what: str, /, **query: Any) -> dict[str, Any]:
    answer = await workspace.http.get(f"/v1/lookups/{what}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_an_ambiguous_place_gives_every_candidate_best_first(workspace: Workspace) -> None:
    found = await look(workspace, "locations", q="Springfield", kind="city", limit=5)
    assert found["object"] == "list"
    assert len(found["data"]) == 5
    assert {place["name"] for place in found["data"]} == {"Springfield"}
    people = [place["population"] for place in found["data"]]
    assert people == sorted(people, reverse=True)


async def test_a_place_is_narrowed_by_country_and_kind(workspace: Workspace) -> None:
    found = await look(workspace, "locations", q="Gent", country="BE", kind="city")
    assert found["data"][0]["id"] == GHENT
    assert {place["country_code"] for place in found["data"]} == {"BE"}
    british = await look(workspace, "locations", q="London", country="UK", kind="city")
    assert british["data"][0]["country_code"] == "GB"
    assert (await look(workspace, "locations", q="no such place anywhere"))["data"] == []


async def test_a_town_and_a_radius_become_location_ids(workspace: Workspace) -> None:
    by_name = await look(workspace, "areas", city="Gent", radius_km=10)
    by_id = await look(workspace, "areas", location_id=GHENT, radius_km=10)
    assert by_name["anchor"]["id"] == GHENT
    assert by_name["location_ids"] == by_id["location_ids"]
    assert GHENT in by_id["location_ids"]
    assert by_id["alternatives"] == []
    wider = await look(workspace, "areas", location_id=GHENT)
    assert wider["radius_km"] == 50
    assert set(by_id["location_ids"]) < set(wider["location_ids"])


async def test_an_ambiguous_town_shows_the_others(workspace: Workspace) -> None:
    area = await look(workspace, "areas", city="Springfield", radius_km=5)
    assert area["alternatives"]
    assert area["anchor"]["id"] not in {place["id"] for place in area["alternatives"]}


async def test_companies_are_found_by_name_and_domain(workspace: Workspace) -> None:
    by_name = await look(workspace, "companies", q="siemens")
    assert by_name["data"][0]["name"] == "Siemens"
    by_domain = await look(workspace, "companies", domain="https://www.siemens.com/jobs")
    assert by_domain["data"][0]["id"] == by_name["data"][0]["id"]
    assert (await look(workspace, "companies", q="Nobody Knows This Firm"))["data"] == []


@pytest.mark.parametrize(
    ("field", "words", "value"),
    [
        ("languages", "dutch", "dutch"),
        ("countries", "united kingdom", "GB"),
        ("countries", "gb", "GB"),
        ("functions", "human res", "human_resources"),
        ("seniority", "vp", "vp"),
        ("industries", "software", "computer software"),
        ("titles", "data engineer", "Data Engineer"),
    ],
)
async def test_filter_values_are_found(workspace: Workspace, field: str, words: str, value: str) -> None:
    found = await look(workspace, "filter-values", field=field, q=words)
    assert value in [each["value"] for each in found["data"]]
    assert len((await look(workspace, "filter-values", field=field, limit=3))["data"]) == 3


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("locations", "q"),
        ("locations?q=", "q"),
        ("locations?q=Gent&country=XX", "country"),
        ("locations?q=Gent&country=Belgium", "country"),
        ("locations?q=Gent&kind=town", "kind"),
        ("locations?q=Gent&limit=0", "limit"),
        ("locations?q=Gent&near=me", "near"),
        ("areas", "city"),
        ("areas?city=Gent&location_id=loc_2797656", "location_id"),
        ("areas?city=Gent&radius_km=0", "radius_km"),
        ("areas?city=Gent&radius_km=201", "radius_km"),
        ("areas?city=Gent&radius_km=5.5", "radius_km"),
        ("areas?city=no+such+place+anywhere", "city"),
        ("areas?location_id=loc_1", "location_id"),
        ("areas?location_id=Gent", "location_id"),
        ("areas?location_id=loc_2802361", "location_id"),
        ("companies", "q"),
        ("companies?q=a&domain=b", "domain"),
        ("filter-values", "field"),
        ("filter-values?field=shoe_size", "field"),
    ],
)
async def test_a_bad_query_is_named(workspace: Workspace, query: str, field: str) -> None:
    error_of(await workspace.http.get(f"/v1/lookups/{query}"), 400, "invalid_request", field)


async def test_lookups_need_a_key(http: Any) -> None:
    error_of(await http.get("/v1/lookups/locations?q=Gent"), 401, "unauthorized")
