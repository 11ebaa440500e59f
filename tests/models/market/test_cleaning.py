"""What is left of an advertised title, in four languages; every advertisement here is invented."""

import pytest

from models.market.title_cleaning import alternatives, clean, core, normalise
from models.market.title_words import is_generic

GENDER_MARKS = (
    ("Lagerhelfer (m/w/d)", "Lagerhelfer"),
    ("Buchhalter (w/m/d)*", "Buchhalter"),
    ("Elektroniker m/w/d", "Elektroniker"),
    ("Softwareentwickler:in", "Softwareentwickler"),
    ("Pfleger*in (all genders)", "Pfleger"),
    ("Sachbearbeiter_in Einkauf", "Sachbearbeiter Einkauf"),
    ("ProjektleiterIn Hochbau", "Projektleiter Hochbau"),
    ("Industriekaufmann/-frau", "Industriekaufmann"),
    ("Comptable H/F", "Comptable"),
    ("Technicien(ne) de maintenance", "Technicien de maintenance"),
    ("Serveur / Serveuse", "Serveur"),
    ("Chargé·e de communication", "Chargé de communication"),
    ("Magazijnier (m/v/x)", "Magazijnier"),
    ("Verpleegkundige M/V", "Verpleegkundige"),
    ("Data Engineer (f/m/x)", "Data Engineer"),
)
TERMS = (
    ("Sales Manager 80-100%", "Sales Manager"),
    ("Köchin 60 %", "Köchin"),
    ("Pfleger 38,5 Stunden", "Pfleger"),
    ("40-Stunden-Woche Verkäufer", "Verkäufer"),
    ("Verkäufer in Teilzeit", "Verkäufer"),
    ("Full-time Receptionist", "Receptionist"),
    ("Data Analyst - Remote", "Data Analyst"),
    ("Nurse $45/hour", "Nurse"),
    ("Accountant 12 month FTC", "Accountant"),
    ("CDI - Comptable", "Comptable"),
    ("Vendeur en CDD", "Vendeur"),
    ("Kassamedewerker 24 uur per week", "Kassamedewerker"),
    ("Loodgieter gezocht - vast contract", "Loodgieter"),
    ("Werkzeugmechaniker ab sofort gesucht", "Werkzeugmechaniker"),
    ("Wir suchen einen Bäcker", "Bäcker"),
)
LEVELS_AND_BRACKETS = (
    ("Software Engineer II", "Software Engineer"),
    ("Process Technician Level 3", "Process Technician"),
    ("Data Analyst [Berlin]", "Data Analyst"),
    ("Backend Developer (Java, Kotlin)", "Backend Developer"),
    ("Buyer #48213", "Buyer"),
    ("10442 - Purchasing Clerk", "Purchasing Clerk"),
    ("Product Owner | Payments", "Product Owner"),
    ("Key Account Manager: Retail", "Key Account Manager"),
)
EMPLOYERS_AND_PLACES = (
    ("Data Analyst at ACME", "Data Analyst"),
    ("Buchhalter bei der Muster GmbH", "Buchhalter"),
    ("Vendeur chez Exemple SA", "Vendeur"),
    ("Steuerberater in München", "Steuerberater"),
    ("Verkäufer im Raum Köln", "Verkäufer"),
    ("Infirmier à Lyon", "Infirmier"),
    ("Timmerman in Utrecht", "Timmerman"),
    ("Nurse in Leeds", "Nurse"),
    ("Project Manager in Dublin", "Project Manager"),
    ("Personal Trainer at ACME", "Personal Trainer"),
)
KEPT = (
    "Kaufmann im Einzelhandel",
    "Interim-Manager",
    "Roofing Contractor",
    "24-Stunden-Betreuung",
    "Permanent-Make-up-Artist",
    "Saisonnier agricole",
    "Assistent für Menschen mit Behinderung",
    "C++ Developer",
    "Senior Data Analyst, Risk",
)


@pytest.mark.parametrize(("title", "cleaned"), GENDER_MARKS + TERMS + LEVELS_AND_BRACKETS + EMPLOYERS_AND_PLACES)
def test_only_the_occupation_is_left(title: str, cleaned: str) -> None:
    assert clean(title) == cleaned


@pytest.mark.parametrize("title", KEPT)
def test_what_belongs_to_the_occupation_stays(title: str) -> None:
    assert clean(title) == title


@pytest.mark.parametrize("title", ["", "   ", "(m/w/d)", "100 %", "—"])
def test_nothing_is_made_up_where_nothing_would_be_left(title: str) -> None:
    assert clean(title) == title.strip()


@pytest.mark.parametrize(
    ("title", "occupation"),
    [
        ("Senior Data Analyst, Risk", "Data Analyst"),
        ("Manager, Finance", "Finance Manager"),
        ("Sr. Java Developer (m/w/d)", "Java Developer"),
        ("Lead Backend Engineer", "Backend Engineer"),
        ("Comptable confirmé", "Comptable"),
        ("Ervaren lasser", "lasser"),
        ("Senior Project Manager - Data Centres", "Project Manager"),
    ],
)
def test_the_core_has_no_seniority_and_no_department(title: str, occupation: str) -> None:
    assert core(title) == occupation


def test_a_title_of_two_occupations_names_both() -> None:
    assert list(alternatives("Recruiter / Personalreferent (m/w/d)")) == ["Recruiter", "Personalreferent"]
    assert list(alternatives("Recruiter")) == []


def test_spellings_of_one_title_have_one_key() -> None:
    spellings = ("Full-Stack Developer (m/w/d)", "fullstack developer", "Full Stack Developer - Remote")
    assert {normalise(title) for title in spellings} == {"fullstack developer"}


@pytest.mark.parametrize("title", ["Manager", "Mitarbeiter:in", "Team Member", "Responsable", "Junior Analyst"])
def test_words_of_rank_alone_are_generic(title: str) -> None:
    assert is_generic(title)


@pytest.mark.parametrize("title", ["Project Manager", "Chef de projet", "Executive Assistant", "Head Chef", "Nurse"])
def test_words_of_rank_that_make_an_occupation_are_not_generic(title: str) -> None:
    assert not is_generic(title)
