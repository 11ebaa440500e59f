"""What is drawn from a seed."""

from tests.chaos.hits import LONGEST_SECONDS, Blow, drawn
from tests.chaos.targets import API, WORKER

TARGETS = (WORKER, API)


def test_a_seed_repeats_the_same_hits_and_another_one_does_not() -> None:
    assert drawn(1, TARGETS, 100) == drawn(1, TARGETS, 100)
    assert drawn(1, TARGETS, 100) != drawn(2, TARGETS, 100)


def test_as_many_hits_are_drawn_as_were_asked_for_shared_out_among_the_targets() -> None:
    for count in (1, 2, 4, 7, 500):
        assert sum(map(len, drawn(1, TARGETS, count).values())) == count
    plans = drawn(1, TARGETS, 500)
    assert (len(plans["worker"]), len(plans["api"])) == (300, 200)


def test_every_process_is_killed_is_frozen_and_is_frozen_past_every_time_out() -> None:
    for plan in drawn(1, TARGETS, 500).values():
        assert {hit.blow for hit in plan} == {Blow.KILL, Blow.FREEZE}
        assert [hit for hit in plan if hit.frozen >= LONGEST_SECONDS[0]]
