"""Hits are drawn from a seed."""

from tests.chaos.hits import LONGEST_SECONDS, HitKind, drawn
from tests.chaos.targets import API, WORKER

TARGETS = (WORKER, API)


def test_the_same_seed_draws_the_same_hits_and_another_seed_draws_others() -> None:
    assert drawn(1, TARGETS, 100) == drawn(1, TARGETS, 100)
    assert drawn(1, TARGETS, 100) != drawn(2, TARGETS, 100)


def test_the_requested_number_of_hits_is_divided_among_the_targets() -> None:
    for count in (1, 2, 4, 7, 500):
        assert sum(map(len, drawn(1, TARGETS, count).values())) == count
    plans = drawn(1, TARGETS, 500)
    assert (len(plans["worker"]), len(plans["api"])) == (300, 200)


def test_every_process_is_killed_frozen_and_frozen_beyond_every_time_out() -> None:
    for plan in drawn(1, TARGETS, 500).values():
        assert {hit.kind for hit in plan} == {HitKind.KILL, HitKind.FREEZE}
        assert [hit for hit in plan if hit.frozen >= LONGEST_SECONDS[0]]
