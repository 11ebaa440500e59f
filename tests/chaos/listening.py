"""A receiver of webhooks beside the loads: every event of their accounts comes at least once, and signed."""

import json
from collections import Counter

import stripe

from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.receiver import Receiver
from tests.journeys.recruiter import Recruiter

PATH = "/v1/webhook-endpoints"
Webhook = tuple[str, dict[str, str], bytes]
"""Path, headers and body."""


class Listening(Load):
    """One endpoint for all events at each recruiter's account."""

    def __init__(self, *recruiters: Recruiter) -> None:
        self._receiver = Receiver()
        self._secrets: dict[str, str] = {}
        self._recruiters = recruiters
        for recruiter in recruiters:
            recruiter.patience = PATIENCE_SECONDS
            made = recruiter.call("POST", PATH, json={"url": f"{self._receiver.url}/{recruiter.workspace_id}"})
            assert made.status_code == 201, made.text
            self._secrets[recruiter.workspace_id] = made.json()["secret"]
        self._since = {one.workspace_id: {event["id"] for event in self._events(one)} for one in recruiters}

    def day(self, number: int) -> None:
        """It only listens."""

    def told(self) -> str:
        return f"{len(self._receiver.received)} webhooks"

    def heard(self) -> Counter[str]:
        """How many webhooks of each type came."""
        return Counter(json.loads(body)["type"] for _, _, body in self._receiver.received)

    def has_ended(self) -> bool:
        return not self._missing()

    def close(self) -> None:
        """Listen no more."""
        self._receiver.shutdown()
        self._receiver.server_close()

    def _events(self, recruiter: Recruiter) -> list[dict[str, str]]:
        rows: list[dict[str, str]] = []
        cursor: dict[str, str] = {}
        while True:
            page = recruiter.get("/v1/events", params={"limit": 100} | cursor)
            rows += page["data"]
            if not page["has_more"]:
                return rows
            cursor = {"cursor": page["next_cursor"]}

    def _missing(self) -> list[str]:
        """Events since the endpoints were made that no webhook told of."""
        events = [
            event
            for recruiter in self._recruiters
            for event in self._events(recruiter)
            if event["id"] not in self._since[recruiter.workspace_id]
        ]
        return untold(events, self._receiver.received)

    def faults(self) -> list[str]:
        received = self._receiver.received
        return [*self._missing(), *forged(received, self._secrets), *ambiguous(received)]


def untold(events: list[dict[str, str]], received: list[Webhook]) -> list[str]:
    """Events that no webhook told of."""
    told = {json.loads(body)["id"] for _, _, body in received}
    return [f"nobody was told of {event['type']} {event['id']}" for event in events if event["id"] not in told]


def ambiguous(received: list[Webhook]) -> list[str]:
    """Ids under which different things were told, so that whoever drops what came before drops too much."""
    bodies: dict[str, set[bytes]] = {}
    for _, _, body in received:
        bodies.setdefault(json.loads(body)["id"], set()).add(body)
    return [f"told of {len(said)} things as {event_id}" for event_id, said in bodies.items() if len(said) > 1]


def forged(received: list[Webhook], secrets: dict[str, str]) -> list[str]:
    """Webhooks that are not signed with their account's secret, by path."""
    wrong = []
    for path, headers, body in received:
        secret = secrets[path.rpartition("/")[2]]
        try:
            stripe.WebhookSignature.verify_header(body.decode(), headers["X-Service-Signature"], secret, None)
        except stripe.SignatureVerificationError as error:
            wrong.append(f"not signed as promised: {path}: {error}")
    return wrong
