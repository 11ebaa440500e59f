import pytest

from models.market.reference import reference


def test_labels_of_four_languages_lead_to_one_occupation() -> None:
    occupations = reference().occupations
    wanted = {label.concept.id for label in occupations.labelled("Software Developer") if label.preferred}
    assert len(wanted) == 1
    (concept_id,) = wanted
    labels = occupations.labels(concept_id)
    assert {label.language for label in labels} == {"en", "de", "fr", "nl"}
    assert labels[0].preferred
    assert occupations.labels("esco:none") == ()


def test_both_french_forms_of_a_label_are_known() -> None:
    occupations = reference().occupations
    assert occupations.labelled("directeur de supermarché")
    assert occupations.labelled("Directrice de Supermarché")


def test_related_occupations_come_closest_first() -> None:
    related = reference().occupations.related("onet:15-1252.00")
    assert [other.rank for other in related] == list(range(1, 21))
    assert related[0].tier == 0
    assert related[-1].tier == 2
    assert reference().occupations.related("onet:none") == ()


def test_an_isco_group_holds_its_occupations() -> None:
    assert "software developer" in {concept.name for concept in reference().occupations.group("2512")}


def test_a_rough_count_grows_with_place_and_titles() -> None:
    statistics = reference().statistics
    ghent = statistics.people(["software developer"], location_ids=["loc_2797656"], countries=[])
    belgium = statistics.people(["software developer"], location_ids=["loc_2797656"], countries=["BE"])
    world = statistics.people(["software developer"], location_ids=[], countries=[])
    both = statistics.people(["software developer", "civil engineer"], location_ids=[], countries=["BE"])
    assert ghent is not None
    assert belgium is not None
    assert world is not None
    assert both is not None
    assert 100 < ghent < belgium < both < world
    assert 5_000 < belgium < 200_000


def test_an_unknown_title_has_no_count_and_an_unknown_place_is_an_error() -> None:
    statistics = reference().statistics
    assert statistics.people(["qwxyzzt"], location_ids=[], countries=["BE"]) is None
    assert statistics.people([], location_ids=[], countries=["BE"]) is None
    with pytest.raises(KeyError):
        statistics.people(["software developer"], location_ids=["loc_1"], countries=[])
