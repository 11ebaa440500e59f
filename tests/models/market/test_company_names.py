"""Companies and their groups as texts name them."""

import time

import pytest

from models.market.companies import without_legal_form
from models.market.company_names import AlsoMeans, curated_companies
from models.market.reference import reference


def named(text: str, *, certain: bool | None = None) -> list[str]:
    """Return the pieces of a text that name companies, all or those of one certainty."""
    found = reference().company_names.mentions(text)
    return [text[one.start : one.end] for one in found if certain is None or one.certain is certain]


def test_every_curated_company_has_an_id_of_its_own_and_is_found_by_each_of_its_names() -> None:
    companies, curated = reference().companies, list(curated_companies())
    assert len({company.id for company, _ in curated}) == len(curated)
    lost = [(company.id, name) for company, names in curated for name in names if company not in companies.named(name)]
    assert lost == []


def test_every_member_of_a_group_is_a_known_company() -> None:
    names = reference().company_names
    for name in ("DAX 40", "CAC 40", "BEL 20", "AEX", "FTSE 100", "big four", "MBB", "FAANG", "strategy houses"):
        group = names.group(name)
        assert group is not None
        assert group.as_of
        assert group.source
        assert all(reference().companies.knows(company_id) for company_id in group.company_ids)


@pytest.mark.parametrize(
    ("name", "group", "members"),
    [
        ("the big four", "big four", {"Deloitte", "PwC", "EY", "KPMG"}),
        ("big audit firms", "big four", {"Deloitte", "PwC", "EY", "KPMG"}),
        ("Big 4", "big four", {"Deloitte", "PwC", "EY", "KPMG"}),
        ("MBB", "MBB", {"McKinsey", "BCG", "Bain"}),
        ("cabinets de conseil en stratégie", "strategy houses", {"McKinsey", "Kearney"}),
        ("DAX-Konzern", "DAX 40", {"BASF", "Merck KGaA"}),
        ("CAC 40", "CAC 40", {"L'Oréal", "Danone"}),
    ],
)
def test_a_group_expands_to_its_companies(name: str, group: str, members: set[str]) -> None:
    found = reference().company_names.group(name)
    assert found is not None
    assert found.name == group
    assert members <= {reference().companies.get(company_id).name for company_id in found.company_ids}


@pytest.mark.parametrize(("name", "count"), [("Deutsche Bank", 1), ("Evonik", 1), ("BMW AG", 1), ("Merck", 2)])
def test_a_name_means_exactly_one_or_several_firms(name: str, count: int) -> None:
    assert len(reference().companies.named(name)) == count


def test_a_name_that_begins_several_listed_firms_leaves_the_choice_and_a_town_is_no_firm() -> None:
    companies = reference().companies
    assert {"General Mills", "General Motors"} <= {company.name for company in companies.named("General")}
    assert not any(company.name.startswith("London Stock") for company in companies.named("London"))


def test_companies_and_groups_are_found_where_they_stand() -> None:
    assert named("people at BASF, Covestro or Evonik") == ["BASF", "Covestro", "Evonik"]
    assert named("controllers from the big audit firms") == ["big audit firms"]
    assert named("ex-Revolut and Société Générale") == ["Revolut", "Société Générale"]
    assert named("not from Societe Generale") == ["Societe Generale"]


def test_a_name_that_is_a_word_or_a_product_is_never_certain() -> None:
    assert named("Shell script, SAP consultant, Siemens S7, next target", certain=True) == []
    assert named("a block of ing, ns and ee", certain=True) == []
    names = reference().company_names
    assert names.also_means("SAP") is AlsoMeans.SOFTWARE
    assert names.also_means("Shell plc") is AlsoMeans.WORD
    assert names.also_means("Evonik") is None


def test_a_company_inside_the_name_of_a_skill_is_none() -> None:
    assert named("Google Ads and Google Analytics") == []
    assert named("Google Ads at Google") == ["Google"]


def test_a_name_loses_only_what_stands_at_its_end() -> None:
    assert without_legal_form("Target Corporation") == "Target"
    assert without_legal_form("Tesla, Inc.") == "Tesla"
    assert without_legal_form("The Company") == "The"
    assert without_legal_form("AG Insurance") == "AG Insurance"


def test_a_long_text_is_searched_in_linear_time() -> None:
    names = reference().company_names
    began = time.process_time()
    names.mentions("people at BASF, Covestro and SAP " * 300)
    short = time.process_time() - began
    began = time.process_time()
    names.mentions("people at BASF, Covestro and SAP " * 1500)
    assert time.process_time() - began < 20 * short + 0.05
