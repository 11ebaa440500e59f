import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.market.place_names import PlaceKind, place_key, spelled_out
from models.market.places import Places, SourcePlaceNames, great_circle_km
from models.market.reference import reference


@pytest.fixture(scope="module")
def places() -> Places:
    return reference().places


@pytest.mark.parametrize(
    ("query", "label"),
    [
        ("Gent", "Ghent, Flanders, Belgium"),
        ("Gand", "Ghent, Flanders, Belgium"),
        ("Ghent", "Ghent, Flanders, Belgium"),
        ("GENT", "Ghent, Flanders, Belgium"),
        ("Gent, Belgium", "Ghent, Flanders, Belgium"),
        ("gent belgium", "Ghent, Flanders, Belgium"),
        ("Gent (België)", "Ghent, Flanders, Belgium"),
        ("München", "Munich, Bavaria, Germany"),
        ("Muenchen", "Munich, Bavaria, Germany"),
        ("Munich", "Munich, Bavaria, Germany"),
        ("Köln", "Cologne, North Rhine-Westphalia, Germany"),
        ("Cologne, Germany", "Cologne, North Rhine-Westphalia, Germany"),
        ("Bruxelles", "Brussels, Belgium"),
        ("Brussel", "Brussels, Belgium"),
        ("Luik", "Liège, Wallonia, Belgium"),
        ("Lüttich", "Liège, Wallonia, Belgium"),
        ("Den Haag", "The Hague, South Holland, Netherlands"),
        ("Frankfurt a.M.", "Frankfurt am Main, Hesse, Germany"),
        ("Frankfurt/Main", "Frankfurt am Main, Hesse, Germany"),
        ("St. Gallen", "St. Gallen, Saint Gallen, Switzerland"),
        ("Sankt Gallen", "St. Gallen, Saint Gallen, Switzerland"),
        ("Springfield, IL", "Springfield, Illinois, United States"),
        ("Ghent Flanders Belgium", "Ghent, Flanders, Belgium"),
        ("Newcastle New South Wales", "Newcastle, New South Wales, Australia"),
        ("Springfield IL", "Springfield, Illinois, United States"),
        ("Vancouver, BC", "Vancouver, British Columbia, Canada"),
        ("Newcastle, NSW", "Newcastle, New South Wales, Australia"),
        ("Austin, Travis County, US", "Austin, Texas, United States"),
        ("07 - PRIVAS", "Privas, Auvergne-Rhône-Alpes, France"),
        ("ST MARCEL LES ANNONAY", "Saint-Marcel-lès-Annonay, Auvergne-Rhône-Alpes, France"),
        ("Neustadt a.d. Weinstraße", "Neustadt an der Weinstraße, Rheinland-Pfalz, Germany"),
        ("Rome", "Rome, Lazio, Italy"),
        ("Paris", "Paris, Île-de-France, France"),
        ("Paris, Texas", "Paris, Texas, United States"),
        ("New York", "New York City, New York, United States"),
        ("Bavaria", "Bavaria, Germany"),
        ("Vlaanderen", "Flanders, Belgium"),
        ("California", "California, United States"),
        ("Oost-Vlaanderen", "East Flanders, Flanders, Belgium"),
        ("UK", "United Kingdom"),
        ("Royaume-Uni", "United Kingdom"),
        ("Bay Area", "San Francisco Bay Area, California, United States"),
        ("Springfi", "Springfield, Missouri, United States"),
    ],
)
def test_the_best_place_for_a_name(places: Places, query: str, label: str) -> None:
    assert places.find(query)[0].label == label


def test_an_ambiguous_name_gives_every_place_best_first(places: Places) -> None:
    found = places.find("Springfield", limit=50)
    assert len(found) > 10
    assert [place.region for place in found[:3]] == ["Missouri", "Massachusetts", "Illinois"]
    assert all("Springfield" in place.name for place in found[:10])


def test_country_kind_and_limit_narrow(places: Places) -> None:
    assert places.find("Paris", country="US", limit=1)[0].label == "Paris, Texas, United States"
    assert places.find("Luxembourg", kind=PlaceKind.COUNTRY)[0].country_code == "LU"
    assert places.find("Luxembourg", kind=PlaceKind.CITY)[0].kind is PlaceKind.CITY
    assert len(places.find("Springfield", limit=3)) == 3


@pytest.mark.parametrize("query", ["", "   ", "§§", "Qwxyzzt", "Paris, Belgium", "Ghent, Bavaria", "Ghent Nowhere"])
def test_what_names_no_place_gives_none(places: Places, query: str) -> None:
    assert places.find(query) == []


def test_an_id_gives_its_place_and_an_unknown_one_raises(places: Places) -> None:
    ghent = places.get("loc_2797656")
    assert (ghent.name, ghent.country_code, ghent.region, ghent.time_zone) == (
        "Ghent",
        "BE",
        "Flanders",
        "Europe/Brussels",
    )
    for unknown in ("loc_1", "loc_", "loc_99999999999999999999", "co_2797656", "loc_²", ""):
        with pytest.raises(KeyError):
            places.get(unknown)


