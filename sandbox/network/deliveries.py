"""Sends signed events to webhook endpoints, and retries failed deliveries."""

import hashlib
import hmac
import json
import time
from datetime import timedelta

import httpx

from sandbox.clock import Clock, rfc3339
from sandbox.faults import FaultKind, Faults
from sandbox.network.events import CALLBACK, DELIVERY, PROVIDER, Endpoint, Endpoints
from sandbox.network.schedule import Schedule, ScheduledEvent
from sandbox.network.schema import Ids, at_once
from sandbox.network.wire import Json, encoded
from sandbox.state import State

SIGNATURE = "unipile-signature"
ANSWER_SECONDS = 10.0
PAUSES_SECONDS = (30, 120, 600, 3600)
_STALE_SECONDS = 600
_SHOWN_OF_ANSWER = 1000


def signature(raw: bytes, *, secret: str, at: int) -> str:
    """Return the header's value: HMAC-SHA256 of time and body with the endpoint's secret."""
    digest = hmac.new(secret.encode(), f"{at}.".encode() + raw, hashlib.sha256).hexdigest()
    return f"t={at},v0={digest}"


class Deliveries:
    """Makes the attempts and stores the result of each."""

    def __init__(
        self,
        *,
        state: State,
        clock: Clock,
        ids: Ids,
        schedule: Schedule,
        endpoints: Endpoints,
        faults: Faults,
    ) -> None:
        self._state, self._clock, self._ids = state, clock, ids
        self._schedule, self._endpoints, self._faults = schedule, endpoints, faults

    async def attempt(self, event: ScheduledEvent) -> None:
        """Send one event once, and schedule the next attempt if it was not accepted."""
        body = event.body
        endpoint = self._endpoints.get(body["endpoint_id"])
        if endpoint is None or not endpoint.enabled:
            self._schedule.done(event)
            return
        status, answered = await self._post(endpoint, encoded(body["event"]))
        with at_once(self._state):
            self._schedule.done(event)
            self._note(endpoint, body, status, answered)
            taken = status is not None and 200 <= status < 300
            if not taken and body["attempt"] <= len(PAUSES_SECONDS):
                pause = timedelta(seconds=PAUSES_SECONDS[body["attempt"] - 1])
                self._schedule.add(DELIVERY, body | {"attempt": body["attempt"] + 1}, after=pause)

    def conversations(self, endpoint_id: str | None) -> list[Json]:
        """Return all attempts or those of one endpoint, newest first."""
        rows = self._state.database.execute(
            "select body from network_conversations where ? is null or endpoint_id = ? order by seq desc",
            (endpoint_id, endpoint_id),
        ).fetchall()
        return [json.loads(body) for (body,) in rows]

    async def _post(self, endpoint: Endpoint, raw: bytes) -> tuple[int | None, str | None]:
        if self._struck(FaultKind.LOST_CALLBACK):
            # The provider believes that it was delivered, so there is no retry.
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
