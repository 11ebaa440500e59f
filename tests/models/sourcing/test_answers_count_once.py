"""An answer of the source counts once, however often and late it is written; missing credits skip no person."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database
from models.base.secrets import Vault
from models.base.steps import Do
from models.billing.rules.prices import CreditCharge
from models.billing.store import credits
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide, deliver, jobs
from models.sourcing.engine.decide import RUN_FETCH_PROFILES, RUN_READ_PAGE
from models.sourcing.engine.jobs import JOBS
from models.sourcing.rules.raw_calls import FetchAsk, WantedPerson
from models.sourcing.store import RunBudget
from models.sourcing.tables import Job, Run
from tests.models.conftest import Member, join
from tests.models.sourcing.run_world import World

ANN = "https://www.linkedin.com/in/ann"


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member, "w", tiers=(6,))


async def until(world: World, run_id: str, need: str) -> int:
    """Work the run until that is what it needs; the number of the call."""
    for _ in range(20):
        decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
        if decision.need is need:
            return decision.number
        await world.act(run_id, decision, None)
    raise AssertionError(f"the run never needs {need}")


async def unusable(world: World, run_id: str, number: int) -> Run:
    await world.database.run(lambda session: decide.unusable(session, run_id, number, final=False))
    return await world.run(run_id)


async def test_one_unusable_answer_that_is_written_three_times_fails_no_run(world: World) -> None:
    run_id = await world.start()
    number = await until(world, run_id, RUN_READ_PAGE)
    for _ in range(3):
        run = await unusable(world, run_id, number)
    assert (run.status, run.failures) == ("waiting_for_quota", 1)


async def test_a_call_whose_end_was_not_heard_of_is_not_begun_again_before_the_source_said(world: World) -> None:
    run_id = await world.start()
    number = await until(world, run_id, RUN_READ_PAGE)
    busy = timedelta(minutes=9)
    await world.database.run(lambda session: decide.put_off_run(session, run_id, number, after=busy))
    assert await world.database.run(lambda session: deliver.begin_page(session, run_id, number)) is None
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert decision.do is Do.WAIT


async def test_profiles_refused_for_now_are_counted_once_however_often_that_is_written(world: World) -> None:
    run_id = await world.start()
    number = await until(world, run_id, RUN_FETCH_PROFILES)
    ask = await world.database.run(lambda session: deliver.begin_profiles(session, run_id, number))
    assert ask is not None
    refused, fetched = ask.live[:1], await world.profiles(ask.live[1:])
    for _ in range(3):
        await world.database.run(lambda s: deliver.deliver_chunk(s, run_id, number, fetched, again=refused))
    run = await world.run(run_id)
    assert (run.failures, run.spent_profile_fetches, run.candidates_delivered, run.chunk) == (1, 5, 5, list(refused))
    assert (await world.drive(run_id)).candidates_delivered == 6


async def test_an_answer_to_a_call_from_before_the_end_is_nothing_to_the_extension(world: World) -> None:
    run_id = await world.start()
    number = await until(world, run_id, RUN_READ_PAGE)
    await world.database.run(lambda session: sourcing_store.request_cancellation(session, world.member.tenant, run_id))
    await world.drive(run_id)
    await extend(world, run_id)
    assert (await unusable(world, run_id, number)).failures == 0


async def extend(world: World, run_id: str) -> None:
    member = world.member
    more: dict[str, Any] = {"api_key_id": member.api_key_id, "add_target": 1, "add_budget": RunBudget()}
    await world.database.run(lambda session: sourcing_store.raise_bounds(session, member.tenant, run_id, **more))


async def test_an_extension_delivers_those_of_a_chunk_for_whom_no_credits_were_left(
    database: Database, vault: Vault
) -> None:
    poor = await database.run(lambda session: join(session, granted=20))
    world = World(database, vault, poor, "poor", tiers=(6,))
    run_id = await world.start()
    number = await until(world, run_id, RUN_FETCH_PROFILES)

    async def elsewhere(session: AsyncSession) -> None:
        purse = await credits.open_spending_limit(session, poor.payer)
        await purse.spend([CreditCharge("other", "contact", "elsewhere", 12)])

    await database.run(elsewhere)
    await world.fetch_profiles(run_id, number)
    run = await world.run(run_id)
    assert (run.status, run.stop_reason, run.candidates_delivered, run.people_looked_at) == (
        "completed",
        "budget",
        2,
        2,
    )
    moment = run.deadline_at
    assert moment is not None
    await database.run(
        lambda session: credits.grant_credits(
            session,
            workspace_id=poor.tenant.workspace_id,
            source="top_up",
            reference="pay_1",
            credits=50,
            expires_at=moment + timedelta(days=30),
        )
    )
    await extend(world, run_id)
    done = await world.drive(run_id)
    assert await world.candidates(run_id) == [f"0-{number:03}" for number in range(6)]
    assert (done.finish_detail, done.people_looked_at, done.duplicates_skipped) == ("ladder_exhausted", 6, 0)


async def test_a_job_counts_an_answer_without_data_once_and_is_not_begun_again_before_its_time(
    database: Database, vault: Vault, member: Member
) -> None:
    ask = FetchAsk(wanted=(WantedPerson(input=ANN, url=ANN),), max_age_days=30)
    made = {"api_key_id": member.api_key_id, "ask": ask, "view": "full"}
    job = await database.run(lambda session: jobs.create_job(session, vault, member.tenant, **made))  # type: ignore[arg-type]  # arguments of several types
    number = (await database.run(lambda session: JOBS.decide(session, job.id))).number
    for _ in range(3):
        await database.run(lambda session: JOBS.unusable(session, job.id, number, final=False))
    assert await database.run(lambda session: JOBS.begin(session, job.id, number)) is None
    after = await database.run(lambda session: JOBS.decide(session, job.id))
    async with database.reading() as session:
        row = await session.get_one(Job, job.id)
    assert (row.failures, after.do, row.status) == (1, Do.WAIT, "waiting_for_quota")
