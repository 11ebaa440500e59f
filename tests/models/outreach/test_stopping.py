"""A ban on sends to a person stops their open enrollments in the same transaction, wherever the ban applies."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.tenants import Tenant
from models.outreach.engine.enroll import Given
from models.outreach.tables import Action, NetworkPerson
from models.people.rules.registers import SuppressionReason
from models.people.store import opt_outs, people, seen, suppressions
from models.people.store.people import Sighting
from models.people.store.seen import ImportedEntry
from tests.models.conftest import SECRET, Member
from tests.models.outreach.enrolling_world import crowd, execute
from tests.models.outreach.sending_world import INVITE, World

Forbid = Callable[[AsyncSession, Vault, Tenant, str], Awaitable[object]]


async def by_hand(session: AsyncSession, _: Vault, tenant: Tenant, profile_id: str) -> None:
    await suppressions.suppress(session, tenant, profile_id, reason=SuppressionReason.MANUAL)


async def by_source(session: AsyncSession, _: Vault, __: Tenant, profile_id: str) -> None:
    await suppressions.suppress(session, None, profile_id, reason=SuppressionReason.SOURCE_OPT_OUT)


async def by_opt_out(session: AsyncSession, vault: Vault, _: Tenant, profile_id: str) -> None:
    await opt_outs.opt_out_person(session, vault, vault.disguise(opt_outs.PURPOSE, profile_id), erase=False)


async def by_erasure(session: AsyncSession, _: Vault, tenant: Tenant, profile_id: str) -> None:
    await suppressions.erase_person(session, tenant.workspace_id, profile_id)


async def by_note(session: AsyncSession, _: Vault, tenant: Tenant, profile_id: str) -> None:
    await seen.note_seen(session, tenant, profile_id, {"do_not_contact": True})


async def by_import(session: AsyncSession, _: Vault, tenant: Tenant, profile_id: str) -> None:
    await seen.import_entries(session, tenant, {profile_id: ImportedEntry(do_not_contact=True)})


WAYS = {
    "manual": (by_hand, "suppressed", "suppressed"),
    "source": (by_source, "suppressed", "suppressed"),
    "opt_out": (by_opt_out, "suppressed", "suppressed"),
    "erasure": (by_erasure, "erased", "suppressed"),
    "note": (by_note, "do_not_contact", "do_not_contact"),
    "import": (by_import, "do_not_contact", "do_not_contact"),
}


@pytest.fixture
async def world(database: Database, vault: Vault, member: Member) -> World:
    made = World(database, vault, member)
    await made.open(INVITE)
    return made


async def scheduled_person(world: World) -> str:
    """A person who is scheduled for an invite."""
    (given,) = await crowd(world, 1)
    await execute(world, [given])
    assert given.profile_id is not None
    return given.profile_id


async def customers(world: World) -> World:
    """The same workspace's customer, with an account and a sequence of its own."""
    inside = Member(Tenant(world.member.tenant.workspace_id, "cus_one"), world.member.api_key_id)
    other = World(world.database, world.vault, inside)
    await world.sql("update outreach_accounts set provider_id = 'other', network_user_id = 'other'")
    await other.open(INVITE)
    return other


async def forbid(world: World, way: Forbid, profile_id: str) -> None:
    async def work(session: AsyncSession) -> None:
        await people.lock_people(session, [profile_id])
        await way(session, world.vault, world.member.tenant, profile_id)

    await world.run(work)


async def told(world: World, kind: str) -> list[dict[str, Any]]:
    return [row.data for row in await world.sql("select data from events where type = :kind", kind=kind)]


async def direct(world: World, profile_id: str, kind: str) -> str:
    """A direct send that is planned."""

    async def work(session: AsyncSession) -> str:
        now, tenant = await service_time(session), world.member.tenant
        row = Action(
            id=new_id("act", now),
            workspace_id=tenant.workspace_id,
            tenant_id=tenant.id,
            type=kind,
            seed=kind,
            account_id=world.account_id,
            profile_id=profile_id,
            scheduled_at=now,
            text="Hello" if kind == "message" else None,
            created_at=now,
        )
        session.add(row)
        return row.id

    return await world.run(work)


