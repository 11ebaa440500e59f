from collections import Counter
from datetime import date
from itertools import pairwise

import numpy as np
import pytest

from sandbox.people.population.build import Population, build_population
from sandbox.people.population.columns import OPEN, Oddity
from sandbox.people.population.draws import Draws, picks
from sandbox.people.population.texts import HOSTILE
from tests.sandbox.conftest import Object

LEVELS = {"unpaid", "training", "entry", "manager", "senior", "partner", "director", "vp", "owner", "cxo"}
ROLES = {
    *{"advisory", "analyst", "creative", "education", "engineering", "finance", "fulfillment", "health"},
    *{"hospitality", "human_resources", "legal", "manufacturing", "marketing", "operations", "partnerships"},
    *{"product", "professional_service", "public_service", "research", "sales", "sales_engineering", "support"},
    *{"trade", "unemployed"},
}
CLASSES = {"general_and_administrative", "research_and_development", "sales_and_marketing", "services", "unemployed"}
SIZES = {"1-10", "11-50", "51-200", "201-500", "501-1000", "1001-5000", "5001-10000", "10001+"}


def first_day(text: str) -> date:
    year, month, day = (*map(int, text.split("-")), 1, 1)[:3]
    return date(year, month, day)


@pytest.fixture(scope="module")
def records(population: Population) -> list[Object]:
    return list(population)


def test_draws_never_change() -> None:
    assert Draws(7).unit("x", np.arange(3)).tolist() == [0.47799878575359933, 0.3363915730197943, 0.48605713961702945]


def test_one_key_draws_the_same_alone_and_in_a_row() -> None:
    keys = np.array([0, 1, 63, 2**40, 2**62], dtype=np.int64)
    assert Draws(3).unit("s", keys).tolist() == [Draws(3).unit_at("s", int(key)) for key in keys]


def test_picks_follow_the_weights() -> None:
    chosen = picks(Draws(1).unit("w", np.arange(20_000)), np.array([1, 0, 3]))
    assert np.bincount(chosen, minlength=3)[1] == 0
    assert np.bincount(chosen)[2] / 20_000 == pytest.approx(0.75, abs=0.02)


def test_same_seed_gives_the_same_people(records: list[Object]) -> None:
    assert list(build_population(300, 7)) == records[:300]


def test_another_seed_gives_other_people(records: list[Object]) -> None:
    others = list(build_population(100, 8))
    assert not {record["id"] for record in others} & {record["id"] for record in records}


def test_ids_are_unique_and_found_again(population: Population, records: list[Object]) -> None:
    ids = [record["id"] for record in records]
    assert len(set(ids)) == len(ids)
    assert [population.number_of(person_id) for person_id in ids] == list(range(len(ids)))
    assert population.number_of("nobody") is None


def test_values_of_closed_lists_are_the_providers_own(records: list[Object]) -> None:
    for record in records:
        titles = [job["title"] for job in record["experience"]]
        assert {level for title in titles for level in title["levels"]} <= LEVELS
        assert {title["role"] for title in titles} <= ROLES
        assert {title["class"] for title in titles} <= CLASSES
        assert record["job_company_size"] in SIZES | {None}


def test_text_is_lower_case(records: list[Object]) -> None:
    for record in records:
        for name in ("full_name", "job_title", "job_company_name", "location_name", "headline"):
            value = record[name]
            assert value is None or value == value.lower() or "ı" in value, (name, value)


def test_jobs_follow_one_another_and_education_ends_before_work_begins(population: Population) -> None:
    jobs, studies = population.columns.jobs, population.columns.studies
    for person in range(len(population)):
        own = list(jobs.runs.of(person))
        assert own
        for earlier, later in pairwise(own):
            assert jobs.start[earlier] < jobs.start[later]
            assert jobs.end[earlier] == OPEN or jobs.start[earlier] < jobs.end[earlier] <= jobs.start[later]
        for entry in studies.runs.of(person):
            assert studies.start[entry] < studies.end[entry] <= jobs.start[own[0]]


