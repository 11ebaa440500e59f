"""What webhooks receive, for the OpenAPI document: every type of event with its headers and data."""

from collections.abc import Mapping
from typing import Any

from models.rules.events import DATA_OF, EventType

Document = dict[str, Any]

MEANING: Mapping[EventType, str] = {
    EventType.RUN_COMPLETED: "A run completed, with or without candidates.",
    EventType.RUN_FAILED: "A run failed.",
    EventType.RUN_CANCELLED: "A run was cancelled and has stopped.",
    EventType.JOB_COMPLETED: "An async fetch of profiles has ended.",
    EventType.JOB_FAILED: "An async fetch of profiles has failed.",
    EventType.CONTACTS_COMPLETED: "A contact lookup has its answers.",
    EventType.ENROLLMENT_CREATED: "A candidate entered a sequence.",
    EventType.ENROLLMENT_COMPLETED: "A candidate finished a sequence, or replied.",
    EventType.ENROLLMENT_FAILED: "A candidate fell out of a sequence, or was taken out.",
    EventType.ACTION_SENT: "An outreach step was sent.",
    EventType.ACTION_FAILED: "An outreach step failed, was refused, or its outcome is unknown.",
    EventType.ACTION_AWAITING_APPROVAL: "An outreach step waits for approval.",
    EventType.INVITE_ACCEPTED: "A candidate accepted a connection invite.",
    EventType.REPLY_RECEIVED: "A contacted person wrote.",
    EventType.ACCOUNT_CONNECTED: "An outreach account became active.",
    EventType.ACCOUNT_PAUSED: "An outreach account was paused.",
    EventType.ACCOUNT_DISCONNECTED: "An outreach account was disconnected.",
    EventType.OUTREACH_CAP_REACHED: "A safety cap stopped sends for the day or week.",
    EventType.CREDITS_LOW: "The balance fell below `low_balance_credits`; once for each newest grant.",
    EventType.CREDITS_EXPIRING: "A credit grant expires within 7 days and has credits left; once for each.",
    EventType.PING: "An endpoint is tested.",
}

HEADERS: Mapping[str, str] = {
    "X-Service-Signature": "`t=<unix seconds>,v1=<hex HMAC-SHA256>`, keyed with the endpoint's secret, of"
    " `<t>.<raw body>`. Compare in constant time, and refuse a `t` more than 300 seconds away from now.",
    "X-Service-Event": "The event's type.",
    "X-Service-Event-Id": "The event's id. Deliveries can repeat and come out of order: drop ids you have seen.",
    "X-Service-Delivery": "The delivery's id.",
}

ANSWER = (
    "Any 2xx within 5 seconds. Anything else is retried after 30 seconds, 2 minutes, 10 minutes, 1 hour and 6 hours;"
    " redirects are not followed."
)


def schemas() -> Document:
    """The data of each type, by the name of its class."""
    return {data.__name__: data.model_json_schema() for data in DATA_OF.values()}


def webhooks() -> Document:
    """One entry for each type."""
    return {kind.value: {"post": _described(kind)} for kind in EventType}


def _described(kind: EventType) -> Document:
    data = {"$ref": f"#/components/schemas/{DATA_OF[kind].__name__}"}
    own = {"type": "object", "properties": {"type": {"const": kind.value}, "data": data}}
    return {
        "operationId": f"on.{kind.value}",
        "summary": kind.value,
        "description": MEANING[kind],
        "tags": ["Events"],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": text, "schema": {"type": "string"}}
            for name, text in HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"allOf": [{"$ref": "#/components/schemas/EventView"}, own]}}},
        },
        "responses": {"2XX": {"description": ANSWER}},
    }
