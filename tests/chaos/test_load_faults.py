"""The loads' checks report each broken promise and accept a kept one."""

from typing import Any

import pytest

from models.events.rules.deliveries import signature
from tests.chaos.purchases import purchase_faults
from tests.chaos.searches import search_faults
from tests.chaos.webhooks import ambiguous, forged, undelivered

Json = dict[str, Any]


def world(**changed: Any) -> Json:
    """Return two people delivered by one run, one of them fetched again by one job: 2 leads, 3 live profiles."""
    run = {
        "id": "run_1",
        "status": "completed",
        "stop_reason": "finish",
        "failure": None,
        "progress": {"candidates_delivered": 2},
        "spent": {"credits": 6},
    }
    kept = {
        "runs": [run],
        "jobs": [{"id": "job_1", "status": "completed", "spent_credits": 2}],
        "delivered": {"run_1": ["prof_1", "prof_2"]},
        "found": {"job_1": 1},
        "charges": {"lead": 2, "live_profile": 6},
        "granted": 100,
        "balance": 92,
    }
    return kept | changed


def run(**changed: Any) -> list[Json]:
    return [world()["runs"][0] | changed]


def test_searches_that_kept_their_promises_have_no_faults() -> None:
    assert search_faults(**world()) == []


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"runs": run(status="running")}, "does not end"),
        ({"runs": run(status="failed")}, "does not end"),
        ({"runs": run(stop_reason=None)}, "no stop reason"),
        ({"runs": run(progress={"candidates_delivered": 3})}, "reports 3 delivered"),
        ({"delivered": {"run_1": ["prof_1", "prof_1"]}}, "delivered 2 times: prof_1"),
        ({"charges": {"lead": 3, "live_profile": 6}}, "charged"),
        ({"charges": {"lead": 2, "live_profile": 8}}, "charged"),
        ({"found": {"job_1": 0}}, "charged"),
        ({"jobs": [{"id": "job_1", "status": "running", "spent_credits": 2}]}, "does not end"),
        ({"jobs": [{"id": "job_1", "status": "completed", "spent_credits": 4}]}, "differ from the ledger"),
        ({"balance": 90}, "90 left"),
    ],
)
def test_a_broken_promise_about_searches_is_reported(changed: Json, named: str) -> None:
    assert any(named in fault for fault in search_faults(**world(**changed)))


@pytest.mark.parametrize(
    ("payments", "grants", "paid", "fault"),
    [
        (["2026-11"] * 2, [7500, 7500], 1, False),
        (["2026-11"] * 2, [7500], 1, True),
        (["2026-11"] * 2, [7500, 7500, 7500], 1, True),
        (["2026-11"], [7500], 2, True),
        (["2026-11"] * 4, [7500] * 4, 1, True),
        (["2026-11", "2026-11", "2026-11", "2026-12"], [7500] * 4, 1, False),
    ],
)
def test_a_broken_promise_about_purchases_is_reported(
    payments: list[str],
    grants: list[int],
    paid: int,
    fault: bool,
) -> None:
    assert bool(purchase_faults(payments, grants, paid)) == fault


def signed_as(secret: str, body: bytes) -> dict[str, str]:
    return {"X-Service-Signature": signature(secret, at=1_800_000_000, body=body)}


def test_a_webhook_that_is_not_signed_with_its_accounts_secret_is_reported() -> None:
    body, secrets = b'{"id": "evt_1"}', {"ws_1": "whsec_one"}
    path = "/hook/ws_1"
    assert forged([(path, signed_as("whsec_one", body), body)], secrets) == []
    assert forged([(path, signed_as("whsec_two", body), body)], secrets) != []
    assert forged([(path, signed_as("whsec_one", body), b'{"id": "evt_2"}')], secrets) != []


def webhook(number: int) -> tuple[str, dict[str, str], bytes]:
    return "/hook/ws_1", {}, b'{"id": "evt_1", "number": %d}' % number


def test_an_event_without_a_webhook_is_reported() -> None:
    received = [webhook(1), webhook(1)]
    first, second = [{"type": "run.completed", "id": one} for one in ("evt_1", "evt_2")]
    assert undelivered([first], received) == []
    assert undelivered([first, second], received) == ["no webhook for run.completed evt_2"]


def test_an_event_id_with_two_different_bodies_is_reported() -> None:
    assert ambiguous([webhook(1), webhook(1)]) == []
    assert ambiguous([webhook(1), webhook(2)]) == ["2 different bodies for evt_1"]
