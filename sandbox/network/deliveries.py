"""Sends events to webhook endpoints, signed, and again when nobody takes them."""

import hashlib
import hmac
import json
import time
from datetime import timedelta

import httpx

from sandbox.clock import Clock, rfc3339
from sandbox.faults import FaultKind, Faults
from sandbox.network.events import CALLBACK, DELIVERY, PROVIDER, Endpoint, Endpoints
from sandbox.network.happenings import Happening, Happenings
from sandbox.network.schema import Ids, at_once
from sandbox.network.wire import Json, encoded
from sandbox.state import State

SIGNATURE = "unipile-signature"
ANSWER_SECONDS = 10.0
PAUSES_SECONDS = (30, 120, 600, 3600)
_STALE_SECONDS = 600
_SHOWN_OF_ANSWER = 1000


def signature(raw: bytes, *, secret: str, at: int) -> str:
    """The value of the header: HMAC-SHA256 of time and body with the secret of the endpoint."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + raw, hashlib.sha256).hexdigest()
    return f"t={at},v0={digest}"


class Deliveries:
    """Makes the attempts and keeps what came of each."""

    def __init__(
        self,
        *,
        state: State,
        clock: Clock,
        ids: Ids,
        happenings: Happenings,
        endpoints: Endpoints,
        faults: Faults,
    ) -> None:
        self._state, self._clock, self._ids = state, clock, ids
        self._happenings, self._endpoints, self._faults = happenings, endpoints, faults

    async def attempt(self, happening: Happening) -> None:
        """Send one event once; plan the next attempt when it was not taken."""
        body = happening.body
        endpoint = self._endpoints.get(body["endpoint_id"])
        if endpoint is None or not endpoint.enabled:
            self._happenings.done(happening)
            return
        status, answered = await self._post(endpoint, encoded(body["event"]))
        with at_once(self._state):
            self._happenings.done(happening)
            self._note(endpoint, body, status, answered)
            taken = status is not None and 200 <= status < 300
            if not taken and body["attempt"] <= len(PAUSES_SECONDS):
                pause = timedelta(seconds=PAUSES_SECONDS[body["attempt"] - 1])
                self._happenings.add(DELIVERY, body | {"attempt": body["attempt"] + 1}, after=pause)

    def conversations(self, endpoint_id: str | None) -> list[Json]:
        """All attempts, of one endpoint when asked, the newest first."""
        rows = self._state.database.execute(
            "select body from network_conversations where ? is null or endpoint_id = ? order by seq desc",
            (endpoint_id, endpoint_id),
        ).fetchall()
        return [json.loads(body) for (body,) in rows]

    async def _post(self, endpoint: Endpoint, raw: bytes) -> tuple[int | None, str | None]:
        if self._struck(FaultKind.LOST_CALLBACK):
            # The provider believes that it was taken, so it comes never again.
            return 200, "lost on purpose"
        headers = {"content-type": "application/json"} | self._signed(endpoint, raw)
        try:
            async with httpx.AsyncClient(trust_env=False, timeout=ANSWER_SECONDS) as client:
                answer = await client.post(endpoint.url, content=raw, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL):
            return None, None
        return answer.status_code, answer.text[:_SHOWN_OF_ANSWER]

    def _signed(self, endpoint: Endpoint, raw: bytes) -> dict[str, str]:
        now = int(time.time())
        if self._struck(FaultKind.MISSING_SIGNATURE):
            return {}
        if self._struck(FaultKind.WRONG_SIGNATURE):
            return {SIGNATURE: signature(raw, secret=endpoint.secret[::-1], at=now)}
        if self._struck(FaultKind.STALE_SIGNATURE):
            now -= _STALE_SECONDS
        return {SIGNATURE: signature(raw, secret=endpoint.secret, at=now)}

    def _note(self, endpoint: Endpoint, body: Json, status: int | None, answered: str | None) -> None:
        note = {
            "object": "WebhookConversation",
            "id": self._ids.plain("wc"),
            "endpoint_id": endpoint.id,
            "event_id": body["event"]["id"],
            "event_type": body["event"]["type"],
            "http_status": status,
            "response_body": answered,
            "first_attempt": body["attempt"] == 1,
            "endpoint_url": endpoint.url,
            "created_at": rfc3339(self._clock.now()),
        }
        self._state.database.execute(
            "insert into network_conversations (endpoint_id, body) values (?, ?)", (endpoint.id, json.dumps(note))
        )

    def _struck(self, kind: FaultKind) -> bool:
        return self._faults.strike(PROVIDER, CALLBACK, kind) is not None
