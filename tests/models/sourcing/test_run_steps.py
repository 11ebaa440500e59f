"""The steps of a run: same candidates and same ledger whatever dies, repeats or races; limits that hold."""

import asyncio
import random
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, lock_people_rows, service_time
from models.base.errors import Conflict, NotFound
from models.base.ids import new_id
from models.base.secrets import Vault
from models.base.steps import Do
from models.base.tenants import Tenant
from models.people.store import people
from models.people.tables import Suppression
from models.sourcing import store as sourcing_store
from models.sourcing.engine import decide, deliver
from models.sourcing.engine.decide import RUN_FETCH_PROFILES, RUN_READ_PAGE
from models.sourcing.rules.runs import LIFE, retry_delay
from models.sourcing.store import RunBudget
from tests.interleaving import until_blocked
from tests.models.conftest import Member, join
from tests.models.sourcing.run_world import World


@pytest.fixture
def world(database: Database, vault: Vault, member: Member) -> World:
    return World(database, vault, member, "w")


async def test_a_run_delivers_its_target_in_ladder_order_and_charges_each_person_once(world: World) -> None:
    run = await world.drive(await world.start(target=60))
    assert (run.status, run.stop_reason, run.finish_detail) == ("completed", "finish", "target_reached")
    assert await world.candidates(run.id) == [f"0-{n:03}" for n in range(60)]
    assert await world.ledger() == [("lead", 60), ("live_profile", 120)]
    assert (run.spent_credits, run.spent_pages, run.spent_profile_fetches) == (180, 2, 60)
    assert (run.reserved_credits, run.reserved_fetches, run.chunk) == (0, 0, None)


@pytest.mark.parametrize("seed", range(6))
async def test_crashes_repeats_and_stale_steps_change_nothing_in_the_end(
    database: Database, vault: Vault, seed: int
) -> None:
    calm_world = World(database, vault, await database.run(join), "calm", vanished=frozenset({3, 40}))
    wild_world = World(database, vault, await database.run(join), "wild", vanished=frozenset({3, 40}))
    calm = await calm_world.drive(await calm_world.start(target=60))
    wild = await wild_world.drive(await wild_world.start(target=60), chaos=random.Random(seed))
    assert await wild_world.candidates(wild.id) == await calm_world.candidates(calm.id)
    assert await wild_world.ledger() == await calm_world.ledger()
    for name in (
        "status",
        "spent_credits",
        "spent_pages",
        "people_looked_at",
        "duplicates_skipped",
        "candidates_delivered",
    ):
        assert getattr(wild, name) == getattr(calm, name), name


