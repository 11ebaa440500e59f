"""Purchases on a real installation: a plan over several months, a pack, auto-refill, and a declined card."""

import time
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.journeys.installation import Installation, installed
from tests.journeys.outreach import Outreach
from tests.journeys.recruiter import Recruiter

pytestmark = [pytest.mark.timeout(400), pytest.mark.slow]  # months pass

BACK = {"success_url": "https://app.example/paid", "cancel_url": "https://app.example/left"}


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    with installed("--population", "300", "--virtual-time") as running:
        yield running


def steer(installation: Installation, path: str, **body: Any) -> dict[str, Any]:
    """Control the sandbox's payment provider."""
    url = f"{installation.facts['sandbox_url']}/_control/payments/{path}"
    answer = httpx.post(url, json=body, trust_env=False, timeout=30)
    assert answer.is_success, answer.text
    read: dict[str, Any] = answer.json()
    return read


def buy(installation: Installation, recruiter: Recruiter, item: str) -> dict[str, Any]:
    """Open a checkout, pay (the provider sends each callback twice), wait for the credits and return the session."""
    before = recruiter.get("/v1/billing/balance")["balance_credits"]
    headers = {"Idempotency-Key": uuid4().hex}
    made = recruiter.call("POST", "/v1/billing/checkout", json={"item": item, **BACK}, headers=headers).json()
    paid = steer(installation, "complete", session_id=made["session_id"], outcome="paid", twice=True)
    deadline = time.monotonic() + 60
    while recruiter.get("/v1/billing/balance")["balance_credits"] == before:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    session: dict[str, Any] = paid["session"]
    return session


def by_source(recruiter: Recruiter) -> dict[str, int]:
    shown = recruiter.get("/v1/billing/balance")["by_source"]
    return {each["source"]: each["remaining_credits"] for each in shown}


def test_a_plan_renews_monthly_rolls_over_twice_and_stops_when_its_card_is_declined(
    installation: Installation,
) -> None:
    recruiter = Recruiter.join(installation.facts)
    session = buy(installation, recruiter, "starter")
    assert by_source(recruiter) == {"signup": 1250, "plan": 5000}
    seen = []
    for _ in range(4):
        installation.command("advance", "31d")
        seen.append(by_source(recruiter))
    assert seen == [{"plan": 10_000}, *[{"plan": 15_000}] * 3]
    kinds = [entry["kind"] for entry in recruiter.get("/v1/billing/ledger", params={"limit": 100})["data"]]
    assert (kinds.count("grant"), kinds.count("expiry")) == (6, 3)
    steer(installation, "cards", customer_id=session["customer"], state="declines")
    installation.command("advance", "60d")
    shown = httpx.get(f"{installation.facts['sandbox_url']}/_control/payments", trust_env=False).json()
    theirs = [plan for plan in shown["subscription"] if plan["customer"] == session["customer"]]
    assert [plan["status"] for plan in theirs] == ["canceled"]
    assert by_source(recruiter) == {"plan": 5000}
    headers = {"Idempotency-Key": uuid4().hex}
    again = recruiter.call("POST", "/v1/billing/checkout", json={"item": "starter", **BACK}, headers=headers)
    assert again.status_code == 201


def test_auto_refill_buys_up_to_the_monthly_cap_and_resumes_next_month_after_a_decline(
    installation: Installation,
) -> None:
    recruiter = Recruiter.join(installation.facts)
    session = buy(installation, recruiter, "pack")
    now = installation.command("now").strip()
    installation.command("advance", "--until", f"{int(now[:4]) + 1}-01-01T00:00:00Z")
    steer(installation, "cards", customer_id=session["customer"], state="declines")
    wished = {"enabled": True, "threshold_credits": 1_000_000, "monthly_cap_cents": 19_800}
    assert recruiter.call("PUT", "/v1/billing/auto-refill", json=wished).status_code == 200
    installation.command("advance", "30m")
    assert recruiter.get("/v1/billing/auto-refill")["status"] == "payment_failed"
    assert by_source(recruiter) == {"top_up": 7500}
    steer(installation, "cards", customer_id=session["customer"], state="works")
    installation.command("advance", "1d")
    shown = recruiter.get("/v1/billing/auto-refill")
    assert (shown["status"], shown["spent_this_month_cents"]) == ("cap_reached", 19_800)
    assert by_source(recruiter) == {"top_up": 22_500}
    installation.command("advance", "31d")
    assert by_source(recruiter) == {"top_up": 37_500}


def test_an_outreach_account_is_charged_each_month_until_it_is_removed(installation: Installation) -> None:
    made = Outreach.begin(installation)
    recruiter = made.recruiter
    provider_url = f"{installation.facts['sandbox_url']}/_control/payments"
    customer = httpx.get(provider_url, trust_env=False).json()["customer"][0]

    def cost() -> tuple[int, str]:
        shown = recruiter.get("/v1/billing/balance")["outreach"]
        return shown["accounts"], shown["status"]

    def subscription() -> dict[str, Any]:
        shown = httpx.get(provider_url, trust_env=False).json()
        [found] = [one for one in shown["subscription"] if one["customer"] == customer["id"]]
        totals = [one["total"] for one in reversed(shown["invoice"]) if one["customer"] == customer["id"]]
        return {"status": found["status"], "totals": totals}

    assert cost() == (1, "active")
    installation.command("advance", "31d")
    assert subscription() == {"status": "active", "totals": [4900, 4900]}
    steer(installation, "cards", customer_id=customer["id"], state="declines")
    installation.command("advance", "33d")  # the month ends unpaid, and more than two weeks pass
    assert cost()[0] == 1
    assert cost()[1] in {"unpaid", "on_hold"}
    steer(installation, "cards", customer_id=customer["id"], state="works")
    installation.command("advance", "15d")
    assert cost() == (1, "active")
    removed = recruiter.call("DELETE", f"/v1/outreach/accounts/{made.account_id}")
    assert removed.status_code == 204, removed.text
    installation.command("advance", "10m")
    assert cost() == (0, "off")
    assert subscription()["status"] == "canceled"
    assert subscription()["totals"][-1] < 0
