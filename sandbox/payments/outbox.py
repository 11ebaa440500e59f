"""Signed events to the service: sent immediately, retried after a refusal, dropped after three days."""

import asyncio
import hashlib
import hmac
import time

import httpx

from sandbox.clock import Clock
from sandbox.faults import FaultKind, Faults
from sandbox.payments.billing import Billing
from sandbox.payments.gate import PROVIDER
from sandbox.payments.ledger import Ledger

CALLBACK = "callback"
"""The operation name for ordering faults of callbacks."""
LOOK_SECONDS = 0.1
ANSWER_SECONDS = 10.0
RETRY_SECONDS = (60, 300, 1800, 7200, 18_000, 36_000, *[43_200] * 4)


def signature(secret: str, body: str, *, at: int) -> str:
    """Return the `Stripe-Signature` header."""
    made = hmac.new(secret.encode(), f"{at}.{body}".encode(), hashlib.sha256).hexdigest()
    return f"t={at},v1={made}"


class Outbox:
    """Sends the ledger's due events; without a `url`, events stay in the ledger."""

    def __init__(
        self, ledger: Ledger, billing: Billing, clock: Clock, faults: Faults, *, url: str | None, secret: str
    ) -> None:
        self._ledger = ledger
        self._billing = billing
        self._clock = clock
        self._faults = faults
        self._url = url
        self._secret = secret
        self._sending = asyncio.Lock()

    @property
    def has_receiver(self) -> bool:
        """Whether there is a receiver."""
        return self._url is not None

    async def run(self) -> None:
        """Execute what is due and send the events, forever."""
        while True:
            self._billing.act()
            await self.flush()
            await asyncio.sleep(LOOK_SECONDS)

    async def flush(self) -> None:
        """Send all due events in order."""
        if self._url is None:
            return
        async with self._sending:
            due = self._ledger.due_events()
            if not due:
                return  # ten times a second: a client that is made reads every certificate
            async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS) as http:
                for number, _, body, attempts in due:
                    status = await self._send(http, self._url, body)
                    self._ledger.note_attempt(number, status, due=self._again(status, attempts))

    def _again(self, status: int | None, attempts: int) -> float | None:
        delivered = status is not None and 200 <= status < 300
        if delivered or attempts >= len(RETRY_SECONDS):
            return None
        return self._clock.now().timestamp() + RETRY_SECONDS[attempts]

    async def _send(self, http: httpx.AsyncClient, url: str, body: str) -> int | None:
        def struck(kind: FaultKind) -> bool:
            return self._faults.strike(PROVIDER, CALLBACK, kind) is not None

        if struck(FaultKind.LOST_CALLBACK):
            return None
        headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Stripe/1.0"}
        if not struck(FaultKind.MISSING_SIGNATURE):
            secret = "wrong" if struck(FaultKind.WRONG_SIGNATURE) else self._secret
            headers["Stripe-Signature"] = signature(secret, body, at=int(time.time()))
        try:
            return (await http.post(url, content=body.encode(), headers=headers)).status_code
        except httpx.HTTPError:
            return None