def test_years_of_experience_are_the_union_of_the_jobs(population: Population) -> None:
    jobs = population.columns.jobs
    now = 2026 * 12 + 9
    for person in range(len(population)):
        covered: set[int] = set()
        for job in jobs.runs.of(person):
            covered |= set(range(int(jobs.start[job]), now if jobs.end[job] == OPEN else int(jobs.end[job])))
        stated = population.record(person)["inferred_years_experience"]
        assert stated == len(covered) // 12 or stated is None


def test_the_current_job_is_the_primary_one(records: list[Object]) -> None:
    for record in records:
        primary = [job for job in record["experience"] if job["is_primary"]]
        if record["job_title"] is None:
            assert primary == []
            assert record["job_company_id"] is None
            continue
        (job,) = primary
        assert job["end_date"] is None
        assert job["title"]["name"] == record["job_title"]
        assert job["title"]["levels"] == record["job_title_levels"]
        assert job["company"]["id"] == record["job_company_id"]
        assert job["start_date"] == record["job_start_date"]


def test_dates_are_written_as_the_provider_does(records: list[Object]) -> None:
    for record in records:
        for span in [*record["experience"], *record["education"]]:
            for text in (span["start_date"], span["end_date"]):
                assert text is None or (len(text) in (4, 7, 10) and first_day(text) <= date(2026, 10, 31))


def test_every_oddity_is_there(population: Population) -> None:
    missing = [kind.name for kind in Oddity if not population.columns.has(kind).any()]
    assert missing == []


def test_awkward_records_are_among_the_people(records: list[Object]) -> None:
    urls = Counter(record["linkedin_url"] for record in records)
    assert max(urls.values()) == 2
    assert any(record["last_name"] is None for record in records)
    assert any(record["work_email"] is True for record in records)
    assert any(isinstance(record["birth_year"], bool) for record in records)
    assert any(record["job_title"] is None for record in records)
    assert any(sum(job["end_date"] is None for job in record["experience"]) > 1 for record in records)
    assert any(all(job["start_date"] is None for job in record["experience"]) for record in records)
    assert any(len(record["job_start_date"] or "") == 4 for record in records)
    assert any(record["location_geo"] is None and record["location_locality"] for record in records)
    assert any(record["location_locality"] is None for record in records)
    assert any("%" in record["linkedin_url"] for record in records)
    assert any(not record["linkedin_url"].isascii() for record in records)
    assert any(record["headline"] in HOSTILE for record in records)
    assert any(len(record["summary"] or "") > 8000 for record in records)
    assert any(not record["full_name"].isascii() for record in records)
    assert any(record["skills"] == [] for record in records)


def test_no_address_or_number_is_real(records: list[Object]) -> None:
    for record in records:
        for address in [record["work_email"], record["recommended_personal_email"]]:
            assert not isinstance(address, str) or address.endswith(".example")
        phone = record["mobile_phone"]
        assert not isinstance(phone, str) or phone.lstrip("+").find("000") in (1, 2, 3)


def test_places_lie_where_their_coordinates_are(population: Population) -> None:
    places = population.columns.places
    ghent = next(city for city in places.cities if city.locality == "ghent" and city.country.code == "BE")
    assert ghent.geo == "51.05,3.72"
    assert ghent.name == "ghent, flanders, belgium"
    for city in places.cities:
        assert city.name == city.name.lower()
        assert city.name.isascii()


def test_the_market_has_the_people_of_the_demonstration() -> None:
    people = build_population(20_000, 7)
    columns = people.columns
    primary = columns.primary_job()
    titles = columns.occupations.titles
    engineers = [
        person
        for person in range(len(people))
        if primary[person] >= 0 and "data engineer" in titles[int(columns.jobs.title[primary[person]])].name
    ]
    codes = Counter(columns.places.countries[int(columns.country[person])].code for person in engineers)
    assert codes["BE"] + codes["NL"] > 60
