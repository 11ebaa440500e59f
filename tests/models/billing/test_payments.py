import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
import stripe

from models.billing.rules.payments import is_return_url, is_signed

BODY = b'{"id":"evt_1"}'
SECRET = "whsec_one"
NOW = datetime(2026, 11, 28, 12, 0, tzinfo=UTC)


def header(*, at: datetime = NOW, secret: str = SECRET, body: bytes = BODY) -> str:
    seconds = int(at.timestamp())
    made = hmac.new(secret.encode(), f"{seconds}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={seconds},v1={made}"


def test_what_the_official_package_accepts_is_accepted() -> None:
    now = datetime.now(UTC)
    made = header(at=now)
    assert stripe.WebhookSignature.verify_header(BODY.decode(), made, SECRET, 300)
    assert is_signed(BODY, made, [SECRET], now=now)


@pytest.mark.parametrize("seconds", [-300, 0, 300])
def test_five_minutes_are_let_pass_in_either_direction(seconds: int) -> None:
    assert is_signed(BODY, header(at=NOW + timedelta(seconds=seconds)), [SECRET], now=NOW)


@pytest.mark.parametrize(
    "refused",
    [
        header(at=NOW - timedelta(seconds=301)),
        header(at=NOW + timedelta(seconds=301)),
        header(secret="whsec_two"),
        header(body=b'{"id":"evt_2"}'),
        header().replace("v1=", "v0="),
        header().partition(",")[0],
        header().partition(",")[2],
        "t=soon,v1=00",
        "t=" + "9" * 40 + ",v1=00",
        "t=²,v1=00",
        "",
        header() + ",t=1",
        header()[:-1] + "é",
    ],
)
def test_anything_else_is_refused(refused: str) -> None:
    assert not is_signed(BODY, refused, [SECRET], now=NOW)


def test_while_a_secret_is_changed_either_signs() -> None:
    both = header(secret="whsec_old") + "," + header().partition(",")[2]
    assert is_signed(BODY, both, [SECRET], now=NOW)
    assert is_signed(BODY, header(), ["whsec_old", SECRET], now=NOW)


@pytest.mark.parametrize(
    "url",
    [
        "https://app.example/paid",
        "https://app.example/paid?session={CHECKOUT_SESSION_ID}",
        "http://localhost:3000/paid",
        "https://[2001:db8::1]/",
    ],
)
def test_addresses_that_a_browser_can_be_sent_back_to(url: str) -> None:
    assert is_return_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "app.example/paid",
        "javascript:alert(1)",
        "ftp://app.example/",
        "https://",
        "https:///paid",
        "https://me:secret@app.example/",
        "https://app.example:99999/",
        "https://app.example/a b",
        "https://app.example/\n",
        "https://app.example/é",
        "https://[::1/",
    ],
)
def test_anything_else_is_no_address_to_go_back_to(url: str) -> None:
    assert not is_return_url(url)
