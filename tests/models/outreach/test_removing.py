"""Removing an account ends what it had ahead, and nothing else."""

from typing import Any

import pytest
from sqlalchemy import select
from sqlmodel import col

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.outreach.engine import stop
from models.outreach.tables import Action, Enrollment, OutreachSequence
from models.people.store import people
from models.people.store.people import Sighting
from tests.models.conftest import Member
from tests.models.outreach.account_world import Accounts


@pytest.fixture
def world(database: Database, member: Member) -> Accounts:
    return Accounts(database, member.tenant)


async def person(world: Accounts, vault: Vault) -> str:
    async with world.database.transaction() as session:
        name = new_id("x", await service_time(session))
        seen = Sighting("test", name, f"https://www.linkedin.com/in/{name.replace('_', '-')}")
        found = await people.identify(session, vault, [seen], workspace_id=world.tenant.workspace_id)
        return found[name]


async def enrolled(world: Accounts, account_id: str, profile_id: str, *, status: str, outcome: str) -> str:
    """A person in a sequence of the account, with one action."""
    async with world.database.transaction() as session:
        now = await service_time(session)
        whose: dict[str, Any] = {"workspace_id": world.tenant.workspace_id, "tenant_id": world.tenant.id}
        sequence = OutreachSequence(
            id=new_id("seq", now), account_id=account_id, name="S", steps=[], created_at=now, updated_at=now, **whose
        )
        session.add(sequence)
        enrollment = Enrollment(
            id=new_id("enr", now),
            sequence_id=sequence.id,
            account_id=account_id,
            profile_id=profile_id,
            status=status,
            created_at=now,
            **whose,
        )
        session.add(enrollment)
        await session.flush()
        action = Action(
            id=new_id("act", now),
            type="invite",
            outcome=outcome,
            seed="s",
            account_id=account_id,
            profile_id=profile_id,
            enrollment_id=enrollment.id,
            sequence_id=sequence.id,
            step_id="step_1",
            created_at=now,
            **whose,
        )
        session.add(action)
        return enrollment.id


async def test_open_enrollments_fail_and_what_is_planned_is_cancelled(world: Accounts, vault: Vault) -> None:
    account_id, other_id = await world.made(), await world.made()
    cases = [("active", "scheduled"), ("awaiting_approval", "awaiting_approval"), ("completed", "sent")]
    mine = [
        await enrolled(world, account_id, await person(world, vault), status=status, outcome=outcome)
        for status, outcome in cases
    ]
    sending = await enrolled(world, account_id, await person(world, vault), status="paused", outcome="sending")
    others = await enrolled(world, other_id, await person(world, vault), status="active", outcome="scheduled")
    await world.do(account_id, stop.remove_account)
    await world.do(account_id, stop.remove_account)
    async with world.database.transaction() as session:
        enrollments = {row.id: row for row in await session.scalars(select(Enrollment))}
        actions = {row.enrollment_id: row for row in await session.scalars(select(Action).order_by(col(Action.id)))}
    assert [(enrollments[one].status, actions[one].outcome) for one in (*mine, sending, others)] == [
        ("failed", "cancelled"),
        ("failed", "cancelled"),
        ("completed", "sent"),
        ("failed", "sending"),
        ("active", "scheduled"),
    ]
    assert {enrollments[one].reason for one in (*mine[:2], sending)} == {"account_removed"}
    assert all(enrollments[one].rings for one in mine[:2]), "their workflows hear of it"
    told = await world.events()
    assert [type for type, _ in told] == ["enrollment.failed"] * 3
    assert {data["enrollment_id"] for _, data in told} == {*mine[:2], sending}
    assert (await world.row(account_id)).status == "removed"
