import pytest

from sandbox.people.population.build import Population
from sandbox.people.population.columns import Oddity
from tests.sandbox.conftest import Object, Running

VERSIONS = {"origin_version": "34.2", "current_version": "35.0"}


def opted_out(sandbox: Running) -> list[str]:
    answer = sandbox.people.get("/v5/person/subjectrequest")
    assert answer.headers["content-type"].startswith("text/csv")
    return answer.text.splitlines()


def changes(sandbox: Running, kind: str, **more: object) -> list[Object]:
    answer = sandbox.people.post("/v5/person/changelog", json=VERSIONS | {"type": kind} | more)
    assert answer.status_code == 200
    rows: list[Object] = answer.json()["data"][kind]
    return rows


def test_the_opt_out_feed_holds_those_still_listed_too(sandbox: Running, population: Population) -> None:
    columns = population.columns
    either = columns.has(Oddity.OPTED_OUT) | columns.has(Oddity.OPTED_OUT_BUT_LISTED)
    assert set(opted_out(sandbox)) == {population.person_id(n) for n in either.nonzero()[0].tolist()}
    late = population.person_id(int(columns.has(Oddity.OPTED_OUT_BUT_LISTED).argmax()))
    assert sandbox.search({"term": {"id": late}}).status_code == 200


def test_a_person_who_opts_out_leaves_searches_and_enters_the_feed(sandbox: Running, population: Population) -> None:
    person_id = population.person_id(0)
    seen = sandbox.control.post(f"/_control/people/{person_id}", json={"state": "opted_out"}).json()
    assert (seen["state"], seen["found_by_search"]) == ("opted_out", False)
    assert person_id in opted_out(sandbox)
    assert {"id": person_id} in changes(sandbox, "opted_out")
    assert sandbox.search({"term": {"id": person_id}}).status_code == 404
    assert sandbox.people.get(f"/v5/person/retrieve/{person_id}").status_code == 404
    sandbox.control.post(f"/_control/people/{person_id}", json={"state": "present"}).raise_for_status()
    assert sandbox.search({"term": {"id": person_id}}).status_code == 200


def test_a_person_who_vanishes_is_deleted_in_the_changelog(sandbox: Running, population: Population) -> None:
    person_id = population.person_id(1)
    sandbox.control.post(f"/_control/people/{person_id}", json={"state": "vanished"}).raise_for_status()
    assert changes(sandbox, "deleted") == [{"id": person_id}]
    bulk = sandbox.people.post("/v5/person/bulk", json={"requests": [{"params": {"pdl_id": person_id}}]})
    assert bulk.json()[0]["status"] == 404


def test_a_merged_person_answers_with_the_surviving_id(sandbox: Running, population: Population) -> None:
    old, new = population.person_id(2), population.person_id(3)
    change = sandbox.control.post(f"/_control/people/{old}", json={"state": f"merged_into:{new}"})
    assert change.json()["state"] == f"merged_into:{new}"
    assert sandbox.people.get(f"/v5/person/retrieve/{old}").json()["data"]["id"] == new
    assert sandbox.search({"term": {"id": old}}).status_code == 404
    assert {"id": old, "additional_metadata": {"to": [new]}} in changes(sandbox, "merged")


def test_the_changelog_can_be_asked_for_ids(sandbox: Running) -> None:
    (first, *_) = changes(sandbox, "merged")
    answer = sandbox.people.post("/v5/person/changelog", json=VERSIONS | {"ids": [first["id"], "nobody"]})
    data = answer.json()["data"]
    assert data["merged"] == [first]
    assert data["opted_out"] == []


def test_updates_can_be_narrowed_to_fields(sandbox: Running) -> None:
    rows = changes(sandbox, "updated", fields_updated=["job_change"])
    assert rows
    assert all(row["additional_metadata"]["fields_updated"] == ["job_change"] for row in rows)
    assert len(rows) < len(changes(sandbox, "updated"))


@pytest.mark.parametrize(
    "body",
    [
        {"type": "merged"},
        VERSIONS,
        VERSIONS | {"type": "sold"},
        VERSIONS | {"ids": []},
        VERSIONS | {"ids": "x"},
        {"origin_version": "1.0", "current_version": "2.0", "type": "merged"},
        VERSIONS | {"type": "added", "fields_updated": ["job_change"]},
        VERSIONS | {"type": "updated", "fields_updated": ["shoes"]},
        VERSIONS | {"type": "merged", "scroll_token": "x"},
    ],
)
def test_a_refused_changelog_says_what_is_valid(sandbox: Running, body: Object) -> None:
    answer = sandbox.people.post("/v5/person/changelog", json=body)
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error["valid_versions"] == ["34.2", "35.0"]
    assert "merged" in error["valid_types"]
    assert "job_change" in error["valid_fields_updated"]