@pytest.mark.parametrize("name", list(WAYS))
async def test_it_stops_the_enrollment_and_cancels_what_is_planned(world: World, name: str) -> None:
    way, reason, action_reason = WAYS[name]
    profile_id, untouched = await scheduled_person(world), await scheduled_person(world)
    await forbid(world, way, profile_id)
    rows = {row.profile_id: row for row in await world.sql("select * from enrollments")}
    stopped = rows[profile_id]
    assert (stopped.status, stopped.reason, stopped.next_action_at) == ("stopped", reason, None)
    assert stopped.finished_at is not None
    assert stopped.rings > 1  # woken: its workflow ends
    assert rows[untouched].status == "scheduled"
    planned = {row.profile_id: row for row in await world.sql("select * from actions")}
    cancelled = planned[profile_id]
    assert (cancelled.outcome, cancelled.reason, cancelled.scheduled_at) == ("cancelled", action_reason, None)
    assert planned[untouched].outcome == "scheduled"
    failed = await told(world, "enrollment.failed")
    assert [(one["profile_id"], one["status"], one["reason"]) for one in failed] == [(profile_id, "stopped", reason)]
    assert await told(world, "action.failed") == []


async def test_what_is_being_sent_is_left_to_its_workflow(world: World) -> None:
    profile_id = await scheduled_person(world)
    await world.sql("update actions set outcome = 'sending'")
    await forbid(world, by_hand, profile_id)
    assert [row.outcome for row in await world.sql("select outcome from actions")] == ["sending"]
    assert [row.status for row in await world.sql("select status from enrollments")] == ["stopped"]


@pytest.mark.parametrize(
    ("way", "kept"), [(by_hand, set()), (by_note, {"withdraw_invite"}), (by_import, {"withdraw_invite"})]
)
async def test_direct_sends_are_cancelled_too_but_a_withdrawal_still_goes_out(
    world: World, way: Forbid, kept: set[str]
) -> None:
    profile_id = await scheduled_person(world)
    for kind in ("message", "profile_visit", "withdraw_invite"):
        await direct(world, profile_id, kind)
    await forbid(world, way, profile_id)
    rows = await world.sql("select type, outcome, rings from actions where enrollment_id is null")
    assert {row.type for row in rows if row.outcome == "scheduled"} == kept
    assert all(row.rings == 1 for row in rows if row.outcome == "cancelled")


@pytest.mark.parametrize("way", [by_hand, by_note])
async def test_a_queued_answer_is_cancelled_like_everything_planned(world: World, way: Forbid) -> None:
    """The ban came after the answer was written; an answer written afterwards gets a new decision."""
    profile_id = await scheduled_person(world)
    answer = await direct(world, profile_id, "message")
    await world.sql(
        "insert into conversations (id, workspace_id, tenant_id, account_id, profile_id, chat_id, created_at)"
        " select 'cnv_one', workspace_id, tenant_id, account_id, profile_id, 'chat', service_now() from actions"
        " where id = :id",
        id=answer,
    )
    await world.sql("update actions set conversation_id = 'cnv_one' where id = :id", id=answer)
    await forbid(world, way, profile_id)
    (row,) = await world.sql("select outcome, scheduled_at from actions where id = :id", id=answer)
    assert (row.outcome, row.scheduled_at) == ("cancelled", None)


@pytest.mark.parametrize(
    ("way", "at_customer"),
    [(by_hand, "stopped"), (by_opt_out, "stopped"), (by_erasure, "stopped"), (by_note, "scheduled")],
)
async def test_what_the_account_forbids_binds_its_customers_but_for_its_notes(
    world: World, way: Forbid, at_customer: str
) -> None:
    profile_id = await scheduled_person(world)
    inside = await customers(world)
    await execute(inside, [Given(profile_id=profile_id, values={"first_name": "Jo"})])
    await forbid(world, way, profile_id)
    rows = {row.tenant_id: row.status for row in await world.sql("select tenant_id, status from enrollments")}
    assert rows == {world.member.tenant.id: "stopped", "cus_one": at_customer}


@pytest.mark.parametrize(
    ("way", "at_account"), [(by_hand, "scheduled"), (by_note, "scheduled"), (by_opt_out, "stopped")]
)
async def test_a_customers_ban_does_not_apply_to_others(world: World, way: Forbid, at_account: str) -> None:
    profile_id = await scheduled_person(world)
    inside = await customers(world)
    await execute(inside, [Given(profile_id=profile_id, values={"first_name": "Jo"})])
    await forbid(inside, way, profile_id)
    rows = {row.tenant_id: row.status for row in await world.sql("select tenant_id, status from enrollments")}
    assert rows == {world.member.tenant.id: at_account, "cus_one": "stopped"}


