"""What the loads' reckonings find: each broken promise is named, and a kept one is not."""

from typing import Any

import pytest

from models.events.rules.deliveries import signature
from tests.chaos.listening import ambiguous, forged, untold
from tests.chaos.purchases import purchase_faults
from tests.chaos.searches import search_faults

Json = dict[str, Any]


def world(**changed: Any) -> Json:
    """Two people delivered by one run, one of them fetched anew by one job: 2 leads, 3 live profiles."""
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
        ({"runs": run(stop_reason=None)}, "no stated reason"),
        ({"runs": run(progress={"candidates_delivered": 3})}, "says 3 were delivered"),
        ({"delivered": {"run_1": ["prof_1", "prof_1"]}}, "delivered 2 times: prof_1"),
        ({"charges": {"lead": 3, "live_profile": 6}}, "charged"),
        ({"charges": {"lead": 2, "live_profile": 8}}, "charged"),
        ({"found": {"job_1": 0}}, "charged"),
        ({"jobs": [{"id": "job_1", "status": "running", "spent_credits": 2}]}, "does not end"),
        ({"jobs": [{"id": "job_1", "status": "completed", "spent_credits": 4}]}, "otherwise than the ledger"),
        ({"balance": 90}, "90 left"),
    ],
)
def test_what_searches_owe_is_named(changed: Json, named: str) -> None:
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
def test_what_purchases_owe_is_named(payments: list[str], grants: list[int], paid: int, fault: bool) -> None:  # noqa: FBT001
    assert bool(purchase_faults(payments, grants, paid)) == fault


def signed_as(secret: str, body: bytes) -> dict[str, str]:
    return {"X-Service-Signature": signature(secret, at=1_800_000_000, body=body)}


def test_a_webhook_that_is_not_signed_by_its_accounts_secret_is_named() -> None:
    body, secrets = b'{"id": "evt_1"}', {"ws_1": "whsec_one"}
    path = "/hook/ws_1"
    assert forged([(path, signed_as("whsec_one", body), body)], secrets) == []
    assert forged([(path, signed_as("whsec_two", body), body)], secrets) != []
    assert forged([(path, signed_as("whsec_one", body), b'{"id": "evt_2"}')], secrets) != []


def told_of(number: int) -> tuple[str, dict[str, str], bytes]:
    return "/hook/ws_1", {}, b'{"id": "evt_1", "number": %d}' % number


def test_an_event_that_no_webhook_told_of_is_named() -> None:
    received = [told_of(1), told_of(1)]
    first, second = [{"type": "run.completed", "id": one} for one in ("evt_1", "evt_2")]
    assert untold([first], received) == []
    assert untold([first, second], received) == ["nobody was told of run.completed evt_2"]


def test_an_id_under_which_two_things_are_told_is_named() -> None:
    assert ambiguous([told_of(1), told_of(1)]) == []
    assert ambiguous([told_of(1), told_of(2)]) == ["told of 2 things as evt_1"]
