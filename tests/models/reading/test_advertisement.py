import pytest

from models.reading.draft import barred
from models.reading.intents import IntentLocation
from models.reading.places.workplace import PlaceReading
from tests.models.reading.known import read

ENGLISH = """Payroll Specialist
Kestrel Tents, Leeds

We make tents for people who like rain, and we pay the people who make them on time.

Requirements
- At least 3 years of experience in payroll
- Fluent English and Dutch (C1)
- German or French is needed for our branches

Nice to have
- Good knowledge of written Spanish

We work hybrid. No agencies please.
"""


def test_an_advertisement_gives_title_years_and_languages() -> None:
    must = read(ENGLISH).intent.must
    assert must.titles == ("Payroll Specialist",)
    assert must.experience_years is not None
    assert must.experience_years.min == 3
    assert must.languages == ("english", "dutch")


def test_alternative_and_welcome_languages_are_wished_for() -> None:
    reading = read(ENGLISH)
    assert reading.intent.nice.languages == ("german", "french", "spanish")
    assert any("one language or another" in warning for warning in reading.warnings)


def test_what_no_filter_expresses_is_named_as_ignored() -> None:
    reading = read(ENGLISH)
    assert set(reading.ignored_fields) == {"must.languages.level", "remote", "exclude"}
    assert any("No agencies" in warning for warning in reading.warnings)
    assert any("hybrid" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    "said", ["Geen freelancers.", "Keine Freelancer!", "No contractors, please.", "Pas de freelances"]
)
def test_freelancers_who_are_turned_away_are_excluded(said: str) -> None:
    reading = read(f"Payroll Specialist\nLocation: Ghent, Belgium\n\nYou have 3 years of experience.\n{said}")
    assert reading.intent.exclude.titles == ("freelance", "freelancer")
    assert any("Freelancers" in warning for warning in reading.warnings)


def test_the_same_text_reads_the_same_with_other_line_ends() -> None:
    unix, windows = read(ENGLISH), read(ENGLISH.replace("\n", "\r\n"))
    assert unix.intent == windows.intent
    assert [proof.quote for proof in unix.evidence] == [proof.quote for proof in windows.evidence]


def test_a_title_that_says_little_comes_with_a_warning() -> None:
    reading = read(
        "Wij zijn op zoek naar een medewerker die graag buiten werkt.\nJe werkt met ons team aan tenten.\n" * 3
    )
    assert reading.intent.must.titles == ("medewerker",)
    assert any("too general" in warning for warning in reading.warnings)


@pytest.mark.parametrize(
    ("location", "wanted"),
    [
        (IntentLocation(countries=("FR",)), IntentLocation(countries=("FR",))),
        (
            IntentLocation(countries=("FR",), anchor_location_id="loc_1", location_ids=("loc_2",)),
            IntentLocation(location_ids=("loc_1", "loc_2")),
        ),
        (
            IntentLocation(countries=("FR",), anchor_location_id="loc_1", radius_km=20),
            IntentLocation(anchor_location_id="loc_1", radius_km=20),
        ),
    ],
)
def test_an_excluded_place_never_takes_its_country_along(location: IntentLocation, wanted: IntentLocation) -> None:
    assert PlaceReading(location=None, excluded=location).excluded is location
    assert barred(location) == wanted
