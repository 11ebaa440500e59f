"""Words for industries, functions, sizes, kinds of employers, degrees and subjects, and what they mean."""

import json
import time

import pytest

from models.market.attributes import AttributeKind, sizes_between
from models.market.curated import CURATED, curated_rows
from models.market.reference import reference
from models.market.schools import read_schools

SOURCE = json.loads((CURATED.parent / "people_data_labs.json").read_text(encoding="utf-8"))
VALUES = {
    AttributeKind.INDUSTRY: set(SOURCE["industries"]),
    AttributeKind.FUNCTION: set(SOURCE["functions"]),
    AttributeKind.SIZE: set(SOURCE["company_sizes"]),
    AttributeKind.TYPE: set(SOURCE["company_types"]),
    AttributeKind.DEGREE: {*SOURCE["degrees"], *(form for forms in SOURCE["degrees"].values() for form in forms)},
}


def test_every_value_is_one_of_the_people_source() -> None:
    unknown = [
        (kind, value)
        for kind, values, _ in curated_rows("attributes")
        for value in values.split("|")
        if AttributeKind(kind) in VALUES and value not in VALUES[AttributeKind(kind)]
    ]
    assert unknown == []


@pytest.mark.parametrize(
    ("kind", "texts", "value"),
    [
        (AttributeKind.INDUSTRY, ("food", "Lebensmittelindustrie", "agroalimentaire", "voeding"), "food production"),
        (AttributeKind.INDUSTRY, ("pharma", "Pharmabranche", "pharmaceutique", "farma"), "pharmaceuticals"),
        (
            AttributeKind.INDUSTRY,
            ("machine building", "Maschinenbau", "machines spéciales", "machinebouw"),
            "machinery",
        ),
        (AttributeKind.INDUSTRY, ("banks", "Banken", "banques", "bankwezen"), "banking"),
        (AttributeKind.SIZE, ("SMEs", "KMU", "PME", "kmo"), "51-200"),
        (AttributeKind.SIZE, ("large corporates", "Konzern", "grands groupes", "grote bedrijven"), "10001+"),
        (AttributeKind.TYPE, ("charity", "Verein", "associations", "vzw"), "nonprofit"),
        (
            AttributeKind.TYPE,
            ("family-owned", "Familienunternehmen", "entreprise familiale", "familiebedrijf"),
            "private",
        ),
        (AttributeKind.DEGREE, ("bachelor's degree", "Bachelorabschluss", "licence", "hbo"), "bachelors"),
        (AttributeKind.DEGREE, ("PhD", "Promotion", "doctorat", "doctoraat"), "doctorates"),
        (AttributeKind.DEGREE, ("apprenticeship", "Ausbildung", "CAP", "mbo"), "vocational certificate"),
        (AttributeKind.MAJOR, ("physics", "Physik", "physique", "natuurkunde"), "physics"),
        (AttributeKind.FUNCTION, ("human resources", "Personalabteilung", "RH", "personeelszaken"), "human_resources"),
    ],
)
def test_words_of_four_languages_mean_the_same(kind: AttributeKind, texts: tuple[str, ...], value: str) -> None:
    attributes = reference().attributes
    assert [text for text in texts if value not in attributes.named(kind, text)] == []


def test_words_are_found_where_they_stand_the_longest_first() -> None:
    text = "Head of Procurement for a food group, SaaS scale-ups or PE-backed firms, MBA"
    found = [(text[one.start : one.end], one.kind) for one in reference().attributes.find(text)]
    assert found == [
        ("food group", AttributeKind.INDUSTRY),
        ("SaaS", AttributeKind.INDUSTRY),
        ("scale-ups", AttributeKind.SIZE),
        ("PE-backed", AttributeKind.TYPE),
        ("MBA", AttributeKind.DEGREE),
    ]


def test_a_word_of_several_kinds_is_given_as_the_kind_asked_for_first() -> None:
    attributes = reference().attributes
    (one,) = attributes.find("Maschinenbau", AttributeKind.MAJOR, AttributeKind.INDUSTRY)
    assert one.kind is AttributeKind.MAJOR
    assert one.also == {AttributeKind.INDUSTRY}
    assert attributes.find("Maschinenbau", AttributeKind.DEGREE) == ()


@pytest.mark.parametrize(
    ("fewest", "most", "sizes"),
    [
        (None, 50, ("1-10", "11-50")),
        (50, 200, ("51-200",)),
        (20, 80, ("11-50", "51-200")),
        (200, 800, ("201-500", "501-1000")),
        (10_001, None, ("10001+",)),
        (5, 5, ("1-10",)),
    ],
)
def test_numbers_of_people_become_sizes(fewest: int | None, most: int | None, sizes: tuple[str, ...]) -> None:
    assert sizes_between(fewest, most) == sizes


def test_schools_are_found_by_their_usual_names_and_in_groups() -> None:
    schools = read_schools()
    text = "HEC or ESSEC graduates, Ivy League MBA, TU Darmstadt, Universite de Geneve"
    found = {text[one.start : one.end]: len(one.schools) for one in schools.find(text)}
    assert found == {"HEC": 1, "ESSEC": 1, "Ivy League": 8, "TU Darmstadt": 1, "Universite de Geneve": 1}
    assert schools.find("a hec of a job, mit Kindern") == ()
    assert schools.get(schools.named("TU Delft")[0].id).domain == "tudelft.nl"


def test_long_texts_are_searched_in_linear_time() -> None:
    began = time.process_time()
    reference().attributes.find("food bank of the large pharma group " * 1400)
    reference().schools.find("HEC Paris of the University of " * 1600)
    assert time.process_time() - began < 2
