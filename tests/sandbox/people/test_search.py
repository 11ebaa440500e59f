import json
from collections.abc import Callable

import pytest

from sandbox.people.gate import reserved_key
from sandbox.people.population.build import Population
from sandbox.people.query import matching
from tests.sandbox.conftest import Object, Running

DUTCH = {"term": {"location_country": "netherlands"}}
NOBODY = {"term": {"location_country": "nowhere"}}


def pages(sandbox: Running, query: Object, size: int) -> list[list[str]]:
    found: list[list[str]] = []
    token = None
    while True:
        answer = sandbox.search(query, size=size, scroll_token=token, data_include="id")
        if answer.status_code == 404:
            return found
        body = answer.json()
        found.append([row["id"] for row in body["data"]])
        token = body["scroll_token"]
        if token is None:
            return found


@pytest.mark.parametrize("size", [7, 50, 100])
def test_pages_return_each_person_once(sandbox: Running, population: Population, size: int) -> None:
    found = [person_id for page in pages(sandbox, {"query": DUTCH}, size) for person_id in page]
    assert len(found) == len(set(found))
    assert set(found) == matching(population, DUTCH)


def test_pages_lose_no_person_when_another_vanishes_between_them(sandbox: Running, population: Population) -> None:
    first = sandbox.search(DUTCH, size=20).json()
    gone = first["data"][3]["id"]
    sandbox.control.post(f"/_control/people/{gone}", json={"state": "vanished"}).raise_for_status()
    rest, token = [], first["scroll_token"]
    while token:
        body = sandbox.search(DUTCH, size=20, scroll_token=token).json()
        rest += [row["id"] for row in body["data"]]
        token = body.get("scroll_token")
    assert {row["id"] for row in first["data"]} | set(rest) == matching(population, DUTCH)
    assert sandbox.search({"term": {"id": gone}}).status_code == 404


def test_a_full_last_page_is_followed_by_404(sandbox: Running, population: Population) -> None:
    three = sorted(matching(population, DUTCH))[:3]
    body = sandbox.search({"terms": {"id": three}}, size=3).json()
    assert body["total"] == 3
    after = sandbox.search({"terms": {"id": three}}, size=3, scroll_token=body["scroll_token"])
    assert after.status_code == 404
    assert after.json()["error"]["type"] == ["not_found"]


def test_an_empty_search_is_404_and_free(sandbox: Running) -> None:
    answer = sandbox.search(NOBODY, size=10)
    assert answer.status_code == 404
    assert answer.headers["x-call-credits-spent"] == "0"


@pytest.mark.parametrize("wrap", [lambda q: q, lambda q: {"query": q}, json.dumps, lambda q: json.dumps({"query": q})])
def test_nested_flat_and_text_queries_are_the_same(
    sandbox: Running, population: Population, wrap: Callable[[Object], object]
) -> None:
    assert sandbox.search(wrap(DUTCH)).json()["total"] == len(matching(population, DUTCH))


def test_get_takes_the_query_as_text(sandbox: Running, population: Population) -> None:
    answer = sandbox.people.get("/v5/person/search", params={"query": json.dumps(DUTCH), "size": "2"})
    assert len(answer.json()["data"]) == 2
    assert answer.json()["total"] == len(matching(population, DUTCH))


def test_the_body_beats_the_address(sandbox: Running) -> None:
    answer = sandbox.people.post("/v5/person/search?size=5", json={"query": DUTCH, "size": 2})
    assert len(answer.json()["data"]) == 2


def test_one_record_without_a_size(sandbox: Running) -> None:
    assert len(sandbox.search(DUTCH).json()["data"]) == 1


def test_each_record_costs_a_credit(sandbox: Running) -> None:
    answer = sandbox.search(DUTCH, size=13)
    assert answer.headers["x-call-credits-spent"] == "13"
    assert answer.headers["x-call-credits-type"] == "search"
    log = sandbox.control.get("/_control/people/log").json()
    assert log["credits_billed"] == 13
    assert answer.headers["x-totallimit-remaining"] == str(1_000_000 - 13)


