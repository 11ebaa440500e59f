"""Who is meant: never a guess."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.people.rules.identity import NEAR, PossiblePerson, best_match

BOTH = frozenset({"name", "company"})


def possible(*confidences: float, on: frozenset[str] = BOTH) -> list[PossiblePerson]:
    return [PossiblePerson(f"prof_{n}", confidence, on) for n, confidence in enumerate(confidences)]


def test_one_who_stands_out_is_meant() -> None:
    best = best_match(possible(0.6, 0.9), min_confidence=0.6)
    assert best is not None
    assert best.person == "prof_1"


@pytest.mark.parametrize("confidences", [(), (0.59,), (0.9, 0.9), (0.9, 0.85), (0.7, 0.9, 0.81)])
def test_no_candidate_or_a_near_tie_is_no_match(confidences: tuple[float, ...]) -> None:
    assert best_match(possible(*confidences), min_confidence=0.6) is None


@pytest.mark.parametrize("on", [{"name"}, {"name", "locality", "country"}, set()])
def test_a_name_and_a_town_are_not_enough(on: set[str]) -> None:
    assert best_match(possible(0.99, on=frozenset(on)), min_confidence=0.0) is None


@given(st.lists(st.floats(0, 1), max_size=6), st.floats(0, 1))
def test_a_match_is_confident_and_far_ahead(confidences: list[float], least: float) -> None:
    best = best_match(possible(*confidences), min_confidence=least)
    if best is not None:
        others = sorted(confidences)[:-1]
        assert best.confidence == max(confidences) >= least
        assert all(best.confidence - other >= NEAR for other in others)
