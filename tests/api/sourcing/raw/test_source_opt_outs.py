"""People who opted out at the source are suppressed for all workspaces, known or not, even if the feed breaks off."""

from datetime import timedelta
from typing import Any

import pytest
from fastapi import FastAPI
from temporalio.testing import ActivityEnvironment

from activities import operate
from activities.operate import HousekeepingSteps, OptOutSteps
from activities.sourcing.people import PeopleCalls
from activities.upstream.people_data_labs.source import PeopleDataLabs
from activities.upstream.slots import UpstreamSlots
from models.base.database import Database, service_time
from models.base.steps import Do, NextStep, Queue, Step
from models.market.reference import reference
from models.operate import housekeeping
from tests.api.conftest import Workspace, error_of, run_sql
from tests.api.people.people import meet, slug
from tests.api.sourcing.raw.conftest import PEOPLE, SLOTS, Provider, find, spend
from tests.api.sourcing.sourcing import fund

FETCH = "/v1/people:fetch"
DUTY = Step(id=housekeeping.OPT_OUTS)
GLOBAL = (
    "select profile_id from suppressions where workspace_id is null and reason = 'source_opt_out' order by key_hash"
)


@pytest.fixture(autouse=True)
async def due(calls: object, database: Database) -> None:
    await database.run(housekeeping.ensure_duties)
    await run_sql(database, "update housekeeping set wake_at = null")


@pytest.fixture
def steps(app: FastAPI, database: Database, source: PeopleCalls) -> OptOutSteps:
    return OptOutSteps(database, app.state.kernel.vault, source)


async def read(steps: OptOutSteps) -> NextStep:
    return await ActivityEnvironment().run(steps.read, DUTY)


async def opt_out(provider: Provider, *source_ids: str) -> None:
    for one in source_ids:
        changed = await provider.http.post(f"/people/{one}", json={"state": "opted_out", "still_listed": True})
        changed.raise_for_status()


async def ids_of(provider: Provider, count: int) -> list[str]:
    """People who are there."""
    found = (await provider.http.get("/people", params={"limit": 200})).json()["data"]
    return [each["id"] for each in found if each["state"] == "present"][:count]


async def gone(provider: Provider) -> int:
    """How many people opted out at the provider."""
    found = (await provider.http.get("/people", params={"limit": PEOPLE})).json()["data"]
    return sum(each["state"] == "opted_out" for each in found)


async def source_id_of(database: Database, profile_id: str) -> str:
    named = "select value from person_keys where kind = 'source' and profile_id = :p"
    ((source_id,),) = await run_sql(database, named, p=profile_id)
    return str(source_id)


async def waits(database: Database, step: NextStep) -> timedelta:
    assert step.do is Do.WAIT
    async with database.transaction() as session:
        now = await service_time(session)
    ((wake_at,),) = await run_sql(database, "select wake_at from housekeeping where id = :id", id=DUTY.id)
    waiting: timedelta = wake_at - now
    return waiting


async def test_the_duty_reads_the_feed_on_the_queue_of_the_source(database: Database) -> None:
    step = await ActivityEnvironment().run(HousekeepingSteps(database).next, DUTY)
    assert step.call is not None
    assert (step.call.step, step.call.queue) == ("housekeeping.read_opt_outs", Queue.UPSTREAM)


async def test_known_and_unknown_people_are_suppressed_for_all_workspaces(
    workspace: Workspace, database: Database, provider: Provider, steps: OptOutSteps
) -> None:
    await fund(database, workspace)
    person, other = await find(workspace, 2)
    known = await source_id_of(database, person["id"])
    stranger, *_ = [one for one in await ids_of(provider, 50) if one != known]
    fetched = await spend(workspace, FETCH, {"profile_ids": [person["id"], other["id"]]}, key="kept")
    assert fetched.is_success
    await opt_out(provider, known, stranger)
    step = await read(steps)
    assert timedelta(hours=23) < await waits(database, step) <= timedelta(hours=24)
    error_of(await workspace.http.get(f"/v1/people/{person['id']}"), 404, "suppressed")
    error_of(await spend(workspace, FETCH, {"profile_ids": [person["id"], other["id"]]}, key="kept"), 409, "conflict")
    (met_later,) = await run_meeting(database, stranger)
    (row,) = (await spend(workspace, FETCH, {"profile_ids": [met_later]})).json()["data"]
    assert (row["status"], row["charged_credits"]) == ("suppressed", 0)
    (still,) = (await spend(workspace, FETCH, {"profile_ids": [other["id"]]})).json()["data"]
    assert still["status"] == "cached"
    assert (await workspace.http.get("/v1/suppressions")).json()["data"] == []


