"""Virtual time does not wait for the work of a killed worker, and waits for everything else."""

import asyncio
from typing import Any

import pytest

from stack.virtual_time import UNDER_WAY
from tests.chaos import interrupted_work
from tests.chaos.interrupted_work import MISSED_SECONDS, UNMOVED_SECONDS, InterruptedWork
from tests.chaos.watch import Watch

SENDING = ("action act_1", "is being sent at 12:00:01")
ITS_ENROLLMENT = ("enrollment enr_1", "woken 3 times")
LATER_SEND = ("action act_2", "is being sent at 12:00:05")
ACCOUNT = ("account acc_1", "active, 7 calls")


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.at = 1000.0

    def monotonic(self) -> float:
        return self.at


class Past(Watch):
    """The rows of the database when the worker died."""

    async def fetch(self, statement: str) -> list[Any]:
        if statement == UNDER_WAY.text:
            return [SENDING, ACCOUNT]
        return [{"action": SENDING[0], "enrollment": ITS_ENROLLMENT[0]}]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(interrupted_work, "time", clock)
    monkeypatch.setattr(interrupted_work, "SETTLED_SECONDS", 0)
    return clock


def killed() -> InterruptedWork:
    found = InterruptedWork()
    asyncio.run(found.note_after_kill(Past("nowhere")))
    return found


def test_time_waits_for_everything_until_the_next_worker_runs(clock: Clock) -> None:
    assert killed().without((SENDING, ACCOUNT)) == (SENDING, ACCOUNT)


def test_time_does_not_wait_for_an_interrupted_send_until_temporal_notices_but_for_a_later_one(clock: Clock) -> None:
    found = killed()
    found.note_restart()
    assert found.without((SENDING, ITS_ENROLLMENT, LATER_SEND)) == (LATER_SEND,)
    clock.at += MISSED_SECONDS + 1
    assert found.without((SENDING, ITS_ENROLLMENT)) == (SENDING, ITS_ENROLLMENT)


def test_time_does_not_wait_for_unchanged_work_that_the_next_worker_has_not_resumed(clock: Clock) -> None:
    found = killed()
    found.note_restart()
    assert found.without((ACCOUNT,)) == (ACCOUNT,)
    clock.at += UNMOVED_SECONDS + 1
    assert found.without((ACCOUNT,)) == ()
    moved = (ACCOUNT[0], "active, 8 calls")
    assert found.without((moved,)) == (moved,)
    assert found.without((ACCOUNT,)) == (ACCOUNT,), "work that has changed is under way"


def test_after_the_hits_time_waits_for_everything(clock: Clock) -> None:
    found = killed()
    found.note_restart()
    found.wait_for_all()
    assert found.without((SENDING, ITS_ENROLLMENT)) == (SENDING, ITS_ENROLLMENT)
