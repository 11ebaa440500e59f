"""A receiver of webhooks beside the loads: every event of their accounts must arrive at least once, and signed."""

import json
from collections import Counter

import stripe

from tests.chaos.loads import PATIENCE_SECONDS, Load
from tests.journeys.receiver import Receiver
from tests.journeys.recruiter import Recruiter

PATH = "/v1/webhook-endpoints"
Webhook = tuple[str, dict[str, str], bytes]
"""Path, headers and body."""


class Webhooks(Load):
    """One endpoint for all events of each recruiter's account."""

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
        """Do nothing: this load only receives."""

    def progress(self) -> str:
        return f"{len(self._receiver.received)} webhooks"

    def received_types(self) -> Counter[str]:
        """Count the received webhooks by type."""
        return Counter(json.loads(body)["type"] for _, _, body in self._receiver.received)

    def has_ended(self) -> bool:
        return not self._missing()

    def close(self) -> None:
        """Stop receiving."""
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
        """Return the events since the creation of the endpoints that no webhook delivered."""
        events = [
            event
            for recruiter in self._recruiters
            for event in self._events(recruiter)
            if event["id"] not in self._since[recruiter.workspace_id]
        ]
        return undelivered(events, self._receiver.received)

    def faults(self) -> list[str]:
        received = self._receiver.received
        return [*self._missing(), *forged(received, self._secrets), *ambiguous(received)]


def undelivered(events: list[dict[str, str]], received: list[Webhook]) -> list[str]:
    """Return the events that no webhook delivered."""
    delivered = {json.loads(body)["id"] for _, _, body in received}
    return [f"no webhook for {event['type']} {event['id']}" for event in events if event["id"] not in delivered]


def ambiguous(received: list[Webhook]) -> list[str]:
    """Return event ids that came with different bodies, of which a receiver that drops repeated ids would lose one."""
    bodies: dict[str, set[bytes]] = {}
    for _, _, body in received:
        bodies.setdefault(json.loads(body)["id"], set()).add(body)
    return [
        f"{len(different)} different bodies for {event_id}"
        for event_id, different in bodies.items()
        if len(different) > 1
    ]


def forged(received: list[Webhook], secrets: dict[str, str]) -> list[str]:
    """Return the webhooks that are not signed with their account's secret, by path."""
    wrong = []
    for path, headers, body in received:
        secret = secrets[path.rpartition("/")[2]]
        try:
            stripe.WebhookSignature.verify_header(body.decode(), headers["X-Service-Signature"], secret, None)
        except stripe.SignatureVerificationError as error:
            wrong.append(f"wrong signature:  {path}: {error}")
    return wrong
