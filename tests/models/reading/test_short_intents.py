import pytest

from tests.models.reading.known import read


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("3y Go devs near Ghent, not agencies", ("Go developer",)),
        ("senior react developer Berlin, 5+ years, german C1, no freelancers", ("senior react developer",)),
        ("infirmière à Lyon, 3 ans", ("infirmière",)),
        ("zoek 2 boekhouders regio Antwerpen", ("boekhouder",)),
        ("Suche 3 Elektriker im Raum Köln, keine Zeitarbeit", ("Elektriker",)),
        ("Recherche comptable bilingue anglais, 5 ans d'expérience", ("comptable",)),
        ("nurses or midwives in Leeds", ("nurse", "midwife")),
        ("research and development manager, Basel", ("research and development manager",)),
        ("German teacher Madrid", ("German teacher",)),
        ("sales managers and Kundenberaterinnen, Wien", ("sales manager", "Kundenberaterin")),
        (
            "We are looking for a senior product manager with 5 years of experience in Munich",
            ("senior product manager",),
        ),
        ("Head of Finance\nUtrecht\n10+ years", ("Head of Finance",)),
    ],
)
def test_words_without_another_reading_are_the_title(text: str, titles: tuple[str, ...]) -> None:
    assert read(text).intent.must.titles == titles


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("3y Go devs near Ghent", 3, None),
        ("java developer 5+ years", 5, None),
        ("java developer, 2-4 years", 2, 4),
        ("Krankenpfleger, mind. 3 Jahre", 3, None),
        ("infirmière, au moins 2 ans", 2, None),
        ("lasser, 4 jaar ervaring", 4, None),
        ("accountant, max 3 years", None, 3),
        ("accountant, up to 6 yrs exp", None, 6),
    ],
)
def test_reads_years_in_a_few_characters(text: str, low: int | None, high: int | None) -> None:
    years = read(text).intent.must.experience_years
    assert years is not None
    assert (years.min, years.max) == (low, high)


@pytest.mark.parametrize(
    "text",
    ["nurse, 45 years old", "nurse, 19 years old", "accountant Bristol", "developer for a firm of 300 people"],
)
def test_reads_no_years_where_there_are_none(text: str) -> None:
    assert read(text).intent.must.experience_years is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("3y Go devs near Ghent, not agencies", "agencies"),
        ("Elektriker Köln, keine Zeitarbeit", "Zeitarbeit"),
        ("boekhouder Gent, geen uitzendkrachten", "uitzendkrachten"),
        ("data analyst Leeds, no startups or consultancies", "consultancies"),
    ],
)
def test_says_what_it_cannot_exclude(text: str, what: str) -> None:
    reading = read(text)
    assert "exclude" in reading.ignored_fields
    assert any(what in warning for warning in reading.warnings)
    assert reading.intent.exclude.titles == ()


def test_excludes_titles() -> None:
    reading = read("sales managers in Lille, no team leads or interns")
    assert reading.intent.exclude.titles == ("team lead", "intern")
    assert reading.intent.must.titles == ("sales manager",)


def test_excludes_freelancers_by_title_and_says_so() -> None:
    reading = read("react developer Berlin, no freelancers")
    assert reading.intent.exclude.titles == ("freelance", "freelancer")
    assert any("Freelancers" in warning for warning in reading.warnings)


def test_what_is_not_needed_is_not_excluded() -> None:
    reading = read("react developer Berlin, no German required")
    assert reading.intent.exclude.languages == ()
    assert reading.intent.must.languages == ()
    assert reading.ignored_fields == ()


def test_languages_need_no_further_word() -> None:
    reading = read("accountant Ghent, Dutch, fluent French, German C1")
    assert reading.intent.must.languages == ("dutch", "french", "german")
    assert reading.ignored_fields == ("must.languages.level",)


def test_remote_work_is_named_as_ignored() -> None:
    reading = read("remote react developer, Germany")
    assert reading.intent.must.titles == ("react developer",)
    assert reading.ignored_fields == ("remote",)
    assert any("remote" in warning for warning in reading.warnings)


def test_reads_the_place_beside_the_title() -> None:
    location = read("3y Go devs near Ghent, not agencies").intent.must.location
    assert location is not None
    assert location.countries == ("BE",)
    assert location.anchor_location_id == "loc_2797656"


def test_an_excluded_city_leaves_the_rest_of_its_country() -> None:
    reading = read("comptable en France, hors Paris")
    assert reading.intent.must.location is not None
    assert reading.intent.must.location.countries == ("FR",)
    assert reading.intent.exclude.location is not None
    assert reading.intent.exclude.location.countries == ()
    assert reading.intent.exclude.location.location_ids == ("loc_2988507",)
    assert [proof.quote for proof in reading.evidence if proof.field.startswith("exclude.location")] == ["Paris"]


def test_what_is_wanted_and_excluded_stays_wanted() -> None:
    reading = read("intern in Leeds, no interns")
    assert reading.intent.must.titles == ("intern",)
    assert reading.intent.exclude.titles == ()
    assert any("both" in warning for warning in reading.warnings)


def test_nothing_of_a_short_intent_is_dropped_silently() -> None:
    reading = read("registered nurses in London, kind to cats, 2 years")
    assert reading.intent.must.titles == ("registered nurse",)
    assert reading.ignored_fields == ("other",)
    assert any("kind to cats" in warning for warning in reading.warnings)


def test_excludes_levels() -> None:
    assert read("backend engineers, Amsterdam, no juniors").intent.exclude.titles == ("junior",)


def test_reads_skills_in_and_beside_the_title() -> None:
    reading = read("3y Go devs near Ghent with Kubernetes, Terraform a plus, no PHP")
    assert reading.intent.must.titles == ("Go developer",)
    assert reading.intent.must.skills == ("Go", "Kubernetes")
    assert reading.intent.nice.skills == ("Terraform",)
    assert reading.intent.exclude.skills == ("PHP",)
    assert reading.ignored_fields == ()


def test_one_skill_or_another_is_wished_for() -> None:
    reading = read("backend engineer Utrecht, Java or Kotlin")
    assert reading.intent.must.skills == ()
    assert reading.intent.nice.skills == ("Java", "Kotlin")
    assert any("one skill or another" in warning for warning in reading.warnings)


def test_lines_part_a_short_intent_like_commas() -> None:
    reading = read("Data Analyst\nGhent\n3 years\nSQL, Python")
    assert reading.intent.must.titles == ("Data Analyst",)
    assert reading.intent.must.skills == ("SQL", "Python")


def test_the_trade_in_a_title_is_no_further_skill() -> None:
    must = read("machine learning engineers in Utrecht").intent.must
    assert must.titles == ("machine learning engineer",)
    assert must.skills == ()


def test_a_list_of_exclusions_may_have_gaps() -> None:
    assert read("sales managers in Lille, no / or interns").intent.exclude.titles == ("intern",)