@settings(deadline=None, max_examples=50)
@given(st.floats(min_value=1, max_value=200))
def test_an_area_holds_exactly_what_lies_within_the_radius(radius: float) -> None:
    places = reference().places
    anchor = places.get("loc_2797656")
    found = places.area(anchor, radius)
    assert anchor in found
    assert [place.population for place in found] == sorted((place.population for place in found), reverse=True)
    wider = places.area(anchor, radius + 5)
    ids = {place.id for place in found}
    for place in wider:
        distance = great_circle_km(anchor.lat, anchor.lon, place.lat, place.lon)
        if not math.isclose(distance, radius, abs_tol=0.05):
            assert (place.id in ids) == (distance <= radius)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("UK", "GB"),
        ("England", "GB"),
        ("Royaume-Uni", "GB"),
        ("Vereinigtes Königreich", "GB"),
        ("BE", "BE"),
        ("be", None),
        ("BEL", "BE"),
        ("Allemagne", "DE"),
        ("Zwitserland", "CH"),
        ("Österreich", "AT"),
        ("Oesterreich", "AT"),
        ("the moon", None),
        ("", None),
    ],
)
def test_country_codes_from_names_in_four_languages(places: Places, text: str, code: str | None) -> None:
    assert places.country_code(text) == code


def test_country_names_groups_and_metros(places: Places) -> None:
    assert [places.country_name("NL", language) for language in ("en", "de", "fr", "nl")] == [
        "Netherlands",
        "Niederlande",
        "Pays-Bas",
        "Nederland",
    ]
    assert places.group("DACH") == ("DE", "AT", "CH")
    assert len(places.group("EU")) == 27
    assert places.group("Atlantis") == ()
    metro = places.metro("Großraum München")
    assert metro is not None
    assert metro.radius_km == 45
    assert places.metro("Ghent") is None


def test_names_for_a_source_and_back(places: Places) -> None:
    for query in ("Cologne", "Zürich", "The Hague", "St. Gallen", "Aarhus"):
        place = places.find(query)[0]
        names = places.names(place.id)
        assert names.city is not None
        assert names.city == names.city.lower()
        assert names.city.isascii()
        again = places.location_id(city=names.city, region=names.region, country_code=names.country_code)
        assert again == place.id
    bavaria = places.find("Bavaria")[0]
    assert places.names(bavaria.id) == SourcePlaceNames(
        city=None, region="bavaria", country_code="DE", country="germany"
    )
    assert places.location_id(city=None, region="bavaria", country_code="DE") == bavaria.id
    assert places.location_id(city=None, region=None, country_code="DE") == places.country("DE").id
    assert places.location_id(city="cologne", region="unheard of", country_code="DE") == places.find("Cologne")[0].id
    assert places.names(places.country("DE").id) == SourcePlaceNames(None, None, "DE", "germany")


def test_a_place_a_source_names_ambiguously_gets_no_id(places: Places) -> None:
    assert places.location_id(city="newport", region="england", country_code="GB") is None
    assert (
        places.location_id(city="swindon", region="england", country_code="GB")
        == places.find("Swindon", country="GB")[0].id
    )
    assert places.location_id(city="ghent", region="flanders", country_code=None) is None
    assert places.location_id(city="nowhere-at-all", region=None, country_code="BE") is None
    assert places.location_id(city="ghent", region="flanders", country_code="XX") is None


def test_metros_and_districts_become_cities_that_a_source_can_name(places: Places) -> None:
    metro = places.metro("Bay Area")
    district = places.find("Oost-Vlaanderen")[0]
    assert metro is not None
    cities = places.searchable([metro.id, district.id])
    assert {place.kind for place in cities} == {PlaceKind.CITY}
    assert {"San Francisco", "Ghent"} <= {place.name for place in cities}
    assert places.searchable([places.find("Bavaria")[0].id])[0].kind is PlaceKind.REGION


def test_what_sources_do_not_know_has_no_names(places: Places) -> None:
    metro = places.metro("Bay Area")
    assert metro is not None
    for location_id in (metro.id, places.find("Oost-Vlaanderen")[0].id, "loc_1"):
        with pytest.raises(KeyError):
            places.names(location_id)


def test_a_place_lies_in_its_areas_and_in_itself(places: Places) -> None:
    ghent, flanders, bavaria = (places.find(name)[0] for name in ("Ghent", "Flanders", "Bavaria"))
    assert places.lies_in(ghent, flanders)
    assert places.lies_in(ghent, ghent)
    assert not places.lies_in(ghent, bavaria)
    assert [area.label for area in places.areas("CA")] == ["Canada", "California, United States"]
    assert places.areas("Ghent-in-the-Moon") == []


def test_everyday_words_and_longest_names(places: Places) -> None:
    assert places.is_everyday_word("reading")
    assert not places.is_everyday_word("antwerpen")
    assert places.longest_name("frankfurt") >= 3
    assert places.longest_name("qwxyzzt") == 0
    assert "BE" in places.country_codes
    assert places.find("BEL")[0].name == "Belgium"
    assert places.find("a") == []


def test_people_of_nested_places_count_once(places: Places) -> None:
    country = places.people_share(countries=["BE"])
    assert country == places.people_share(countries=["BE"], location_ids=["loc_2797656"])
    assert 8e6 < country < 14e6
    assert 1.5e5 < places.people_share(location_ids=["loc_2797656", "loc_2797656"]) < 4e5
    region = places.find("Flanders")[0].id
    assert places.people_share(location_ids=[region, "loc_2797656"]) == places.people_share(location_ids=[region])


def test_german_umlauts_are_spelled_out() -> None:
    assert spelled_out("Köln-Mülheim, Ähre") == "Koeln-Muelheim, Aehre"


@given(st.text())
def test_a_key_is_stable_and_plain(text: str) -> None:
    key = place_key(text)
    assert place_key(key) == key
    assert key.isascii()
    assert key == " ".join(key.split())
