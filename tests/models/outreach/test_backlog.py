"""After an outage what is overdue goes out one at a time: each rest, the hours and the caps are kept."""

import itertools
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do
from models.outreach.engine.claim import ClaimedAction
from models.outreach.engine.plan import OUTREACH_SEND
from models.outreach.engine.record import Done
from models.outreach.rules.caps import WorkingHours, gap_after
from tests.models.conftest import Member
from tests.models.outreach.sending_world import MONDAY, VISIT, World

OVERDUE = 40
OUTAGE = timedelta(hours=6)
BRUSSELS = ZoneInfo("Europe/Brussels")


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(VISIT)
    return made


async def work_off(world: World, subjects: list[str]) -> None:
    """Ask each enrollment for its next step, as its workflow would, until none is due."""
    waiting: dict[str, datetime] = dict.fromkeys(subjects, MONDAY)
    while waiting:
        subject = min(waiting, key=lambda one: (waiting[one], one))
        if waiting[subject] > await world.now():
            await world.at(waiting[subject])
        decision = await world.decide(subject)
        if decision.need == OUTREACH_SEND:
            answer = await world.claim(subject, decision.number)
            decision = await world.result(answer, Done()) if isinstance(answer, ClaimedAction) else answer
        if decision.do is Do.DONE:
            del waiting[subject]
        else:
            assert decision.until is not None, decision
            waiting[subject] = decision.until


async def test_forty_overdue_actions_go_out_one_at_a_time_inside_hours_and_caps(world: World) -> None:
    subjects = [await world.enroll() for _ in range(OVERDUE)]
    for subject in subjects:
        await world.decide(subject)
    await world.at(MONDAY + OUTAGE)
    await work_off(world, subjects)
    rows = await world.sql("select seed, claimed_at, sent_at from actions where outcome = 'sent' order by claimed_at")
    assert len(rows) == OVERDUE
    hours = WorkingHours()
    for earlier, later in itertools.pairwise(rows):
        assert later.claimed_at - earlier.sent_at >= gap_after(earlier.seed, earlier.sent_at, hours)
    assert min(row.claimed_at for row in rows) >= MONDAY + OUTAGE
    local = [row.claimed_at.astimezone(BRUSSELS) for row in rows]
    assert all(at.isoweekday() <= 5 and 8 <= at.hour < 19 for at in local)
    assert {at.date() for at in local} == {MONDAY.date()}  # a gap of at most 4.5 minutes each leaves them this day
