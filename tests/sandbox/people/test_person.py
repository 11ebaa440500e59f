import hashlib

import pytest

from sandbox.people.population.build import Population
from sandbox.people.population.columns import Oddity
from tests.sandbox.conftest import Object, Running


def any_person(population: Population, **wanted: object) -> Object:
    for number, record in enumerate(population):
        if (
            population.columns.oddity[number] == 0
            and isinstance(record["work_email"], str)
            and isinstance(record["mobile_phone"], str)
            and record["job_company_id"]
            and all(record[name] == value for name, value in wanted.items())
        ):
            return record
    pytest.fail("no person fits")


@pytest.fixture(scope="module")
def person(population: Population) -> Object:
    return any_person(population)


def by_inputs(person: Object) -> list[Object]:
    email = person["work_email"]
    return [
        {"pdl_id": person["id"]},
        {"profile": f"https://www.{person['linkedin_url']}/?trk=x"},
        {"profile": [person["linkedin_url"]]},
        {"lid": person["linkedin_id"]},
        {"email": email.upper()},
        {"email_hash": hashlib.sha256(email.encode()).hexdigest()},
        {"email_hash": hashlib.md5(email.encode(), usedforsecurity=False).hexdigest()},
        {"phone": person["mobile_phone"]},
        {"name": person["full_name"].title(), "company": person["job_company_name"].upper()},
        {
            "first_name": person["first_name"],
            "last_name": person["last_name"],
            "company": person["job_company_website"],
        },
        {"name": person["full_name"], "location": person["location_name"], "company": person["job_company_name"]},
    ]


@pytest.mark.parametrize("which", range(11))
def test_enrich_finds_the_person_by_every_input(sandbox: Running, person: Object, which: int) -> None:
    answer = sandbox.people.post("/v5/person/enrich", json=by_inputs(person)[which] | {"min_likelihood": 2})
    assert answer.status_code == 200
    assert answer.json()["data"]["id"] == person["id"]
    assert 2 <= answer.json()["likelihood"] <= 10
    assert answer.headers["x-call-credits-spent"] == "1"


def test_enrich_gives_the_whole_record(sandbox: Running, person: Object) -> None:
    assert sandbox.people.get("/v5/person/enrich", params={"pdl_id": person["id"]}).json() == {
        "status": 200,
        "likelihood": 10,
        "data": person,
    }


def test_matched_inputs_are_returned_on_request(sandbox: Running, person: Object) -> None:
    asked = {"name": person["full_name"], "company": person["job_company_name"], "include_if_matched": True}
    assert sandbox.people.post("/v5/person/enrich", json=asked).json()["matched"] == ["name", "company"]


@pytest.mark.parametrize(
    "inputs",
    [{}, {"name": "jo voorbeeld"}, {"company": "kbc"}, {"first_name": "jo", "company": "kbc"}, {"min_likelihood": 3}],
)
def test_too_little_input_is_400(sandbox: Running, inputs: Object) -> None:
    assert sandbox.people.post("/v5/person/enrich", json=inputs).status_code == 400


@pytest.mark.parametrize("more", [{"min_likelihood": 11}, {"required": "a AND"}, {"required": "((a)"}, {"shoe": 1}])
def test_bad_control_parameters_are_400(sandbox: Running, person: Object, more: Object) -> None:
    assert sandbox.people.post("/v5/person/enrich", json={"pdl_id": person["id"]} | more).status_code == 400


def test_a_weak_match_falls_below_the_likelihood(sandbox: Running, person: Object) -> None:
    asked = {"name": person["full_name"], "country": person["location_country"]}
    assert sandbox.people.post("/v5/person/enrich", json=asked | {"min_likelihood": 2}).status_code == 200
    assert sandbox.people.post("/v5/person/enrich", json=asked | {"min_likelihood": 9}).status_code == 404


def test_required_fields_are_required(sandbox: Running, person: Object) -> None:
    def status(expression: str) -> int:
        asked = {"pdl_id": person["id"], "required": expression}
        return sandbox.people.post("/v5/person/enrich", json=asked).status_code

    assert status("work_email AND (middle_name OR job_title)") == 200
    assert status("work_email AND middle_name") == 404


def test_identify_scores_the_possible_people(sandbox: Running, person: Object) -> None:
    inputs = {"name": person["full_name"], "country": person["location_country"]}
    answer = sandbox.people.get("/v5/person/identify", params=inputs)
    matches = answer.json()["matches"]
    assert person["id"] in [match["data"]["id"] for match in matches]
    assert all(set(match) == {"data", "match_score", "matched_on"} for match in matches)
    assert sandbox.people.get("/v5/person/identify", params={"pdl_id": person["id"]}).status_code == 400