@pytest.mark.parametrize(
    ("data_include", "fields"),
    [
        ("id,job_title", {"id", "job_title"}),
        ("id,shoe_size", {"id"}),
        ("", set()),
        ("experience.title.name", {"experience"}),
    ],
)
def test_only_included_fields_are_given(sandbox: Running, data_include: str, fields: set[str]) -> None:
    (record,) = sandbox.search(DUTCH, data_include=data_include).json()["data"]
    assert set(record) == fields
    for job in record.get("experience", []):
        assert set(job) == {"title"}
        assert set(job["title"]) == {"name"}


def test_excluded_fields_are_left_out(sandbox: Running) -> None:
    (record,) = sandbox.search(DUTCH, data_include="-skills,experience.summary").json()["data"]
    assert "skills" not in record
    assert "id" in record
    assert all("summary" not in job and "title" in job for job in record["experience"])


def test_title_case_capitalises_names_and_places(sandbox: Running) -> None:
    (record,) = sandbox.search({"term": {"location_locality": "amsterdam"}}, titlecase=True).json()["data"]
    assert record["location_locality"] == "Amsterdam"
    assert record["location_country"] == "Netherlands"
    assert record["full_name"] == record["full_name"].title()


def test_a_data_set_narrows_the_search(sandbox: Running, population: Population) -> None:
    def total(dataset: str) -> int:
        return int(sandbox.search(DUTCH, dataset=dataset).json().get("total", 0))

    with_email = {"bool": {"must": [DUTCH, {"exists": {"field": "work_email"}}]}}
    assert total("all") == total("resume") == len(matching(population, DUTCH))
    assert total("email") == len(matching(population, with_email))
    assert total("all,-email") == total("all") - total("email")
    assert total("developer") == 0


BAD = [
    ({}, "query"),
    ({"sql": "select * from person"}, "sql"),
    ({"query": DUTCH, "size": 0}, "size"),
    ({"query": DUTCH, "size": 101}, "size"),
    ({"query": DUTCH, "size": "many"}, "size"),
    ({"query": DUTCH, "size": True}, "size"),
    ({"query": DUTCH, "dataset": "secret"}, "dataset"),
    ({"query": DUTCH, "titlecase": "perhaps"}, "titlecase"),
    ({"query": DUTCH, "page": 2}, "page"),
    ({"query": "no json"}, "JSON"),
    ({"query": [DUTCH]}, "query"),
    ({"query": {"bool": {"filter": DUTCH}}}, "filter"),
    ({"query": DUTCH, "scroll_token": "5$abc"}, "scroll_token"),
    ({"query": DUTCH, "scroll_token": "x"}, "scroll_token"),
    ({"query": DUTCH, "scroll_token": "1$a", "from": 5}, "from"),
    ({"query": DUTCH, "from": 10_000}, "from"),
]


@pytest.mark.parametrize(("body", "named"), BAD, ids=[str(body)[:50] for body, _ in BAD])
def test_bad_input_is_400_and_names_the_parameter(sandbox: Running, body: Object, named: str) -> None:
    answer = sandbox.people.post("/v5/person/search", json=body)
    assert answer.status_code == answer.json()["status"] == 400
    assert answer.json()["error"]["type"] == ["invalid_request_error"]
    assert named in answer.json()["error"]["message"]


@pytest.mark.parametrize("content", [b"{", b"[1]", b'{"query": ' * 2000 + b"1" + b"}" * 2000, b"\xff\xfe"])
def test_broken_bodies_are_400(sandbox: Running, content: bytes) -> None:
    assert sandbox.people.post("/v5/person/search", content=content).status_code == 400


