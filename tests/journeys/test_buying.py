"""Purchases on the running installation with real rows, workflows, provider pages and callbacks."""

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.journeys.recruiter import Recruiter
from tests.services import Facts

BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}


@pytest.fixture
def sandbox(running_stack: Facts) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=str(running_stack["sandbox_url"]), trust_env=False, timeout=30) as client:
        yield client


def checkout(recruiter: Recruiter) -> dict[str, Any]:
    headers = {"Idempotency-Key": uuid4().hex}
    answer = recruiter.call("POST", "/v1/billing/checkout", json={"item": "pack", **BACK}, headers=headers)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def credits_become(recruiter: Recruiter, wanted: int) -> None:
    deadline = time.monotonic() + 60
    while (found := recruiter.get("/v1/billing/balance")["balance_credits"]) != wanted:
        assert time.monotonic() < deadline, found
        time.sleep(0.3)


def test_a_pack_is_granted_once_although_each_callback_comes_twice(running_stack: Facts, sandbox: httpx.Client) -> None:
    recruiter = Recruiter.join(dict(running_stack))
    made = checkout(recruiter)
    body = {"session_id": made["session_id"], "outcome": "paid", "twice": True}
    assert sandbox.post("/_control/payments/complete", json=body).is_success
    credits_become(recruiter, 8750)
    entries = recruiter.get("/v1/billing/ledger")["data"]
    assert [(entry["kind"], entry["credits"]) for entry in entries] == [("grant", 7500), ("grant", 1250)]


def test_a_checkout_whose_creation_got_no_answer_is_read_back_while_the_caller_waits(
    running_stack: Facts, sandbox: httpx.Client
) -> None:
    recruiter = Recruiter.join(dict(running_stack))
    fault = {"provider": "payments", "operation": "checkout/create", "fault": "connection_lost", "count": 1}
    sandbox.post("/_control/faults", json=fault | {"after_execution": True}).raise_for_status()
    made = checkout(recruiter)
    known = sandbox.get("/_control/payments").json()["checkout.session"]
    assert [page["id"] for page in known if page["client_reference_id"] == made["id"]] == [made["session_id"]]
