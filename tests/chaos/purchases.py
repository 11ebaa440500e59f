"""A load of pack purchases on the provider's page and auto-refills; each payment must be granted exactly once."""

from datetime import UTC, datetime
from uuid import uuid4

import httpx

from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.installation import Installation
from tests.journeys.paying import BACK, with_card
from tests.journeys.recruiter import Recruiter

PACK = 7500
REFILLS = {"enabled": True, "threshold_credits": 1_000_000, "monthly_cap_cents": 19_800}
REFILLS_A_MONTH = 2


class Purchases(Load):
    """One recruiter who buys a pack a day; the provider sends each callback twice."""

    def __init__(self, installation: Installation) -> None:
        self._sandbox = installation.facts["sandbox_url"]
        self.recruiter = Recruiter.join(installation.facts, name="Purchases")
        self._customer = with_card(installation.facts, self.recruiter)
        self.recruiter.patience = PATIENCE_SECONDS
        self._paid = 1
        self._refills = False

    def day(self, number: int) -> None:
        """Buy one pack; on the first day also enable auto-refill."""
        if not self._refills:
            assert self.recruiter.call("PUT", "/v1/billing/auto-refill", json=REFILLS).status_code == 200
            self._refills = True
        headers = {"Idempotency-Key": uuid4().hex}
        made = self.recruiter.call("POST", "/v1/billing/checkout", json={"item": "pack", **BACK}, headers=headers)
        assert made.status_code == 201, made.text
        paid = {"session_id": made.json()["session_id"], "outcome": "paid", "twice": True}
        url = f"{self._sandbox}/_control/payments/complete"
        httpx.post(url, json=paid, trust_env=False, timeout=30).raise_for_status()
        self._paid += 1

    def progress(self) -> str:
        return f"{self._paid} packs paid"

    def has_ended(self) -> bool:
        return len(self._grants()) >= len(self._payments()) and self._refill()["status"] in {"cap_reached", "ready"}

    def _refill(self) -> dict[str, object]:
        return self.recruiter.get("/v1/billing/auto-refill")

    def _grants(self) -> list[int]:
        grants = self.recruiter.get("/v1/billing/balance")["grants"]
        return [one["granted_credits"] for one in grants if one["source"] == "top_up"]

    def _payments(self) -> list[str]:
        """Return the month of each successful payment, for purchases and refills."""
        shown = httpx.get(f"{self._sandbox}/_control/payments", trust_env=False, timeout=30).json()
        mine = [one for one in shown["payment_intent"] if one["customer"] == self._customer]
        taken = [one["created"] for one in mine if one["status"] == "succeeded"]
        return [datetime.fromtimestamp(at, UTC).strftime("%Y-%m") for at in taken]

    def faults(self) -> list[str]:
        return purchase_faults(self._payments(), self._grants(), self._paid)


def purchase_faults(payments: list[str], grants: list[int], paid: int) -> list[str]:
    """Return the contradictions between provider and ledger after `paid` purchases and any number of refills.

    `payments` are the months of the successful payments, `grants` the credits of each grant.
    """
    wrong = []
    if grants != [PACK] * len(payments):
        wrong.append(f"{len(payments)} payments taken, grants of {grants}")
    if not paid <= len(payments) <= paid + REFILLS_A_MONTH * len(set(payments)):
        wrong.append(f"{paid} pages paid, {REFILLS_A_MONTH} refills a month at most, payments taken in {payments}")
    return wrong
