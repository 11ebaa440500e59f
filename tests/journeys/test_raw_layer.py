"""The raw layer on a running installation: jobs and lookups survive kills, equal calls are charged once."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.recruiter import Json, Recruiter

pytestmark = pytest.mark.timeout(600)

LATENCY_MS = 700
"""The latency of every upstream call, long enough for a kill during one."""
ENDED = {"completed", "failed"}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "1500", "--virtual-time") as running:
        yield running


@pytest.fixture(autouse=True)
def slow_source(installation: Installation) -> Iterator[None]:
    installation.fault(fault="latency", latency_ms=LATENCY_MS)
    yield
    installation.no_faults()


def spend(recruiter: Recruiter, path: str, body: Json, *, key: str | None = None) -> Json:
    answer = recruiter.call("POST", path, json=body, headers={"Idempotency-Key": key or uuid4().hex})
    assert answer.status_code in {200, 202}, answer.text
    made: Json = answer.json()
    return made


def find(recruiter: Recruiter, count: int, country: str) -> list[Json]:
    ask = {"filters": {"countries": [country]}, "limit": count, "view": "compact"}
    found: list[Json] = spend(recruiter, "/v1/people/search", ask)["data"]
    return found


def ended(recruiter: Recruiter, path: str, *, within: float = 120) -> Json:
    deadline = time.monotonic() + within
    while (row := recruiter.get(path))["status"] not in ENDED:
        assert time.monotonic() < deadline, row
        time.sleep(0.6)
    return row


def paid(recruiter: Recruiter) -> dict[str, int]:
    return dict(recruiter.charges())


def told(recruiter: Recruiter, kind: str) -> list[Json]:
    return [one["data"] for one in recruiter.get("/v1/events", params={"limit": 100})["data"] if one["type"] == kind]


@pytest.mark.slow
@pytest.mark.parametrize("victim", ["worker", "upstream", "api"])
def test_a_job_and_a_lookup_survive_the_kill_of(victim: str, installation: Installation) -> None:
    recruiter = Recruiter.join(installation.facts)
    people = find(recruiter, 20, {"worker": "US", "upstream": "DE", "api": "GB"}[victim])
    ids = [one["id"] for one in people]
    job = spend(recruiter, "/v1/people:fetch", {"profile_ids": ids, "async": True, "max_age_days": 0})["id"]
    lookup = spend(recruiter, "/v1/people/contacts:fetch", {"profile_ids": ids, "want": ["email"]})["id"]
    time.sleep(0.4)
    installation.command("kill", victim)
    installation.command("restart", victim)
    done = ended(recruiter, f"/v1/jobs/{job}")
    found = ended(recruiter, f"/v1/people/contacts/{lookup}")
    assert (done["status"], found["status"]) == ("completed", "completed")
    results = recruiter.get(f"/v1/jobs/{job}/results", params={"limit": 100})["data"]
    assert [row["input"] for row in results] == ids
    fetched = sum(row["status"] == "found" for row in results)
    details = sum(row["status"] == "found" for row in found["contacts"])
    assert fetched > 15
    assert paid(recruiter) == {
        "lead": len(ids),
        "live_profile": 2 * fetched,
        **({"contact": 25 * details} if details else {}),
    }
    assert [one["job_id"] for one in told(recruiter, "job.completed")] == [job]
    assert [one["found"] for one in told(recruiter, "contacts.completed")] == [details]


@pytest.mark.slow
def test_a_busy_source_is_waited_for(installation: Installation) -> None:
    recruiter = Recruiter.join(installation.facts)
    ids = [one["id"] for one in find(recruiter, 3, "FR")]
    installation.fault(fault="server_error", status=503)
    job = spend(recruiter, "/v1/people:fetch", {"profile_ids": ids, "async": True, "max_age_days": 0})["id"]
    lookup = spend(recruiter, "/v1/people/contacts:fetch", {"profile_ids": ids, "want": ["email"]})["id"]
    installation.command("advance", "5m")
    for path in (f"/v1/jobs/{job}", f"/v1/people/contacts/{lookup}"):
        waiting = recruiter.get(path)
        assert waiting["status"] == "waiting_for_quota"
        assert waiting["retry_at"] is not None
    assert set(paid(recruiter)) == {"lead"}
    installation.no_faults()
    installation.command("advance", "1h")
    assert ended(recruiter, f"/v1/jobs/{job}")["status"] == "completed"
    assert ended(recruiter, f"/v1/people/contacts/{lookup}")["status"] == "completed"


@pytest.mark.slow
def test_twenty_equal_calls_make_one_request_and_one_charge_even_when_the_api_dies(installation: Installation) -> None:
    recruiter = Recruiter.join(installation.facts)
    ids = [one["id"] for one in find(recruiter, 4, "NL")]
    before = installation.people_log()["calls"].get("person/bulk", 0)
    body = {"profile_ids": ids, "max_age_days": 0}

    def call(_: int) -> Json:
        return spend(recruiter, "/v1/people:fetch", body, key="same")

    with ThreadPoolExecutor(20) as pool:
        calls = pool.map(call, range(20))
        time.sleep(0.4)
        installation.command("kill", "api")
        installation.command("restart", "api")
        answers = list(calls)
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["charged_credits"] == 8
    assert paid(recruiter) == {"lead": 4, "live_profile": 8}
    assert installation.people_log()["calls"]["person/bulk"] - before == 1


@pytest.mark.slow
def test_after_an_erasure_temporals_files_and_the_logs_contain_nothing_of_the_person(
    installation: Installation,
) -> None:
    recruiter = Recruiter.join(installation.facts)
    people = find(recruiter, 30, "US")
    person = next(one for one in people if one["profile_url"])
    slug = person["profile_url"].rsplit("/", 1)[-1]
    url = {"profile_urls": [person["profile_url"]], "max_age_days": 0}
    spend(recruiter, "/v1/people:fetch", url)
    job = spend(recruiter, "/v1/people:fetch", url | {"async": True})["id"]
    ended(recruiter, f"/v1/jobs/{job}")
    lookup = spend(recruiter, "/v1/people/contacts:fetch", {"profile_ids": [person["id"]], "want": ["email"]})["id"]
    contacts = ended(recruiter, f"/v1/people/contacts/{lookup}")["contacts"]
    match = {"full_name": person["full_name"], "company": person["company"]}
    spend(recruiter, "/v1/people:match", match)
    recruiter.call("PATCH", f"/v1/seen/{person['id']}", json={"note": f"Ask {person['full_name']} again"})
    erased = recruiter.call("POST", "/v1/erasures", json={"profile_url": person["profile_url"] + "/?x=1"})
    assert erased.status_code == 202, erased.text
    needles = [slug, person["full_name"], *(value for row in contacts for value in row["values"])]
    assert files_with(installation, needles) == []
    assert files_with(installation, ["job/"]) != []


def files_with(installation: Installation, needles: list[str]) -> list[str]:
    """Return Temporal's files and logs that contain one of the texts, in any letter case."""
    home = installation.home
    files = [*home.glob("temporal.db*"), *(home / "logs").glob("*.log")]
    assert len(files) > 4
    words = [needle.lower().encode() for needle in needles]
    return [file.name for file in files if any(word in file.read_bytes().lower() for word in words)]


@pytest.mark.slow
def test_the_opt_out_feed_is_read_every_night(installation: Installation) -> None:
    recruiter = Recruiter.join(installation.facts)
    person = find(recruiter, 1, "ES")[0]
    spend(recruiter, "/v1/people:fetch", {"profile_ids": [person["id"]]})
    truth = httpx.get(
        f"{installation.facts['sandbox_url']}/_control/people",
        params={"country": "spain", "limit": 1000},
        trust_env=False,
    ).json()["data"]
    slug = person["profile_url"].rsplit("/", 1)[-1].lower()
    source_id = next(one["id"] for one in truth if slug in str(one["record"]["linkedin_url"]))
    changed = httpx.post(
        f"{installation.facts['sandbox_url']}/_control/people/{source_id}", json={"state": "opted_out"}, trust_env=False
    )
    changed.raise_for_status()
    assert recruiter.call("GET", f"/v1/people/{person['id']}").status_code == 200
    installation.command("advance", "25h")
    gone: Any = recruiter.call("GET", f"/v1/people/{person['id']}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "suppressed")
