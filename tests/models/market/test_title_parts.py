"""Titles taken apart into head, level, skills and specialism, in four languages."""

import time

import pytest

from models.market.reference import reference
from models.market.title_cleaning import Seniority
from models.market.title_families import TitleLanguage
from models.market.title_parts import singular
from models.market.title_words import title_key
from models.market.titles import Titles


@pytest.fixture(scope="module")
def titles() -> Titles:
    return reference().titles


@pytest.mark.parametrize(
    ("title", "head", "skills", "specialism"),
    [
        ("Lorry driver C+E", "Lorry Driver", ("Driving Licence CE",), ()),
        ("LKW-Fahrer Klasse CE", "LKW-Fahrer Klasse CE", ("Driving Licence CE",), ()),
        ("Backend developers Kotlin", "Backend Developer", ("Kotlin",), ()),
        ("Pijplasser TIG", "Pijplasser", ("TIG Welding",), ()),
        ("Coded welder (MIG/MAG)", "Coded Welder", ("MIG Welding",), ()),
        ("Verpleegkundigen dialyse", "Verpleegkundige", ("Dialysis",), ()),
        ("Infirmière cabine bateau", "Infirmier", (), ("cabine bateau",)),
        ("Krankenpfleger Onkologie", "Krankenpfleger", ("Oncology",), ()),
        ("Chefs de produit jouets", "Chef de produit", (), ("jouets",)),
        ("Product manager, payments", "Product Manager", (), ("payments",)),
        ("Automation engineer Allen-Bradley", "Automation Engineer", ("Allen Bradley",), ()),
        ("SAP-HCM-Berater", "SAP-Berater", ("SAP HR",), ()),
        ("Food product manager", "Product Manager", (), ("Food",)),
        ("Sales reps", "Sales Representative", (), ()),
        ("CTOs", "CTO", (), ()),
        ("heads of procurement", "Head of Procurement", (), ()),
        ("kite maker", "kite maker", (), ()),
    ],
)
def test_a_title_is_taken_apart(
    titles: Titles, title: str, head: str, skills: tuple[str, ...], specialism: tuple[str, ...]
) -> None:
    parts = titles.parts(title)
    assert (parts.head, parts.skills, parts.specialism) == (head, skills, specialism)


@pytest.mark.parametrize(
    ("title", "level"),
    [
        ("Junior Backend developer Kotlin", Seniority.ENTRY),
        ("Boekhouder junior", Seniority.ENTRY),
        ("Erfahrener Elektriker", Seniority.SENIOR),
        ("Comptable confirmé", Seniority.SENIOR),
        ("Lead Data Engineer", Seniority.SENIOR),
        ("Heads of Finance", Seniority.DIRECTOR),
        ("CFOs", Seniority.CXO),
        ("Bricklayer", None),
    ],
)
def test_the_level_leaves_the_head_or_is_part_of_its_name(titles: Titles, title: str, level: Seniority | None) -> None:
    parts = titles.parts(title)
    assert parts.level is level
    assert title_key(parts.head).split()[0] not in {"junior", "senior", "lead", "erfahrener"}


@pytest.mark.parametrize("title", ["Nurse recruiter", "Product safety manager", "Driver manager", "Teacher trainer"])
def test_a_title_that_goes_on_to_another_role_stays_whole(titles: Titles, title: str) -> None:
    assert title_key(titles.parts(title).head) == title_key(title)


def test_what_narrows_a_title_is_glued_to_no_exact_title(titles: Titles) -> None:
    for family in list(titles.families)[::7]:
        title = family.titles(TitleLanguage.EN)[0]
        exact = titles.exact(f"{title}, quantum kites")
        assert title_key(exact[0]) == title_key(titles.parts(title).head), title
        assert not any("kites" in wording for wording in exact)


def test_the_wordings_of_a_narrowed_title_come_from_all_four_languages(titles: Titles) -> None:
    found = titles.specialised("Nurse, intensive care")
    assert {"ICU Nurse", "Intensivpfleger", "Infirmier en réanimation", "IC-verpleegkundige"} <= set(found)
    assert not titles.specialised("Nurse")


@pytest.mark.parametrize(
    ("title", "titles_of", "skills"),
    [
        ("Backend developer Kotlin", (), ("Kotlin",)),
        ("Krankenpfleger Intensivstation", ("ICU Nurse", "Intensivpfleger"), ()),
        ("Magazijnier VCA", (), ("VCA",)),
        ("Product manager, payments", ("payments",), ()),
        ("Product manager", (), ()),
    ],
)
def test_what_narrows_a_title_is_a_wish_for_skills_or_titles(
    titles: Titles, title: str, titles_of: tuple[str, ...], skills: tuple[str, ...]
) -> None:
    found = titles.narrowing(title)
    assert set(titles_of) <= set(found.titles)
    assert found.skills == skills
    assert not (found.titles and found.skills)


def test_exact_titles_name_no_other_field_and_no_other_rank(titles: Titles) -> None:
    assert not any("Angular" in title or "Vue" in title for title in titles.exact("React developer"))
    assert not any("Head of" in title for title in titles.exact("Data scientist"))
    assert "Directeur des ressources humaines" in titles.exact("DRH")


def test_a_broad_title_keeps_to_its_own_word(titles: Titles) -> None:
    assert titles.is_broad("drivers")
    assert "Fahrer" in titles.exact("drivers")
    assert not {"Courier", "Postman", "Livreur"} & set(titles.exact("drivers"))


@pytest.mark.parametrize(
    ("plural", "one"),
    [
        ("toy makers", "toy maker"),
        ("heads of data", "head of data"),
        ("infirmiers anesthésistes", "infirmier anesthésiste"),
        ("chefs de chantier", "chef de chantier"),
        ("foremen", "foreman"),
        ("verpleegkundigen", "verpleegkundig"),
        ("business analyst", "business analyst"),
        ("sales", "sales"),
        ("", ""),
    ],
)
def test_plurals_become_singular(plural: str, one: str) -> None:
    assert singular(plural) == one


def test_a_long_title_is_taken_apart_in_linear_time(titles: Titles) -> None:
    began = time.process_time()
    for shape in ("Java ", "welder TIG/MIG, ", "nurse of the ", "( ", "- ", "a/b "):
        titles.parts(shape * 12_000)
    assert time.process_time() - began < 3