def test_bulk_answers_in_order_and_echoes_metadata(sandbox: Running, person: Object) -> None:
    requests = [
        {"params": {"pdl_id": person["id"]}, "metadata": {"n": 0}},
        {"params": {"profile": "linkedin.com/in/nobody-example"}, "metadata": {"n": 1}},
        {"params": {"name": "jo"}},
    ]
    answer = sandbox.people.post("/v5/person/bulk", json={"requests": requests, "data_include": "id"})
    assert answer.status_code == 200
    first, second, third = answer.json()
    assert first == {"status": 200, "likelihood": 10, "data": {"id": person["id"]}, "metadata": {"n": 0}}
    assert (second["status"], second["metadata"]) == (404, {"n": 1})
    assert third["status"] == 400
    assert answer.headers["x-call-credits-spent"] == "1"


@pytest.mark.parametrize(
    "body", [{}, {"requests": []}, {"requests": [{}]}, {"requests": [1]}, {"requests": [{"params": {}}] * 101}]
)
def test_bad_bulk_bodies_are_400(sandbox: Running, body: Object) -> None:
    assert sandbox.people.post("/v5/person/bulk", json=body).status_code == 400


def test_retrieve_gives_records_by_id(sandbox: Running, person: Object) -> None:
    single = sandbox.people.get(f"/v5/person/retrieve/{person['id']}").json()
    assert single == {"status": 200, "data": person, "billed": True}
    requests = [{"id": "nobody"}, {"id": person["id"], "metadata": {"k": 1}}]
    missing, found = sandbox.people.post("/v5/person/retrieve/bulk", json={"requests": requests}).json()
    assert missing == {"status": 404}
    assert (found["data"]["id"], found["metadata"]) == (person["id"], {"k": 1})
    assert sandbox.people.get("/v5/person/retrieve/nobody").status_code == 404


def test_a_former_id_leads_to_the_current_record(sandbox: Running, population: Population) -> None:
    number = int(population.columns.has(Oddity.FORMER_ID).argmax())
    former, current = population.identities.former_id_of(number), population.person_id(number)
    answer = sandbox.people.post("/v5/person/bulk", json={"requests": [{"params": {"pdl_id": former}}]})
    assert answer.json()[0]["data"]["id"] == current != former


def test_company_calls_are_flat_and_join_the_people(sandbox: Running, person: Object) -> None:
    enriched = sandbox.people.get("/v5/company/enrich", params={"pdl_id": person["job_company_id"]}).json()
    assert enriched["id"] == person["job_company_id"]
    assert enriched["status"] == 200
    for inputs in ({"website": "https://www.kbc.com/"}, {"name": "KBC"}, {"profile": "linkedin.com/company/kbc"}):
        cleaned = sandbox.people.post("/v5/company/clean", json=inputs)
        assert (cleaned.json()["name"], cleaned.json()["website"]) == ("kbc", "kbc.com")
        assert cleaned.headers["x-call-credits-spent"] == "0"
    assert sandbox.people.get("/v5/company/clean", params={"name": "no such firm"}).status_code == 404
    assert sandbox.people.get("/v5/company/clean").status_code == 400


@pytest.mark.parametrize(
    ("text", "name", "kind"),
    [
        ("Ghent, Belgium", "ghent, flanders, belgium", "locality"),
        ("münchen", None, None),
        ("Munich", "munich, bavaria, germany", "locality"),
        ("Halle, BE", "halle, flanders, belgium", "locality"),
        ("UK", "united kingdom", "country"),
        ("bavaria", "bavaria, germany", "region"),
        ("Atlantis", None, None),
    ],
)
def test_location_clean_names_the_place(sandbox: Running, text: str, name: str | None, kind: str | None) -> None:
    answer = sandbox.people.get("/v5/location/clean", params={"location": text})
    assert answer.status_code == (200 if name else 404)
    assert (answer.json().get("name"), answer.json().get("type")) == (name, kind)


@pytest.mark.parametrize(
    ("field", "text", "first"),
    [
        ("country", "bel", "belgium"),
        ("location_name", "amster", "amsterdam, north holland, netherlands"),
        ("location_name", "xyz", None),
        ("location_name", "ghent", "ghent, flanders, belgium"),
        ("skill", "pyth", "python"),
        ("company", "kbc", "kbc"),
        ("industry", "bank", "banking"),
        ("role", "eng", "engineering"),
    ],
)
def test_autocomplete_gives_frequent_values_first(sandbox: Running, field: str, text: str, first: str | None) -> None:
    answer = sandbox.people.get("/v5/autocomplete", params={"field": field, "text": text, "size": 5})
    data = answer.json()["data"]
    assert (data[0]["name"] if data else None) == first
    assert [item["count"] for item in data] == sorted((item["count"] for item in data), reverse=True)
    assert answer.headers["x-call-credits-spent"] == "0"


def test_autocomplete_tells_what_a_place_or_firm_is(sandbox: Running) -> None:
    place = sandbox.people.post("/v5/autocomplete", json={"field": "location_name", "text": "ghent"}).json()
    assert place["data"][0]["meta"] == {"locality": "ghent", "region": "flanders", "country": "belgium"}
    firm = sandbox.people.post("/v5/autocomplete", json={"field": "company", "text": "kbc"}).json()
    assert firm["data"][0]["meta"]["website"] == "kbc.com"
    assert sandbox.people.get("/v5/autocomplete", params={"field": "shoe"}).status_code == 400
