"""Scopes, how wide keys are, and the form of their secrets."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.access.rules.keys import ALL_SCOPES, BASE62, Power, Scope, checksum_holds, is_live, key_secret

NOW = datetime(2026, 11, 28, tzinfo=UTC)

powers = st.builds(
    Power,
    scopes=st.frozensets(st.sampled_from(Scope)),
    daily_cap_credits=st.none() | st.integers(0, 5),
    customer_id=st.none() | st.sampled_from(["cus_1", "cus_2"]),
)


def test_a_dry_run_needs_the_read_scope_of_its_family() -> None:
    assert Scope.SOURCING_SPEND.preview is Scope.SOURCING_READ
    assert Scope.OUTREACH_SEND.preview is Scope.OUTREACH_READ
    assert Scope.ACCOUNT_WRITE.preview is Scope.ACCOUNT_READ


@given(powers)
def test_nothing_is_wider_than_everything_or_itself(power: Power) -> None:
    assert power.no_wider_than(Power(ALL_SCOPES))
    assert power.no_wider_than(power)


@given(powers, powers, powers)
def test_being_no_wider_is_handed_on(one: Power, two: Power, three: Power) -> None:
    if one.no_wider_than(two) and two.no_wider_than(three):
        assert one.no_wider_than(three)
    if one.no_wider_than(two) and two.no_wider_than(one):
        assert one == two


@pytest.mark.parametrize(
    ("power", "wider"),
    [
        (Power(frozenset({Scope.SOURCING_READ})), Power(frozenset({Scope.SOURCING_READ, Scope.SOURCING_WRITE}))),
        (Power(ALL_SCOPES, daily_cap_credits=5), Power(ALL_SCOPES, daily_cap_credits=6)),
        (Power(ALL_SCOPES, daily_cap_credits=5), Power(ALL_SCOPES)),
        (Power(ALL_SCOPES, customer_id="cus_1"), Power(ALL_SCOPES)),
        (Power(ALL_SCOPES, customer_id="cus_1"), Power(ALL_SCOPES, customer_id="cus_2")),
    ],
)
def test_more_scopes_a_higher_cap_or_another_customer_is_wider(power: Power, wider: Power) -> None:
    assert not wider.no_wider_than(power)


def test_a_key_bound_to_a_customer_administers_nothing() -> None:
    assert Power(ALL_SCOPES).administers
    assert not Power(ALL_SCOPES, customer_id="cus_1").administers
    assert not Power(ALL_SCOPES - {Scope.ACCOUNT_WRITE}).administers


@given(st.binary(min_size=32, max_size=32))
def test_a_secret_has_a_fixed_form_and_its_checksum(noise: bytes) -> None:
    secret = key_secret(noise)
    assert secret.startswith("svc_live_")
    assert len(secret) == 9 + 43 + 6
    assert set(secret[9:]) <= set(BASE62)
    assert checksum_holds(secret)


@given(st.binary(min_size=32, max_size=32), st.integers(9, 57), st.sampled_from(BASE62))
def test_a_mistyped_secret_fails_its_checksum(noise: bytes, place: int, character: str) -> None:
    secret = key_secret(noise)
    mistyped = secret[:place] + character + secret[place + 1 :]
    assert checksum_holds(mistyped) is (mistyped == secret)


@pytest.mark.parametrize(
    ("revoked", "expires_in", "live"),
    [
        (False, None, True),
        (False, 1, True),
        (False, 0, False),
        (False, -1, False),
        (True, None, False),
        (True, 1, False),
    ],
)
def test_a_key_lives_until_revoked_or_expired(revoked: bool, expires_in: int | None, live: bool) -> None:
    expires_at = None if expires_in is None else NOW + timedelta(seconds=expires_in)
    assert is_live(revoked_at=NOW if revoked else None, expires_at=expires_at, now=NOW) is live
