"""Which workspaces hold an address, and what their mails say."""

from datetime import UTC, datetime, timedelta

import pytest

from models.access.rules.signup import (
    DISPOSABLE_DOMAINS,
    PROVIDERS,
    address_key,
    holds_address,
    is_disposable,
    verification_mail,
)

NOW = datetime(2026, 11, 28, tzinfo=UTC)


def test_an_address_is_the_same_in_every_letter_case() -> None:
    assert address_key("Ada.Lovelace@Example.COM") == address_key("ada.lovelace@example.com")


@pytest.mark.parametrize(
    ("verified", "age_hours", "holds"), [(False, 47, True), (False, 48, False), (True, 1, True), (True, 9000, True)]
)
def test_a_workspace_holds_its_address_once_confirmed_or_for_48_hours(
    verified: bool,
    age_hours: int,
    holds: bool,
) -> None:
    created = NOW - timedelta(hours=age_hours)
    assert holds_address(verified_at=created if verified else None, created_at=created, now=NOW) is holds


def test_the_mail_holds_the_link_and_greets_by_name() -> None:
    mail = verification_mail(public_url="https://api.test/", token="a-b_c", first_name="Ada", workspace_name="Acme")
    assert "https://api.test/verify?token=a-b_c\n" in mail.text
    assert mail.text.startswith("Hello Ada,")
    assert '"Acme"' in mail.text
    assert "\n" not in mail.subject
    nameless = verification_mail(public_url="https://api.test", token="t", first_name=None, workspace_name="Acme")
    assert nameless.text.startswith("Hello,")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Jane.Doe@gmail.com", "janedoe+jobs@googlemail.com"),
        ("jane@outlook.com", "Jane+a@OUTLOOK.com"),
        ("jane.doe@proton.me", "jane_do-e+x@pm.me"),
        ("jane@icloud.com", "jane+x@me.com"),
        ("\uff4aane@gmail.com", "jane@gmail.com"),
    ],
)
def test_spellings_that_lead_to_one_mailbox_are_one_address(one: str, other: str) -> None:
    assert address_key(one) == address_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("jane.doe@acme.example", "janedoe@acme.example"),
        ("jane+a@acme.example", "jane@acme.example"),
        ("jane.doe@outlook.com", "janedoe@outlook.com"),
        ("jane@gmail.com", "jane@outlook.com"),
        ("+a@gmail.com", "+b@gmail.com"),
    ],
)
def test_where_a_dot_or_a_plus_may_make_another_person_it_does(one: str, other: str) -> None:
    assert address_key(one) != address_key(other)


def test_lent_mailboxes_are_known_by_their_domain_and_its_subdomains() -> None:
    domains = {"lent.example", "co.example"}
    assert is_disposable("a@lent.example", domains)
    assert is_disposable("a@Mail.LENT.example", domains)
    assert not is_disposable("a@notlent.example", domains)
    assert not is_disposable("a@example", domains)
    assert not is_disposable("lent.example@acme.org", domains)


def test_the_shipped_list_knows_the_usual_ones_and_no_common_provider() -> None:
    assert {"mailinator.com", "guerrillamail.com", "yopmail.com"} <= DISPOSABLE_DOMAINS
    assert not DISPOSABLE_DOMAINS & {*PROVIDERS, "yahoo.com", "gmx.net", "web.de", "example.com"}
