"""Callbacks of the outreach provider: genuine or not, and what they hint at."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.base.secrets import Vault
from models.outreach.rules.callbacks import (
    TOLERANCE_SECONDS,
    Callback,
    CallbackKind,
    InvalidCallback,
    Signature,
    callback_token,
    callback_url,
    check_signature,
    read_callback,
    sign,
    token_matches,
)

RAW = b'{"id": "evt_1", "type": "message.new"}'
SECRET = "wes_0123456789abcdef0123456789abcdef"
NOW = 1_790_000_000.0


def header(raw: bytes = RAW, *, secret: str = SECRET, at: int = int(NOW)) -> str:
    return f"t={at},v0={sign(raw, secret=secret, at=str(at))}"


def checked(given: str | None, raw: bytes = RAW, *secrets: str) -> Signature:
    return check_signature(raw, given, secrets=secrets or (SECRET,), wall_time=NOW)


def test_a_signature_is_the_hmac_of_time_and_body() -> None:
    assert sign(b"{}", secret="key", at="1") == "1ba6b8171186efc613e8bcc0cbdab2748f24984d7c5a84faa2637afa0e40d224"
    assert checked(header()) is Signature.VALID


@pytest.mark.parametrize("skew", [-TOLERANCE_SECONDS, -1, 0, 1, TOLERANCE_SECONDS])
def test_a_signature_holds_for_five_minutes_around_now(skew: int) -> None:
    assert checked(header(at=int(NOW) + skew)) is Signature.VALID


@pytest.mark.parametrize("skew", [-TOLERANCE_SECONDS - 1, TOLERANCE_SECONDS + 1])
def test_an_older_or_early_one_is_stale(skew: int) -> None:
    assert checked(header(at=int(NOW) + skew)) is Signature.STALE


def test_one_valid_signature_of_several_is_enough() -> None:
    t, _, v0 = header().partition(",")
    assert checked(f"{t},v0={'0' * 64},{v0}") is Signature.VALID
    assert checked(f"{t},v1=abc,{v0}") is Signature.VALID
    assert checked(f"{t}, {v0}") is Signature.VALID


def test_the_secret_before_and_the_one_after_a_rotation_both_hold() -> None:
    assert checked(header(secret="old"), RAW, "new", "old") is Signature.VALID
    assert checked(header(secret="new"), RAW, "new", "old") is Signature.VALID
    assert checked(header(secret="older"), RAW, "new", "old") is Signature.WRONG


@pytest.mark.parametrize("raw", [RAW + b" ", RAW[:-1], RAW.replace(b"evt_1", b"evt_2"), b""])
def test_another_body_is_wrong(raw: bytes) -> None:
    assert checked(header(), raw) is Signature.WRONG


def test_another_time_than_the_signed_one_is_wrong() -> None:
    assert checked(header().replace(f"t={int(NOW)}", f"t={int(NOW) + 1}")) is Signature.WRONG


def test_without_a_secret_nothing_is_valid() -> None:
    assert check_signature(RAW, header(secret=""), secrets=(), wall_time=NOW) is Signature.WRONG


@pytest.mark.parametrize(
    "given",
    [
        "",
        "v0=abc",
        f"t={int(NOW)}",
        f"t={int(NOW)},t={int(NOW)},v0=abc",
        "t=now,v0=abc",
        "t=-5,v0=abc",
        "t=١٢٣,v0=abc",
        f"t={'9' * 5000},v0=abc",
        f"t={int(NOW)},v0=" + ",v0=".join("abc" for _ in range(9)),
    ],
)
def test_a_header_of_another_form_is_malformed(given: str) -> None:
    assert checked(given) is Signature.MALFORMED


def test_no_header_is_missing() -> None:
    assert checked(None) is Signature.MISSING


@given(st.text(max_size=300), st.binary(max_size=50))
def test_no_header_that_was_not_signed_is_valid(given: str, raw: bytes) -> None:
    assert check_signature(raw, given, secrets=(SECRET,), wall_time=NOW) is not Signature.VALID


def test_the_token_follows_from_the_secret_key_alone() -> None:
    first, second = callback_token(Vault("a" * 32)), callback_token(Vault("b" * 32))
    assert first == callback_token(Vault("a" * 32))
    assert first != second
    assert len(bytes.fromhex(first)) == 32
    assert token_matches(first, first)
    assert not token_matches(second, first)
    assert not token_matches("é\udc80", first)


def test_the_address_is_short_enough_for_the_provider() -> None:
    url = callback_url("https://sourcing.example/", callback_token(Vault("a" * 32)))
    assert url.startswith("https://sourcing.example/callbacks/outreach/")
    assert len(url) <= 255


def event(type_: str, payload: Any, **more: Any) -> bytes:
    body = {"id": "evt_1", "type": type_, "created_at": "2026-03-04T10:00:01.000Z", "account_id": "acc_1"}
    return json.dumps(body | {"payload": payload} | more).encode()


@pytest.mark.parametrize(
    ("type_", "payload", "kind", "found"),
    [
        ("account.add", {"state": "s1"}, CallbackKind.CONNECTED, {"state": "s1"}),
        ("account.reconnect", {"state": "s1"}, CallbackKind.CONNECTED, {"state": "s1"}),
        ("account.remove", {}, CallbackKind.REMOVED, {}),
        ("account.status.running", {"timestamp": "x"}, CallbackKind.STANDING, {"status": "running"}),
        ("account.status.errored", {"reason": "proxy"}, CallbackKind.STANDING, {"status": "errored"}),
        ("account.status.brand_new", {}, CallbackKind.STANDING, {"status": "brand_new"}),
        ("account.locked", {}, CallbackKind.STANDING, {}),
        ("account.unlocked", {}, CallbackKind.STANDING, {}),
        (
            "message.new",
            {"object": "Message", "id": "m/1", "chat_id": "c=1", "text": "secret"},
            CallbackKind.MESSAGE,
            {"chat_id": "c=1", "message_id": "m/1"},
        ),
        ("message.new", {"chat_id": "c", "message_id": "m"}, CallbackKind.MESSAGE, {"chat_id": "c", "message_id": "m"}),
        (
            "message.new",
            {"chat_id": "c", "message_id": ["m"]},
            CallbackKind.MESSAGE,
            {"chat_id": "c", "message_id": "m"},
        ),
        ("message.new", {"chat_id": "c", "message_id": None}, CallbackKind.MESSAGE, {"chat_id": "c"}),
        ("relation.new", {"id": "rel_1", "user": {"id": "ACo1"}}, CallbackKind.RELATION, {"person": "ACo1"}),
        ("relation.new", {"user_id": "ACo1"}, CallbackKind.RELATION, {"person": "ACo1"}),
        ("relation.request.accept", {"provider_id": "ACo1"}, CallbackKind.RELATION, {"person": "ACo1"}),
        ("relation.new", {"user": {"public_identifier": "jo"}}, CallbackKind.RELATION, {"person": "jo"}),
        ("relation.new", {}, CallbackKind.RELATION, {}),
        ("message.reaction", {"id": "m"}, CallbackKind.OTHER, {}),
        ("message.new", ["m"], CallbackKind.MESSAGE, {}),
    ],
)
def test_an_event_is_reduced_to_where_to_look(
    type_: str, payload: Any, kind: CallbackKind, found: dict[str, str]
) -> None:
    assert read_callback(event(type_, payload)) == Callback(
        id="evt_1",
        type=type_,
        kind=kind,
        account_id="acc_1",
        created_at=datetime(2026, 3, 4, 10, 0, 1, tzinfo=UTC),
        **found,
    )


def test_a_repeated_callback_has_one_subject() -> None:
    first = read_callback(event("message.new", {"chat_id": "c", "id": "m"}))
    again = read_callback(event("message.new", {"chat_id": "c", "message_id": "m"}, id="evt_2"))
    other = read_callback(event("message.new", {"chat_id": "c", "id": "m2"}))
    elsewhere = read_callback(event("message.new", {"chat_id": "c", "id": "m"}, account_id="acc_2"))
    assert first.subject == again.subject
    assert len({first.subject, other.subject, elsewhere.subject}) == 3


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff",
        b"[]",
        b"null",
        b"{}",
        b'{"id": 1, "type": "message.new"}',
        b'{"id": "", "type": "message.new"}',
        b'{"id": "evt_1"}',
        b'{"id": "evt\\n1", "type": "message.new"}',
        b'{"id": "' + b"x" * 501 + b'", "type": "message.new"}',
        b"[" * 100_000,
    ],
)
def test_what_is_no_event_is_refused(raw: bytes) -> None:
    with pytest.raises(InvalidCallback):
        read_callback(raw)


@pytest.mark.parametrize("created_at", [None, 5, "yesterday", "2026-99-01T00:00:00Z"])
def test_an_unreadable_time_is_left_out(created_at: Any) -> None:
    assert read_callback(event("account.add", {}, created_at=created_at)).created_at is None


@given(
    st.binary(max_size=200)
    | st.dictionaries(st.text(), st.integers() | st.text()).map(lambda d: json.dumps(d).encode())
)
def test_no_body_breaks_the_reading(raw: bytes) -> None:
    try:
        assert read_callback(raw).id
    except InvalidCallback as problem:
        assert str(problem) in {  # noqa: PT017 - whichever it is, it does not repeat the body
            "the body is not JSON",
            "the body is not an object",
            "the event has no id or no type",
        }
