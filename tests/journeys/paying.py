"""A payment method, stored the usual way: by a purchase on the provider's page."""

import time
from typing import Any
from uuid import uuid4

import httpx

from tests.journeys.recruiter import Recruiter

BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}


def with_card(facts: dict[str, Any], recruiter: Recruiter) -> str:
    """Buy a pack on the sandbox's page, wait until its callbacks are processed, and return the customer id."""
    before = recruiter.get("/v1/billing/balance")["balance_credits"]
    headers = {"Idempotency-Key": uuid4().hex}
    made = recruiter.call("POST", "/v1/billing/checkout", json={"item": "pack", **BACK}, headers=headers).json()
    pressed = httpx.post(made["checkout_url"], data={"outcome": "paid"}, trust_env=False, timeout=30)
    assert pressed.status_code == 303, pressed.text
    deadline = time.monotonic() + 60
    while recruiter.get("/v1/billing/balance")["balance_credits"] == before:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    shown = httpx.get(f"{facts['sandbox_url']}/_control/payments", trust_env=False, timeout=30).json()
    page = next(one for one in shown["checkout.session"] if one["id"] == made["session_id"])
    customer: str = page["customer"]
    return customer