async def test_an_erasure_leaves_no_word_but_what_caps_count(world: World) -> None:
    profile_id = await scheduled_person(world)
    await world.sql("update actions set outcome = 'sent', claimed_at = service_now(), ended_at = service_now()")

    async def know(session: AsyncSession) -> None:
        tenant = world.member.tenant
        session.add(
            NetworkPerson(
                account_id=world.account_id,
                profile_id=profile_id,
                workspace_id=tenant.workspace_id,
                tenant_id=tenant.id,
                network_id="ACo-of-jo",
            )
        )

    await world.run(know)
    await forbid(world, by_erasure, profile_id)
    assert await world.sql("select 1 from network_people") == []
    assert [row.given for row in await world.sql("select given from enrollments")] == [{}]
    (kept,) = await world.sql("select text, outcome, text is null as bare from actions")
    assert (kept.text, kept.outcome, kept.bare) == ("", "sent", False)


async def join(world: World, first: Sighting, second: Sighting) -> tuple[str, str]:
    """Two sightings of one person under two ids."""
    workspace_id = world.member.tenant.workspace_id
    ids = []
    for sighting in (first, second):
        one = sighting
        found = await world.run(lambda s: people.identify(s, world.vault, [one], workspace_id=workspace_id))  # noqa: B023 - run at once
        ids.append(found[sighting.source_id])
    return ids[0], ids[1]


URLS = ("https://www.linkedin.com/in/ada", "https://www.linkedin.com/in/ada-lovelace")


async def two_ids_of_one(world: World) -> tuple[str, str]:
    return await join(world, Sighting("one", "a", URLS[0]), Sighting("two", "b", URLS[1]))


async def found_to_be_one(world: World) -> None:
    """A source names both addresses under one id of its own."""
    await join(world, Sighting("three", "c", URLS[0]), Sighting("three", "c", URLS[1]))


async def test_of_two_enrollments_that_turn_out_to_be_of_one_person_the_later_stops(world: World) -> None:
    older, newer = await two_ids_of_one(world)
    for profile_id in (newer, older):
        await execute(world, [Given(profile_id=profile_id, values={"first_name": "Ada"})])
        await world.later(minutes=1)
    await found_to_be_one(world)
    rows = await world.sql("select profile_id, status, reason from enrollments order by created_at")
    assert [tuple(row) for row in rows] == [
        (older, "scheduled", None),
        (older, "stopped", "already_contacted"),
    ]
    actions = await world.sql("select profile_id, outcome from actions order by created_at")
    assert [tuple(row) for row in actions] == [(older, "scheduled"), (older, "cancelled")]


@pytest.mark.parametrize(("way", "reason"), [(by_hand, "suppressed"), (by_note, "do_not_contact")])
async def test_who_turns_out_to_be_forbidden_is_stopped(world: World, way: Forbid, reason: str) -> None:
    older, newer = await two_ids_of_one(world)
    await execute(world, [Given(profile_id=newer, values={"first_name": "Ada"})])
    await forbid(world, way, older)
    assert [row.status for row in await world.sql("select status from enrollments")] == ["scheduled"]
    await found_to_be_one(world)
    (row,) = await world.sql("select profile_id, status, reason from enrollments")
    assert tuple(row) == (older, "stopped", reason)


async def test_the_operators_command_stops_what_is_open_with_a_person(world: World, database_url: str) -> None:
    profile_id = await scheduled_person(world)
    settings = {"DATABASE_URL": database_url, "SECRET_KEY": SECRET}
    command = (sys.executable, "-m", "models.erase", "--profile-id", profile_id)
    process = await asyncio.create_subprocess_exec(*command, env=os.environ | settings, stdout=asyncio.subprocess.PIPE)
    answer, _ = await process.communicate()
    assert (process.returncode, answer[:4]) == (0, b"ers_")
    (enrollment,) = await world.sql("select status, reason from enrollments")
    assert tuple(enrollment) == ("stopped", "erased")
    assert [row.outcome for row in await world.sql("select outcome from actions")] == ["cancelled"]


@pytest.mark.parametrize("process", ["models.erase", "worker", "api.app"])
def test_every_process_that_changes_people_stops_outreach(process: str) -> None:
    code = f"import {process}; from models.people.outreach_port import outreach; outreach().stop"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