async def test_two_workers_that_deliver_the_same_chunk_deliver_it_once(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    number = (await world.run(run_id)).call_number
    await asyncio.gather(*(world.fetch_profiles(run_id, number) for _ in range(4)))
    assert len(await world.candidates(run_id)) == 30
    assert await world.ledger() == [("lead", 30), ("live_profile", 60)]


async def step_until(world: World, run_id: str, need: str) -> None:
    """Work the run until that is what it needs."""
    for _ in range(20):
        decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
        if decision.need is need:
            return
        await world.act(run_id, decision, None)
    raise AssertionError(f"the run never needs {need}")


async def test_vanished_people_cost_nothing_and_are_made_up_for(
    database: Database, vault: Vault, member: Member
) -> None:
    world = World(database, vault, member, "v", vanished=frozenset(range(10)))
    run = await world.drive(await world.start())
    assert await world.candidates(run.id) == [f"0-{n:03}" for n in range(10, 40)]
    assert run.spent_credits == 90


async def test_the_ladder_ends_a_run_that_cannot_reach_its_target(
    database: Database, vault: Vault, member: Member
) -> None:
    world = World(database, vault, member, "s", tiers=(10, 12))
    run = await world.drive(await world.start())
    assert (run.status, run.stop_reason, run.finish_detail) == ("completed", "finish", "ladder_exhausted")
    assert run.candidates_delivered == 22


async def test_a_run_without_new_people_has_no_audience(database: Database, vault: Vault, member: Member) -> None:
    world = World(database, vault, member, "n", tiers=(0,))
    run = await world.drive(await world.start())
    assert (run.status, run.stop_reason) == ("completed_no_audience", None)


async def test_a_credit_budget_is_never_exceeded_and_ends_the_run(world: World) -> None:
    run = await world.drive(await world.start(budget=RunBudget(max_credits=20)))
    assert (run.status, run.stop_reason, run.spent_credits) == ("completed", "budget", 18)


async def test_a_page_budget_ends_the_run(database: Database, vault: Vault, member: Member) -> None:
    world = World(database, vault, member, "p", tiers=(70,))
    run = await world.drive(await world.start(target=60, budget=RunBudget(max_pages=1)))
    assert (run.stop_reason, run.spent_pages, run.candidates_delivered) == ("budget", 1, 50)


async def test_a_profile_cap_ends_the_run(world: World) -> None:
    run = await world.drive(await world.start(budget=RunBudget(max_profile_fetches=12)))
    assert (run.stop_reason, run.spent_profile_fetches, run.candidates_delivered) == ("profile_cap", 12, 12)


async def test_a_balance_that_runs_out_ends_the_run_with_what_it_paid(database: Database, vault: Vault) -> None:
    poor = await database.run(lambda session: join(session, granted=31))
    world = World(database, vault, poor, "b")
    run = await world.drive(await world.start())
    assert (run.status, run.stop_reason, run.spent_credits, run.candidates_delivered) == ("completed", "budget", 30, 10)
    async with database.transaction() as session:
        assert await session.scalar(text("select sum(remaining_credits) from grants")) == 1


async def test_the_deadline_of_three_hours_ends_the_run_and_restarts_with_an_extension(world: World) -> None:
    run_id = await world.start(target=60)
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    await world.advance(LIFE)
    late = await world.drive(run_id)
    assert (late.status, late.stop_reason) == ("completed", "time")
    await extend(world, run_id, add_target=1)
    done = await world.drive(run_id)
    assert (done.stop_reason, done.candidates_delivered) == ("finish", 61)


async def extend(world: World, run_id: str, *, add_target: int) -> None:
    await world.database.run(
        lambda session: sourcing_store.raise_bounds(
            session,
            world.member.tenant,
            run_id,
            api_key_id=world.member.api_key_id,
            add_target=add_target,
            add_budget=RunBudget(),
        )
    )


async def test_an_extension_continues_from_the_checkpoint_without_paying_a_page_again(world: World) -> None:
    run_id = await world.start()
    first = await world.drive(run_id)
    assert world.calls.count("page") == first.spent_pages == 1
    await extend(world, run_id, add_target=20)
    done = await world.drive(run_id)
    assert done.candidates_delivered == 50
    assert world.calls.count("page") == done.spent_pages == 1
    assert len(set(await world.candidates(run_id))) == 50


async def test_an_overlapping_run_skips_pages_already_paid_and_people_already_seen(world: World) -> None:
    await world.drive(await world.start())
    second = await world.drive(await world.start())
    assert second.spent_pages == 1  # the second page of the tier: the first was paid by the first run
    assert second.duplicates_skipped == 30
    assert await world.candidates(second.id) == [f"0-{n:03}" for n in range(30, 60)]


async def test_mark_seen_false_lets_a_later_run_deliver_the_same_people_without_a_second_lead(world: World) -> None:
    first = await world.drive(await world.start(mark_seen=False))
    second = await world.drive(await world.start())
    assert await world.candidates(first.id) == await world.candidates(second.id)
    assert second.spent_credits == 0  # leads paid, profiles cached
    assert second.spent_profile_fetches == 0


@pytest.mark.parametrize(
    ("statement", "code"),
    [
        ("update api_keys set revoked_at = service_now()", "key_revoked"),
        ("update api_keys set expires_at = service_now()", "key_revoked"),
        ("update workspaces set suspended_at = service_now()", "workspace_suspended"),
    ],
)
async def test_a_revoked_key_or_suspended_workspace_fails_the_run(world: World, statement: str, code: str) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    async with world.database.transaction() as session:
        await session.execute(text(statement))
    run = await world.drive(run_id)
    assert (run.status, run.failure_code, run.reserved_credits) == ("failed", code, 0)


async def test_a_disabled_customer_fails_its_run(database: Database, vault: Vault, inside: Member) -> None:
    world = World(database, vault, inside, "within")
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    async with database.transaction() as session:
        await session.execute(text("update customers set status = 'disabled'"))
    run = await world.drive(run_id)
    assert (run.status, run.failure_code, run.reserved_credits) == ("failed", "customer_disabled", 0)


async def test_cancel_stops_after_the_current_step_and_keeps_what_was_delivered(world: World) -> None:
    run_id = await world.start(target=60)
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    number = (await world.run(run_id)).call_number
    await cancel(world, run_id)
    await world.fetch_profiles(run_id, number)
    run = await world.drive(run_id)
    assert (run.status, run.candidates_delivered) == ("aborted", 50)
    again = await cancel(world, run_id)
    assert again == "aborted"
    with pytest.raises(NotFound):
        await world.database.run(
            lambda session: sourcing_store.request_cancellation(session, Tenant("ws_other"), run_id)
        )


async def cancel(world: World, run_id: str) -> str:
    run = await world.database.run(
        lambda session: sourcing_store.request_cancellation(session, world.member.tenant, run_id)
    )
    return run.status


async def test_a_completed_run_cannot_be_cancelled_nor_a_running_one_extended(world: World) -> None:
    run_id = await world.start()
    with pytest.raises(Conflict):
        await extend(world, run_id, add_target=1)
    await world.drive(run_id)
    with pytest.raises(Conflict):
        await cancel(world, run_id)


async def suppress(session: AsyncSession, world: World, slugs: Sequence[str]) -> None:
    now = await service_time(session)
    for slug in slugs:
        key_hash = people.url_hash(world.vault, f"https://www.linkedin.com/in/{slug}")
        session.add(
            Suppression(
                id=new_id("sup", now),
                workspace_id=world.member.tenant.workspace_id,
                key_hash=key_hash,
                reason="manual",
                created_at=now,
            )
        )
    await session.flush()


async def test_suppressed_people_are_counted_and_neither_fetched_nor_charged(world: World) -> None:
    await world.database.run(lambda session: suppress(session, world, ["w-0-000", "w-0-002"]))
    run = await world.drive(await world.start())
    names = await world.candidates(run.id)
    assert "0-000" not in names
    assert "0-002" not in names
    assert (run.omitted_suppressed, run.spent_credits, run.candidates_delivered) == (2, 90, 30)


async def test_an_opt_out_that_commits_while_the_chunk_is_fetched_wins(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    run = await world.run(run_id)
    ask = await world.database.run(lambda session: deliver.begin_profiles(session, run_id, run.call_number))
    assert ask is not None
    fetched = await world.profiles(ask.live)
    await world.database.run(lambda session: suppress(session, world, ["w-0-005"]))
    await world.database.run(lambda session: deliver.deliver_chunk(session, run_id, run.call_number, fetched))
    assert "0-005" not in await world.candidates(run_id)
    assert await world.ledger() == [("lead", 29), ("live_profile", 58)]


async def test_a_delivery_waits_for_the_lock_on_the_person_and_reads_again(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    run = await world.run(run_id)
    assert run.chunk is not None
    async with world.database.transaction() as session:
        await lock_people_rows(session, run.chunk[:1])
        await suppress(session, world, ["w-0-000"])
        delivering = asyncio.create_task(world.fetch_profiles(run_id, run.call_number))
        await until_blocked(world.database, delivering)
    await delivering
    assert "0-000" not in await world.candidates(run_id)


async def test_a_busy_source_shows_waiting_for_quota_until_its_time_and_then_goes_on(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_READ_PAGE)
    number = (await world.run(run_id)).call_number
    await world.database.run(lambda session: decide.put_off_run(session, run_id, number, after=None))
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert decision.do is Do.WAIT
    run = await world.run(run_id)
    assert run.status == decision.status == "waiting_for_quota"
    assert decision.until == run.retry_at == run.wake_at
    assert (await world.drive(run_id)).candidates_delivered == 30


async def unusable(world: World, run_id: str, number: int) -> None:
    await world.database.run(lambda session: decide.unusable(session, run_id, number, final=False))


async def test_three_unusable_answers_fail_the_run_and_charge_nothing(world: World) -> None:
    run_id = await world.start()
    for _ in range(3):
        await step_until(world, run_id, RUN_READ_PAGE)
        await unusable(world, run_id, (await world.run(run_id)).call_number)
        await world.advance(retry_delay(10))
    run = await world.run(run_id)
    assert (run.status, run.failure_code, await world.ledger()) == ("failed", "upstream_error", [])


async def test_the_page_that_will_be_needed_is_read_ahead_once_and_paid_once(world: World) -> None:
    run_id = await world.start(target=60)
    await step_until(world, run_id, RUN_READ_PAGE)
    await world.read_page(run_id, (await world.run(run_id)).call_number)
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert decision.need == RUN_FETCH_PROFILES
    assert decision.ahead is not None
    await asyncio.gather(*(world.read_ahead(run_id) for _ in range(3)))
    await world.fetch_profiles(run_id, decision.number)
    await world.read_ahead(run_id)  # late: the run is past it
    done = await world.drive(run_id)
    assert (done.spent_pages, done.candidates_delivered) == (2, 60)
    assert await world.candidates(run_id) == [f"0-{n:03}" for n in range(60)]


@pytest.mark.parametrize(
    "budget", [RunBudget(max_pages=1), RunBudget(max_credits=150), RunBudget(max_profile_fetches=50)], ids=repr
)
async def test_no_page_is_read_ahead_that_the_budget_may_not_use(world: World, budget: RunBudget) -> None:
    run_id = await world.start(target=60, budget=budget)
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert not decision.ahead


async def test_no_page_is_read_ahead_when_the_chunk_may_reach_the_target(world: World) -> None:
    run_id = await world.start(target=30)
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    decision = await world.database.run(lambda session: decide.decide_run(session, run_id))
    assert not decision.ahead


async def test_a_call_that_queues_for_long_shows_the_run_as_waiting_until_it_starts(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_READ_PAGE)
    number = (await world.run(run_id)).call_number
    for asked, status in ((number - 1, "queued"), (number, "waiting_for_quota")):
        queued = partial(decide.still_queued, run_id=run_id, number=asked, look_again=timedelta(minutes=1))
        assert (await world.database.run(queued)).status == status
    ask = await world.database.run(lambda session: deliver.begin_page(session, run_id, number))
    assert ask is not None
    assert (await world.run(run_id)).status == "running"


async def test_a_person_whom_the_balance_does_not_pay_is_no_lead(world: World) -> None:
    run_id = await world.start()
    await step_until(world, run_id, RUN_FETCH_PROFILES)
    run = await world.run(run_id)
    ask = await world.database.run(lambda session: deliver.begin_profiles(session, run_id, run.call_number))
    assert ask is not None
    fetched = await world.profiles(ask.live)
    async with world.database.transaction() as session:  # another caller spends the balance
        await session.execute(text("update grants set remaining_credits = 7"))
    await world.database.run(lambda session: deliver.deliver_chunk(session, run_id, run.call_number, fetched))
    async with world.database.transaction() as session:
        assert await session.scalar(text("select count(*) from leads")) == 2
    assert (await world.run(run_id)).candidates_delivered == 2
