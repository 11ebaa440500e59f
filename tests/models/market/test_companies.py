import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.market.companies import company_key, plain_domain
from models.market.reference import reference


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Acme N.V.", "acme"),
        ("ACME GmbH & Co. KG", "acme"),
        ("Acme, Inc.", "acme"),
        ("Acme S.A.R.L.", "acme"),
        ("Acmé", "acme"),
        ("Inc. Magazine", "inc magazine"),
        ("The Company", "the"),
        ("AG", "ag"),
        ("Engel & Völkers Holding GmbH", "engel and volkers"),
        ("", ""),
    ],
)
def test_a_company_has_one_key_whatever_its_legal_form(name: str, key: str) -> None:
    assert company_key(name) == key


@given(st.text())
def test_a_company_key_is_stable(name: str) -> None:
    assert company_key(company_key(name)) == company_key(name)


@pytest.mark.parametrize("text", ["siemens.com", "https://www.siemens.com/jobs?x=1", "SIEMENS.COM", "hr@siemens.com"])
def test_a_domain_is_read_from_urls_and_addresses(text: str) -> None:
    assert plain_domain(text) == "siemens.com"


def test_known_firms_are_found_by_name_domain_beginning_and_id() -> None:
    companies = reference().companies
    (siemens,) = companies.named("SIEMENS AG")
    assert siemens.domain == "siemens.com"
    assert siemens.label == "Siemens (siemens.com)"
    assert companies.at_domain("https://www.siemens.com/") == (siemens,)
    assert companies.get(siemens.id) == siemens
    assert siemens in companies.beginning("siem", limit=20)
    assert [company.id for company in companies.named("Odoo")] == ["co_odoocom"]


def test_what_is_unknown_is_empty_or_a_key_error() -> None:
    companies = reference().companies
    assert not companies.named("Qwxyzzt Unheard-of Works")
    assert not companies.named("")
    assert not companies.at_domain("nobody.invalid")
    assert not companies.beginning("", limit=5)
    with pytest.raises(KeyError):
        companies.get("co_nothing")