async def run_meeting(database: Database, source_id: str) -> list[str]:
    """Make a person known by the source's id."""
    return await meet(database, slug(), source_id=source_id)


async def test_reading_it_again_changes_nothing_but_for_people_met_since(
    database: Database, provider: Provider, steps: OptOutSteps
) -> None:
    ids = (await ids_of(provider, 3))[1:]
    await opt_out(provider, *ids)
    await read(steps)
    once = await run_sql(database, "select id, key_hash, profile_id from suppressions order by id")
    assert [row.profile_id for row in once] == [None] * await gone(provider)
    await read(steps)
    assert await run_sql(database, "select id, key_hash, profile_id from suppressions order by id") == once
    (met,) = await run_meeting(database, ids[0])
    await read(steps)
    now = [row.profile_id for row in await run_sql(database, GLOBAL)]
    assert len(now) == len(once)
    assert [one for one in now if one is not None] == [met]


async def test_a_feed_that_breaks_off_keeps_what_came_and_is_read_again_soon(
    database: Database, provider: Provider, steps: OptOutSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operate, "AT_ONCE", 2)
    ids = await ids_of(provider, 8)
    await opt_out(provider, *ids)
    await provider.fault("cut_off", "person/subjectrequest", count=1)
    step = await read(steps)
    assert timedelta(minutes=14) < await waits(database, step) <= timedelta(minutes=15)
    all_people = await gone(provider)
    assert len(await run_sql(database, GLOBAL)) == all_people // 2
    await read(steps)
    assert len(await run_sql(database, GLOBAL)) == all_people


@pytest.mark.parametrize(
    ("fault", "more", "minutes"),
    [
        ("endless_line", {}, 15),
        ("server_error", {"status": 503}, 15),
        ("html_body", {"status": 502}, 15),
        ("rate_limited", {"reset": "none"}, 15),
        ("connection_lost", {}, 15),
        ("server_error", {"status": 403}, 24 * 60),
        ("server_error", {"status": 404}, 24 * 60),
    ],
)
async def test_whatever_is_wrong_with_the_feed_the_duty_goes_on(
    database: Database, provider: Provider, steps: OptOutSteps, fault: str, more: dict[str, Any], minutes: int
) -> None:
    await opt_out(provider, *(await ids_of(provider, 2)))
    await provider.fault(fault, "person/subjectrequest", count=1, **more)
    step = await read(steps)
    assert timedelta(minutes=minutes - 1) < await waits(database, step) <= timedelta(minutes=minutes)
    assert await run_sql(database, GLOBAL) == []
    await read(steps)
    assert len(await run_sql(database, GLOBAL)) == await gone(provider)


async def test_without_a_key_the_duty_waits_an_hour(
    app: FastAPI, database: Database, sandbox: str, source: PeopleCalls
) -> None:
    keyless = PeopleDataLabs(base_url=sandbox, api_key=None)
    slots = UpstreamSlots(database.transaction, slots=SLOTS)
    await slots.open()
    await run_sql(database, "update upstream_slots set holder = null, busy_until = null")
    await slots.take()
    steps = OptOutSteps(database, app.state.kernel.vault, PeopleCalls(keyless, slots, reference))
    step = await read(steps)
    assert timedelta(minutes=59) < await waits(database, step) <= timedelta(hours=1)
    await slots.close()
    await keyless.close()
