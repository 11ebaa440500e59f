"""The catalogue of events, the retry schedule and the signature, as specified."""

from datetime import UTC, datetime, timedelta

import pytest
import stripe

from models.events.rules import deliveries
from models.events.rules.catalogue import RUN_ENDED, EventType
from models.events.rules.deliveries import Envelope
from models.sourcing.rules.runs import FINAL

SPECIFIED = {
    *("run.completed", "run.failed", "run.cancelled", "job.completed", "job.failed", "contacts.completed"),
    *("enrollment.created", "enrollment.completed", "enrollment.failed"),
    *("action.sent", "action.failed", "action.awaiting_approval", "invite.accepted", "reply.received"),
    *("account.connected", "account.paused", "account.disconnected", "outreach.cap_reached"),
    *("credits.low", "credits.expiring", "ping"),
}


def test_every_specified_type_is_there_with_its_data() -> None:
    assert {kind.value for kind in EventType} == SPECIFIED
    assert all(kind.description.endswith(".") for kind in EventType)
    assert set(RUN_ENDED) == FINAL


def test_no_data_has_a_field_for_contents() -> None:
    allowed = ("_id", "_credits", "credits", "status", "stop_reason", "reason", "type", "outcome", "cap", "window")
    others = {"counts", "found", "missed", "candidates", "paused_until", "next_available_at", "expires_at"}
    for data in {kind.data for kind in EventType}:
        for name in data.model_fields:
            assert name in others or name.endswith(allowed), name


def test_the_schedule_of_retries() -> None:
    waits = [deliveries.delivery_retry_after(made) for made in range(1, 7)]
    assert waits[:5] == [timedelta(seconds=seconds) for seconds in (30, 120, 600, 3600, 21600)]
    assert waits[5:] == [None]


def test_the_signature_of_the_vector() -> None:
    signed = deliveries.signature("secret", at=1636936200, body=b"hello !")
    assert signed == "t=1636936200,v1=1b3d69df55f1e52f05224ba94a5162abeb17ef52cd7f4948c390f810d6a87e98"


def test_the_official_package_verifies_what_we_sign() -> None:
    secret = deliveries.new_secret(b"n" * 32)
    at = int(datetime.now(UTC).timestamp())
    body = Envelope(id="evt_1", type="ping", created_at=datetime.now(UTC), customer_id=None, data={"a": "ü"}).body()
    signed = deliveries.signature(secret, at=at, body=body)
    assert stripe.WebhookSignature.verify_header(body.decode(), signed, secret, 300)
    late = deliveries.signature(secret, at=at - 301, body=body)
    for payload, header, key in (
        (body.decode() + " ", signed, secret),
        (body.decode(), late, secret),
        (body.decode(), signed, deliveries.new_secret(b"m" * 32)),
    ):
        with pytest.raises(stripe.SignatureVerificationError):
            stripe.WebhookSignature.verify_header(payload, header, key, 300)


def test_secrets_are_random_long_and_known_by_their_prefix() -> None:
    secret = deliveries.new_secret(bytes(range(32)))
    assert secret.startswith("whsec_")
    assert len(secret) == len("whsec_") + 43
    assert deliveries.hint(secret) == f"whsec_****{secret[-4:]}"


@pytest.mark.parametrize(
    ("status_code", "accepted"), [(199, False), (200, True), (299, True), (300, False), (500, False), (None, False)]
)
def test_only_2xx_accepts(status_code: int | None, *, accepted: bool) -> None:
    assert deliveries.is_accepted(status_code) is accepted


def test_the_envelope_has_the_specified_fields_in_order() -> None:
    at = datetime(2026, 11, 2, 9, 0, 0, 5000, tzinfo=UTC)
    body = Envelope(id="evt_1", type="ping", created_at=at, customer_id="cus_1", data={"endpoint_id": "whe_1"}).body()
    assert body == (
        b'{"id":"evt_1","object":"event","type":"ping","created_at":"2026-11-02T09:00:00.005Z","customer_id":"cus_1",'
        b'"data":{"endpoint_id":"whe_1"}}'
    )