def test_a_token_of_another_query_is_refused(sandbox: Running) -> None:
    token = sandbox.search(DUTCH, size=2).json()["scroll_token"]
    assert sandbox.search({"term": {"location_country": "germany"}}, size=2, scroll_token=token).status_code == 400


def test_wrong_method_is_405(sandbox: Running) -> None:
    answer = sandbox.people.delete("/v5/person/search")
    assert answer.status_code == 405
    assert answer.json()["error"]["type"] == ["invalid_request_error"]


@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [
        ("wrong", 401, "authentication_error"),
        (reserved_key(401), 401, "authentication_error"),
        (reserved_key(402), 402, "payment_required"),
        (reserved_key(429), 429, "rate_limit_error"),
    ],
)
def test_reserved_keys_force_their_status(sandbox: Running, key: str, status: int, kind: str) -> None:
    answer = sandbox.people.post("/v5/person/search", json={"query": DUTCH}, headers={"X-Api-Key": key})
    assert answer.status_code == answer.json()["status"] == status
    assert answer.json()["error"]["type"] == [kind]


def test_no_key_is_401(sandbox: Running) -> None:
    assert sandbox.control.post("/v5/person/search", json={"query": DUTCH}).status_code == 401


def test_exhausted_credits_are_402_until_there_are_more(sandbox: Running) -> None:
    sandbox.control.post("/_control/people/credits", json={"remaining": 1}).raise_for_status()
    assert sandbox.search(DUTCH, size=5).status_code == 200
    refused = sandbox.search(DUTCH)
    assert refused.status_code == 402
    assert refused.headers["x-totallimit-remaining"] == "0"
    sandbox.control.post("/_control/people/credits", json={"remaining": 10}).raise_for_status()
    assert sandbox.search(DUTCH).status_code == 200


def test_the_minute_window_is_enforced_and_ends(sandbox: Running) -> None:
    sandbox.control.post("/_control/people/limits", json={"per_minute": {"person/search": 2}}).raise_for_status()
    answers = [sandbox.search(DUTCH) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[0].headers["x-ratelimit-remaining"] == "{'minute': 1, 'day': None, 'month': None}"
    assert answers[2].headers["x-ratelimit-reset"].endswith(":00Z")
    assert "retry-after" not in answers[2].headers
    assert sandbox.people.get("/v5/autocomplete", params={"field": "skill"}).status_code == 200
    sandbox.control.post("/_control/clock", json={"offset_seconds": 60}).raise_for_status()
    assert sandbox.search(DUTCH).status_code == 200


def test_answers_are_compressed_when_the_caller_takes_it(sandbox: Running) -> None:
    plain = sandbox.people.post(
        "/v5/person/search", json={"query": DUTCH, "size": 20}, headers={"Accept-Encoding": "identity"}
    )
    packed = sandbox.search(DUTCH, size=20)
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.json() == plain.json()


def test_an_answer_over_the_cap_is_refused_unbilled(sandbox: Running) -> None:
    body = {"query": {"match_all": {}}, "size": 100, "pretty": True}
    answer = sandbox.people.post("/v5/person/search", json=body, headers={"Accept-Encoding": "identity"})
    assert answer.status_code == 413
    assert sandbox.control.get("/_control/people/log").json()["credits_billed"] == 0
    assert sandbox.people.post("/v5/person/search", json=body).status_code == 200


def test_an_unknown_path_is_404_in_the_same_envelope(sandbox: Running) -> None:
    answer = sandbox.people.get("/v5/person/horoscope")
    assert (answer.status_code, answer.json()["error"]["type"]) == (404, ["not_found"])


@pytest.mark.parametrize("bound", [10**30, -(10**30)])
def test_bounds_beyond_all_numbers_are_bounds(sandbox: Running, population: Population, bound: int) -> None:
    query = {"range": {"inferred_years_experience": {"lt": bound}}}
    expected = len(matching(population, {"exists": {"field": "inferred_years_experience"}})) if bound > 0 else 0
    assert sandbox.search(query).json().get("total", 0) == expected
