"""Places as people type them, and homonyms that hints decide."""

import time

import pytest

from models.market.curated import curated_rows
from models.market.place_names import PlaceKind
from models.market.place_words import PlaceMeaning
from models.market.reference import reference


def meant(text: str, *countries: str) -> PlaceMeaning | None:
    return reference().place_words.resolve(text, countries=countries)


def test_every_curated_word_and_postcode_names_places() -> None:
    words = reference().place_words
    for names, where, land in curated_rows("place_words"):
        found = words.resolve(names.split("|")[0], countries=[land])
        assert found is not None, names
        assert len(found.places) == len(where.split(";")), names
    for land, begin, where in curated_rows("postcodes"):
        code = f"{begin.split('-')[0]}1" if land == "GB" else begin.split("-")[0].ljust(5 if land == "DE" else 4, "1")
        found = words.postcode(code, countries=[land])
        assert found is not None, (land, begin, where)
        assert found.places[0].country_code == land


@pytest.mark.parametrize(
    ("text", "name", "country", "radius_km"),
    [
        ("Cambridge MA", "Cambridge", "US", None),
        ("LA", "Los Angeles", "US", None),
        ("Philly", "Philadelphia", "US", None),
        ("the Bay Area", "San Francisco Bay Area", "US", None),
        ("Greater London", "Greater London", "GB", None),
        ("Ruhrpott", "Ruhrgebiet", "DE", None),
        ("Île-de-France", "Île-de-France", "FR", None),
        ("de Kempen", "Geel", "BE", 35),
        ("Achterhoek", "Doetinchem", "NL", 30),
        ("Schottland", "Scotland", "GB", None),
        ("Freistaat Bayern", "Bavaria", "DE", None),
        ("Raum Kassel", "Kassel", "DE", 30),
        ("regio Aalst", "Aalst", "BE", 30),
        ("Tours et alentours", "Tours", "FR", 30),
        ("Lyon 3", "Lyon", "FR", None),
    ],
)
def test_regions_and_short_names_resolve(text: str, name: str, country: str, radius_km: int | None) -> None:
    found = meant(text)
    assert found is not None
    assert (found.places[0].name, found.places[0].country_code, found.radius_km) == (name, country, radius_km)


@pytest.mark.parametrize(("text", "codes"), [("DACH", {"DE", "AT", "CH"}), ("the Benelux", {"BE", "NL", "LU"})])
def test_groups_of_countries_are_their_countries(text: str, codes: set[str]) -> None:
    found = meant(text)
    assert found is not None
    assert {place.country_code for place in found.places} == codes
    assert {place.kind for place in found.places} == {PlaceKind.COUNTRY}


@pytest.mark.parametrize(
    ("text", "countries", "name"),
    [
        ("8500 Kortrijk", (), "Kortrijk"),
        ("B-2000", (), "Antwerp"),
        ("3011 AB Rotterdam", (), "Rotterdam"),
        ("44135", ("DE",), "Dortmund"),
        ("SW1", (), "London"),
        ("LS2 9JT", (), "Leeds"),
        ("75011", (), "Paris"),
        ("69003", ("FR",), "Lyon"),
        ("8400 Winterthur", ("CH",), "Winterthur"),
    ],
)
def test_a_postcode_leads_to_its_town(text: str, countries: tuple[str, ...], name: str) -> None:
    found = meant(text, *countries)
    assert found is not None
    assert found.places[0].name == name


def test_figures_of_several_countries_without_a_hint_name_no_place() -> None:
    assert meant("1000") is None
    assert meant("12345678") is None


@pytest.mark.parametrize(
    ("text", "countries", "country"),
    [
        ("Hasselt", ("NL",), "NL"),
        ("regio Hasselt", ("BE", "NL"), "BE"),
        ("Cambridge", ("US",), "US"),
        ("Halle", ("BE",), "BE"),
        ("Limburg", ("BE",), "BE"),
        ("Kempen", ("DE",), "DE"),
    ],
)
def test_a_homonym_goes_to_the_country_of_the_hint(text: str, countries: tuple[str, ...], country: str) -> None:
    found = meant(text, *countries)
    assert found is not None
    assert found.places[0].country_code == country


def test_without_a_hint_the_others_of_the_name_are_told_and_a_near_place_decides() -> None:
    found = meant("Hasselt")
    assert found is not None
    assert [place.country_code for place in found.others] == ["NL"]
    zwolle = reference().places.find("Zwolle")[0]
    near = reference().place_words.resolve("Hasselt", near=zwolle)
    assert near is not None
    assert near.places[0].country_code == "NL"


def test_long_names_take_linear_time() -> None:
    began = time.process_time()
    for shape in ("regio ", "9000 ", "the ", "A1 ", "x, "):
        meant((shape * 20_000)[:50_000])
    assert time.process_time() - began < 2
