import pytest

from models.market.reference import reference
from models.reading.intents import IntentLocation
from models.reading.short_intents import read_short


def shown(location: IntentLocation | None) -> tuple[str, ...]:
    """Countries, then names of places, then the radius."""
    if location is None:
        return ()
    places = reference().places
    ids = [*([location.anchor_location_id] if location.anchor_location_id else []), *location.location_ids]
    radius = (str(location.radius_km),) if location.radius_km else ()
    return (*location.countries, *(places.get(location_id).name for location_id in ids), *radius)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3y Go devs near Ghent, not agencies", ("BE", "Ghent")),
        ("go devs near ghent", ("BE", "Ghent")),
        ("engineer Berlin", ("DE", "Berlin")),
        ("engineer berlin", ("DE", "Berlin")),
        ("Vertriebsleiter im Raum Stuttgart", ("DE", "Großraum Stuttgart")),
        ("comptable à Lyon, 5 ans", ("FR", "Lyon")),
        ("verpleegkundige regio Antwerpen", ("BE", "Antwerp")),
        ("data engineers within 30 km of Cologne", ("DE", "Cologne", "30")),
        ("data engineers 20 miles around Leeds", ("GB", "Leeds", "32")),
        ("Go dev Gent +25km", ("BE", "Ghent", "25")),
        ("Elektriker Umkreis 40 km Ulm", ("DE", "Ulm", "40")),
        ("chef de projet dans un rayon de 20 km autour de Nantes", ("FR", "Nantes", "20")),
        ("senior java developer in münchen or berlin", ("DE", "Munich", "Berlin")),
        ("nurse in Springfield, IL", ("US", "Springfield")),
        ("product manager in Reading", ("GB", "Reading")),
        ("account executive NYC", ("US", "New York City")),
        ("developer, Ghent, Belgium, 3 years", ("BE", "Ghent")),
        ("React developer, France or Belgium", ("FR", "BE")),
        ("sales manager DACH", ("DE", "AT", "CH")),
        ("backend engineer in the UK", ("GB",)),
        ("developers in Bavaria", ("DE", "Bavaria")),
        ("SRE in Bay Area", ("US", "San Francisco Bay Area")),
    ],
)
def test_places_of_a_short_intent(text: str, wanted: tuple[str, ...]) -> None:
    assert shown(read_short(text, places=reference().places).location) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "Java Scala Kafka engineer",
        "Oracle DBA, Excel expert",
        "Ruby on Rails dev",
        "mobile developer",
        "Team lead Orange",
        "boekhouder van de zaak",
        "",
        "!!!",
    ],
)
def test_words_that_are_also_places_are_left_alone(text: str) -> None:
    reading = read_short(text, places=reference().places)
    assert reading.location is None
    assert reading.spans == ()


def test_an_ambiguous_place_is_warned_about() -> None:
    reading = read_short("nurse in Springfield", places=reference().places)
    assert reading.location is None
    assert "Missouri" in reading.warnings[0]


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("engineer in the UK, not in London", ("GB",), ("GB", "London")),
        ("boekhouder in de omgeving van Gent, niet uit Brussel", ("BE", "Ghent"), ("BE", "Brussels")),
        ("Projektleiter nicht aus Wien, Österreich", (), ("AT", "Vienna")),
        ("comptable en France, hors Paris", ("FR",), ("FR", "Paris")),
    ],
)
def test_places_that_are_not_wanted_stand_apart(text: str, wanted: tuple[str, ...], unwanted: tuple[str, ...]) -> None:
    reading = read_short(text, places=reference().places)
    assert shown(reading.location) == wanted
    assert shown(reading.excluded) == unwanted


def test_spans_cover_the_prepositions_and_evidence_the_names() -> None:
    text = "data engineers within 30 km of Cologne, no agencies"
    reading = read_short(text, places=reference().places)
    assert [text[start:end] for start, end in reading.spans] == ["within 30 km of Cologne"]
    quotes = {evidence.field: evidence.quote for evidence in reading.evidence}
    assert quotes["must.location.anchor_location_id"] == "Cologne"
    assert all(text[evidence.start : evidence.end] == evidence.quote for evidence in reading.evidence)


def test_a_radius_around_two_places_is_not_kept_and_that_is_said() -> None:
    reading = read_short("devs within 20 km of Ghent or Antwerp", places=reference().places)
    assert shown(reading.location) == ("BE", "Ghent", "Antwerp")
    assert any("radius" in warning for warning in reading.warnings)


def test_no_more_countries_than_an_intent_takes() -> None:
    reading = read_short("account managers EMEA and APAC", places=reference().places)
    assert reading.location is not None
    assert len(reading.location.countries) == 60
    assert any("left out" in warning for warning in reading.warnings)
