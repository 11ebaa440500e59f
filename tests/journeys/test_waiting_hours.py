"""Waits of hours and days on a real installation, shortened to seconds by virtual time."""

from collections.abc import Iterator

import pytest

from tests.journeys.installation import Installation
from tests.journeys.recruiter import Recruiter

pytestmark = pytest.mark.timeout(300)


@pytest.fixture
def installation(moved_installation: Installation) -> Iterator[Installation]:
    yield moved_installation
    moved_installation.no_faults()


def test_a_run_whose_source_stays_busy_ends_after_three_hours_and_costs_nothing(installation: Installation) -> None:
    installation.fault(fault="server_error", status=503)
    recruiter = Recruiter.join(installation.facts)
    run_id = recruiter.start_run(target=30)
    installation.command("advance", "20m")
    waiting = recruiter.run(run_id)
    assert waiting["status"] == "waiting_for_quota"
    assert waiting["retry_at"] is not None
    installation.command("advance", "3h")
    run = recruiter.run(run_id)
    assert (run["status"], run["stop_reason"], run["spent"]["credits"]) == ("completed", "time", 0)
    installation.no_faults()
    extended = recruiter.call(
        "POST", f"/v1/runs/{run_id}/extend", json={"add_target": 1}, headers={"Idempotency-Key": "more"}
    )
    assert extended.status_code == 202, extended.text
    installation.command("advance", "1m")
    assert recruiter.finished(run_id)["progress"]["candidates_delivered"] > 0


def test_a_run_continues_on_its_own_when_the_source_is_back(installation: Installation) -> None:
    installation.fault(fault="server_error", status=503)
    recruiter = Recruiter.join(installation.facts)
    run_id = recruiter.start_run(target=30)
    installation.command("advance", "10m")
    assert recruiter.run(run_id)["status"] == "waiting_for_quota"
    installation.no_faults()
    installation.command("advance", "30m")
    assert recruiter.run(run_id)["status"] == "completed"


def test_signup_credits_expire_after_thirty_days_with_an_entry(installation: Installation) -> None:
    recruiter = Recruiter.join(installation.facts)
    installation.command("advance", "31d")
    assert recruiter.get("/v1/billing/balance")["balance_credits"] == 0
    kinds = [(entry["kind"], entry["credits"]) for entry in recruiter.get("/v1/billing/ledger")["data"]]
    assert kinds == [("expiry", -1250), ("grant", 1250)]
