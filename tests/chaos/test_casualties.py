"""Whom time does not wait for: what a killed worker was in the middle of, and nobody else."""

import asyncio
from typing import Any

import pytest

from stack.virtual_time import UNDER_WAY
from tests.chaos import casualties
from tests.chaos.casualties import MISSED_SECONDS, UNMOVED_SECONDS, Casualties
from tests.chaos.watch import Watch

SENDING = ("action act_1", "is being sent at 12:00:01")
ITS_ENROLLMENT = ("enrollment enr_1", "rung 3 times")
LATER_SEND = ("action act_2", "is being sent at 12:00:05")
ACCOUNT = ("account acc_1", "active, 7 calls")


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.at = 1000.0

    def monotonic(self) -> float:
        return self.at


class Past(Watch):
    """Rows as the database had them when the worker died."""

    async def fetch(self, statement: str) -> list[Any]:
        if statement == UNDER_WAY.text:
            return [SENDING, ACCOUNT]
        return [{"action": SENDING[0], "enrollment": ITS_ENROLLMENT[0]}]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(casualties, "time", clock)
    monkeypatch.setattr(casualties, "SETTLED_SECONDS", 0)
    return clock


def killed() -> Casualties:
    found = Casualties()
    asyncio.run(found.found_after_a_kill(Past("nowhere")))
    return found


def test_time_waits_for_everything_until_the_next_worker_runs(clock: Clock) -> None:
    assert killed().without((SENDING, ACCOUNT)) == (SENDING, ACCOUNT)


def test_a_send_that_died_is_not_waited_for_until_it_is_missed_but_a_later_one_is(clock: Clock) -> None:
    found = killed()
    found.is_back()
    assert found.without((SENDING, ITS_ENROLLMENT, LATER_SEND)) == (LATER_SEND,)
    clock.at += MISSED_SECONDS + 1
    assert found.without((SENDING, ITS_ENROLLMENT)) == (SENDING, ITS_ENROLLMENT)


def test_what_the_next_worker_does_not_take_up_is_not_waited_for_as_long_as_it_stays_as_it_was(clock: Clock) -> None:
    found = killed()
    found.is_back()
    assert found.without((ACCOUNT,)) == (ACCOUNT,)
    clock.at += UNMOVED_SECONDS + 1
    assert found.without((ACCOUNT,)) == ()
    moved = (ACCOUNT[0], "active, 8 calls")
    assert found.without((moved,)) == (moved,)
    assert found.without((ACCOUNT,)) == (ACCOUNT,), "once it has moved it is alive"


def test_in_the_calm_everything_is_waited_for(clock: Clock) -> None:
    found = killed()
    found.is_back()
    found.wait_for_all()
    assert found.without((SENDING, ITS_ENROLLMENT)) == (SENDING, ITS_ENROLLMENT)
