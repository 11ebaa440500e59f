import threading

import pytest

from sandbox.people.population.build import Population
from tests.sandbox.conftest import Object, Running

ALL_PEOPLE: Object = {"match_all": {}}


def test_the_log_counts_calls_credits_and_the_crowd(sandbox: Running) -> None:
    sandbox.order("person/search", "latency", latency_ms=300)
    threads = [threading.Thread(target=sandbox.search, args=(ALL_PEOPLE,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sandbox.people.get("/v5/autocomplete", params={"field": "skill"})
    log = sandbox.control.get("/_control/people/log").json()
    assert log["calls"] == {"autocomplete": 1, "person/search": 4}
    assert log["max_in_flight"] == 4
    assert log["in_flight"] == 0
    assert log["credits_billed"] == 4
    latest = log["recent"][-1]
    assert (latest["operation"], latest["status"]) == ("autocomplete", 200)
    assert len(latest["api_key_hash"]) == 12
    assert log["recent"][0]["duration_ms"] >= 300
    cleared = sandbox.control.delete("/_control/people/log").json()
    assert (cleared["calls"], cleared["max_in_flight"], cleared["recent"]) == ({}, 0, [])


def test_the_log_never_shows_a_key(sandbox: Running) -> None:
    sandbox.people.get("/v5/autocomplete", params={"field": "skill"}, headers={"X-Api-Key": "very-secret"})
    assert "very-secret" not in sandbox.control.get("/_control/people/log").text


def test_the_truth_behind_a_search_is_shown(sandbox: Running, population: Population) -> None:
    wanted: Object = {"title": "Software Engineer", "country": "Germany", "limit": 3}
    body = sandbox.control.get("/_control/people", params=wanted).json()
    expected = {
        record["id"]
        for record in population
        if "software engineer" in (record["job_title"] or "") and record["location_country"] == "germany"
    }
    assert body["total"] == len(expected)
    assert {row["id"] for row in body["data"]} <= expected
    one = sandbox.control.get(f"/_control/people/{body['data'][0]['id']}").json()
    assert one["state"] == "present"
    assert one["record"]["location_country"] == "germany"
    assert sandbox.control.get("/_control/people/nobody").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"state": "asleep"},
        {"state": "merged_into:nobody"},
        {"state": "merged_into:"},
        {"state": "vanished", "still_listed": True},
        {"state": "vanished", "x": 1},
        {},
    ],
)
def test_bad_fates_are_refused(sandbox: Running, population: Population, body: Object) -> None:
    answer = sandbox.control.post(f"/_control/people/{population.person_id(0)}", json=body)
    assert answer.status_code == 400
    assert sandbox.control.get(f"/_control/people/{population.person_id(0)}").json()["state"] == "present"


def test_the_clock_moves(sandbox: Running) -> None:
    before = sandbox.control.get("/_control/health").json()["at"]
    moved = sandbox.control.post("/_control/clock", json={"offset_seconds": 86_400 * 400}).json()
    assert moved["at"][:4] > before[:4]
    sandbox.people.get("/v5/autocomplete", params={"field": "skill"})
    assert sandbox.control.get("/_control/people/log").json()["recent"][0]["at"] >= moved["at"]


def test_people_do_nothing_by_themselves(sandbox: Running) -> None:
    assert sandbox.control.get("/_control/next").json() == {"at": None}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/_control/clock", {"offset_seconds": "soon"}),
        ("POST", "/_control/clock", {"offset_seconds": 1, "zone": "utc"}),
        ("POST", "/_control/clock", {}),
        ("GET", "/_control/next?x=1", None),
        ("GET", "/_control/health?x=1", None),
        ("GET", "/_control/mail?subject=x", None),
        ("GET", "/_control/people?limit=0", None),
        ("GET", "/_control/people?name=x", None),
        ("GET", "/_control/people/log?x=1", None),
        ("POST", "/_control/people/limits", {"per_minute": {"person/find": 1}}),
        ("POST", "/_control/people/credits", {"remaining": -1}),
    ],
)
def test_control_input_is_strict(sandbox: Running, method: str, path: str, body: Object | None) -> None:
    assert sandbox.control.request(method, path, json=body).status_code == 400


def test_health_says_what_runs(sandbox: Running) -> None:
    health = sandbox.control.get("/_control/health").json()
    assert (health["status"], health["population"], health["seed"]) == ("ok", 2000, 7)
    assert health["providers"] == ["people", "network", "payments"]
