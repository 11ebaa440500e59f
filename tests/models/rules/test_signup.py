"""Which workspaces hold an address, and what their mails say."""

from datetime import UTC, datetime, timedelta

import pytest

from models.rules.mails import verification
from models.rules.signup import address_key, holds_address

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def test_an_address_is_the_same_in_every_letter_case() -> None:
    assert address_key("Ada.Lovelace@Example.COM") == address_key("ada.lovelace@example.com")


@pytest.mark.parametrize(
    ("verified", "age_hours", "holds"), [(False, 47, True), (False, 48, False), (True, 1, True), (True, 9000, True)]
)
def test_a_workspace_holds_its_address_once_confirmed_or_for_48_hours(
    verified: bool,  # noqa: FBT001
    age_hours: int,
    holds: bool,  # noqa: FBT001
) -> None:
    created = NOW - timedelta(hours=age_hours)
    assert holds_address(verified_at=created if verified else None, created_at=created, now=NOW) is holds


def test_the_mail_holds_the_link_and_greets_by_name() -> None:
    mail = verification(public_url="https://api.test/", token="a-b_c", first_name="Ada", workspace_name="Acme")
    assert "https://api.test/verify?token=a-b_c\n" in mail.text
    assert mail.text.startswith("Hello Ada,")
    assert '"Acme"' in mail.text
    assert "\n" not in mail.subject
    nameless = verification(public_url="https://api.test", token="t", first_name=None, workspace_name="Acme")
    assert nameless.text.startswith("Hello,")
