"""The place of work is read from advertisements of a few lines, and never guessed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.market.place_names import Place, PlaceKind, place_key
from models.market.places import Places
from models.market.reference import reference
from models.reading.document import text_language
from models.reading.places.workplace import PlaceReading, read_place_of_work
from tests.models.reading.places_of_work import ANY, CASES


@pytest.fixture(scope="module")
def places() -> Places:
    return reference().places


def read(text: str) -> PlaceReading:
    return read_place_of_work(text, places=reference().places, language=text_language(text))


def cities(reading: PlaceReading) -> list[Place]:
    if reading.location is None:
        return []
    anchor = reading.location.anchor_location_id
    ids = [*([anchor] if anchor else []), *reading.location.location_ids]
    named = [reference().places.get(location_id) for location_id in ids]
    return [place for place in named if place.kind in (PlaceKind.CITY, PlaceKind.METRO)]


def is_called(place: Place, name: str) -> bool:
    wanted, found = place_key(name), place_key(place.name)
    return wanted in found or found in wanted or any(other.id == place.id for other in reference().places.named(name))


def around(place: Place, name: str) -> bool:
    """Whether a metro lies around a city of that name."""
    middle = reference().places.named(name)
    return place.kind is PlaceKind.METRO and any(abs(other.lat - place.lat) < 0.01 for other in middle)


@pytest.mark.parametrize(("text", "city", "country"), CASES)
def test_the_place_of_work_is_read_and_never_guessed(text: str, city: str | None, country: str) -> None:
    reading = read(text)
    found = cities(reading)
    if city is None:
        assert found == []
    elif city is ANY:
        assert found
    else:
        assert any(is_called(place, city) or around(place, city) for place in found)
    if country not in ("", "*"):
        assert reading.location is not None
        assert country in reading.location.countries


@pytest.mark.parametrize("text", [text for text, _, _ in CASES])
def test_evidence_quotes_the_text_at_its_offsets(text: str) -> None:
    for evidence in read(text).evidence:
        assert text[evidence.start : evidence.end] == evidence.quote
        assert evidence.field.startswith("must.location.")


@pytest.mark.parametrize("text", [text for text, city, _ in CASES if city is None])
def test_where_no_city_is_read_a_warning_says_so(text: str) -> None:
    assert read(text).warnings


def test_several_cities_outright_are_all_searched() -> None:
    reading = read("Analyst\nExample Ltd\nLondon, Paris\n\nWe are looking for an analyst.")
    assert [place.name for place in cities(reading)] == ["London", "Paris"]
    assert reading.location is not None
    assert reading.location.anchor_location_id is None
    assert set(reading.location.countries) == {"GB", "FR"}
    assert any("all are searched" in warning for warning in reading.warnings)


def test_neighbouring_cities_become_one_area() -> None:
    reading = read("Analyst\nExample Ltd\nLeeds / Bradford, UK\n\nWe are looking for an analyst.")
    assert reading.location is not None
    assert [place.name for place in cities(reading)] == ["Leeds"]
    assert reading.location.anchor_location_id is not None


def test_cities_that_are_only_listed_in_passing_decide_nothing() -> None:
    reading = read(
        "We are hiring. Our teams sit in an office in Leeds and an office in Dover. The job is in the UK, in English."
    )
    assert cities(reading) == []
    assert any("none stands out" in warning for warning in reading.warnings)


def test_a_radius_is_read_only_where_the_text_states_one() -> None:
    stated = read("Monteur (m/w/d)\n\nDu wohnst im Umkreis von 30 km um Rosenheim.")
    unstated = read("Monteur (m/w/d)\n\nUnser Betrieb ist in Rosenheim.")
    assert stated.location is not None
    assert stated.location.radius_km == 30
    assert unstated.location is not None
    assert unstated.location.radius_km is None


def test_an_ambiguous_name_is_warned_about_with_its_choices() -> None:
    reading = read("Engineer\nLocation: Springfield\nUS company with 401(k)")
    assert cities(reading) == []
    assert any("Missouri" in warning and "Illinois" in warning for warning in reading.warnings)


def test_a_region_alone_is_searched_as_such(places: Places) -> None:
    reading = read("Location: Bavaria, Germany\nRole: SRE")
    assert reading.location is not None
    assert [places.get(location_id).label for location_id in reading.location.location_ids] == ["Bavaria, Germany"]


def test_a_department_stands_in_for_a_village_we_do_not_know(places: Places) -> None:
    reading = read("Charpentier H/F\n07 - SAINT INCONNU LE HAUT\n\nCDI")
    assert reading.location is not None
    assert [places.get(location_id).name for location_id in reading.location.location_ids] == ["Ardèche"]


def test_a_group_of_countries_is_read_from_a_label(places: Places) -> None:
    reading = read("SRE\n\nLocation: Remote (DACH)\n\nWe are hiring.")
    assert reading.location is not None
    assert set(reading.location.countries) == {"DE", "AT", "CH"}


def test_a_country_that_is_only_inferred_is_said_to_be() -> None:
    reading = read("Wir suchen dich für unser Team. Du hast Freude an der Arbeit und bist gern für die Kunden da.")
    assert reading.location is not None
    assert reading.location.countries == ("DE",)
    assert reading.evidence == ()
    assert any("inferred" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Greater Paris Metropolitan Region", "Greater Paris"),
        ("London Area, United Kingdom", "Greater London"),
        ("75 - Paris 8e Arrondissement", "Paris"),
        ("2A - AJACCIO", "Ajaccio"),
        ("974 - ST DENIS", "Saint-Denis"),
        ("Saint-Denis (93)", "Saint-Denis"),
        ("Nordrhein-Westfalen, Köln", "Cologne"),
        ("Wien, Wien, Österreich", "Vienna"),
        ("Zug, ZG", "Zug"),
        ("Sydney NSW 2000", "Sydney"),
        ("Dublin 2", "Dublin"),
        ("Limerick, County Limerick", "Limerick"),
        ("Bad Homburg v. d. Höhe", "Bad Homburg vor der Höhe"),
        ("Courbevoie - La Défense", "Courbevoie"),
        ("Nazareth-De Pinte, België", "Nazareth"),
        ("Milton Keynes MK9 2AB", "Milton Keynes"),
        ("London/Cambridge, UK", "London"),
        ("Berlin-Unbekannthausen", "Berlin"),
    ],
)
def test_a_location_line_is_read_as_portals_write_it(line: str, name: str) -> None:
    reading = read(f"Manager\nExample Company\n{line}\n\nThis is the text and we are looking for you.")
    assert cities(reading)[0].name == name


@pytest.mark.parametrize(("line", "region"), [("Surrey, UK", "Surrey"), ("Kanton Zürich", "Zurich")])
def test_a_location_line_may_name_a_region(line: str, region: str, places: Places) -> None:
    reading = read(f"Manager\nExample Company\n{line}\n\nThis is the text and we are looking for you.")
    assert reading.location is not None
    assert [places.get(location_id).name for location_id in reading.location.location_ids] == [region]


def test_a_whole_continent_fits_into_an_intent() -> None:
    reading = read("SRE\n\nLocation: EMEA\n\nWe are hiring.")
    assert reading.location is not None
    assert 40 < len(reading.location.countries) <= 60


def test_a_firm_between_title_and_location_is_not_the_location() -> None:
    reading = read("Manager\nOxford\nLeeds\n\nThis is the text and we are looking for you in the UK.")
    assert [place.name for place in cities(reading)] == ["Leeds"]


def test_a_german_adjective_of_a_city_names_its_office() -> None:
    reading = read(
        "Du wirst Teil des Teams und arbeitest mit den Kolleginnen im Hamburger Büro. Wir freuen uns auf dich."
    )
    assert [place.name for place in cities(reading)] == ["Hamburg"]


def test_a_number_of_a_departement_settles_a_name_in_the_title() -> None:
    assert [place.name for place in cities(read("Conducteur de car Aubenas (07)\n\nCDI"))] == ["Aubenas"]
    assert cities(read("Conducteur de car Aubenas (59)\n\nCDI, mutuelle")) == []


def test_provinces_listed_together_are_not_cities() -> None:
    reading = read(
        "Je werkt voor werven in Antwerpen, Vlaams-Brabant en Limburg. Maaltijdcheques en een vast contract."
    )
    assert cities(reading) == []


@pytest.mark.parametrize(
    "text", ["We travel to Paris often and the team is happy.", "Reisen nach Berlin gehören für die Kunden dazu."]
)
def test_where_people_travel_is_not_where_they_work(text: str) -> None:
    assert cities(read(text)) == []


def test_a_number_that_is_no_departement_names_nothing() -> None:
    assert cities(read("Charpentier H/F\n00 - INCONNU LE HAUT\n\nCDI, mutuelle")) == []


def test_a_radius_alone_makes_a_place_the_middle_of_the_search() -> None:
    reading = read("Monteur (m/w/d)\n\nDein Gebiet: Rosenheim, 40 km Umkreis, mit dem Firmenwagen.")
    assert [place.name for place in cities(reading)] == ["Rosenheim"]


def test_everyday_words_in_english_prose_name_no_city() -> None:
    assert cities(read("You will help children in Reading and Writing. DBS check, NHS, £12 per hour, UK.")) == []


def test_a_berlin_adjective_that_is_no_city_is_passed_over() -> None:
    assert cities(read("Wir arbeiten im Unbekannter Büro und du bist dabei.")) == []


def test_abbreviations_in_prose_are_no_cities() -> None:
    assert cities(read("Experience with network technology in WAN and LAN, CPH or SXM is welcome.")) == []


@pytest.mark.timeout(60)  # time that grows faster than the text would take hours
@pytest.mark.parametrize(
    "unit",
    ["www.", "Berlin ", "Berlin, ", "Saint-", "Location: Berlin\n", "de la ", "12345 Paris ", "a.", "( ", "@a", "L'"],
)
def test_hostile_repetition_does_not_hold_the_reader_up(unit: str) -> None:
    text = unit * (50_000 // len(unit))
    read_place_of_work(text, places=reference().places, language="en")


@settings(deadline=None, max_examples=60)
@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for evidence in read(text).evidence:
        assert text[evidence.start : evidence.end] == evidence.quote
