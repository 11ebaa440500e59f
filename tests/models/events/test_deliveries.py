"""A delivery is attempted when it is due and has its turn, and ends delivered, given up or dropped."""

import asyncio
import itertools
import random

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from models.base.database import Database, service_time
from models.base.errors import Conflict, NotFound
from models.base.steps import Do
from models.events.rules.deliveries import DELIVERY_ATTEMPT, IN_FLIGHT
from models.events.store import deliveries, events
from models.events.store.deliveries import AttemptOutcome
from models.events.tables import WebhookEndpoint
from tests.models.conftest import Member
from tests.models.events.webhook_world import World

MANY = 20_000


@pytest.fixture
def world(database: Database, member: Member) -> World:
    return World(database, member)


async def test_it_is_given_up_after_five_retries_at_the_documented_times(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.drive((await world.one(receiver)).id, lambda _: 500)
    times = [at for _, _, at in world.posted]
    waits = [(later - earlier).total_seconds() for earlier, later in itertools.pairwise(times)]
    assert [round(wait) for wait in waits] == [30, 120, 600, 3600, 21600]
    assert all(wait >= documented for wait, documented in zip(waits, [30, 120, 600, 3600, 21600], strict=True))
    assert (delivery.status, delivery.due_at, delivery.wake_at, delivery.turn) == ("failed", None, None, None)
    assert [attempt["status_code"] for attempt in delivery.attempts] == [500] * 6


@pytest.mark.parametrize("status_code", [200, 204, 299])
async def test_any_2xx_delivers_it(world: World, status_code: int) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.drive((await world.one(receiver)).id, lambda number: status_code if number == 3 else 302)
    assert (delivery.status, delivery.made) == ("delivered", 3)
    assert [attempt["status_code"] for attempt in delivery.attempts] == [302, 302, status_code]


async def test_ten_attempts_at_one_endpoint_are_in_flight_and_another_endpoint_does_not_wait(world: World) -> None:
    slow, other = await world.endpoint(), await world.endpoint()
    await world.emit(25)
    rows = await world.of(slow)
    needs = [(await world.decide(row.id)).need for row in rows]
    assert needs == [DELIVERY_ATTEMPT] * IN_FLIGHT + [Do.WAIT] * (25 - IN_FLIGHT)
    assert {(await world.decide(row.id)).need for row in rows[IN_FLIGHT:]} == {Do.WAIT}
    for row in (await world.of(other))[:IN_FLIGHT]:
        assert (await world.decide(row.id)).need == DELIVERY_ATTEMPT


async def test_a_turn_goes_to_the_delivery_that_waited_longest_and_wakes_it(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit(13)
    rows = await world.of(receiver)
    for row in rows[:IN_FLIGHT] + rows[IN_FLIGHT:][::-1]:
        await world.decide(row.id)
    await world.post(rows[4].id, 1, 500)
    waiting = (await world.of(receiver))[IN_FLIGHT:]
    assert [row.turn for row in waiting] == ["given", "asked", "asked"]
    assert [row.rings - row.answered for row in waiting] == [1, 0, 0]
    assert (await world.decide(rows[10].id)).need == DELIVERY_ATTEMPT
    assert (await world.decide(rows[11].id)).do is Do.WAIT


async def test_never_more_than_ten_in_flight_whatever_happens_at_once_and_none_is_lost(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit(40)
    most = 0
    chaos = random.Random(4)

    async def work(delivery_id: str) -> None:
        nonlocal most
        while True:
            decision = await world.decide(delivery_id)
            if decision.do is Do.DONE:
                return
            if decision.need != DELIVERY_ATTEMPT:
                await asyncio.sleep(0.005)
                continue
            async with world.database.transaction() as session:
                given = await session.scalar(text("select count(*) from deliveries where turn = 'given'"))
            most = max(most, int(given or 0))
            if chaos.random() < 0.3:
                continue  # the process died before its attempt: it is asked again and still has its turn
            await world.post(delivery_id, decision.number, 200)

    await asyncio.gather(*(work(row.id) for row in await world.of(receiver)))
    assert 1 < most <= IN_FLIGHT
    assert {row.status for row in await world.of(receiver)} == {"delivered"}
    assert len(world.posted) == 40


async def test_an_attempt_whose_process_died_is_made_again_under_the_same_number(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    first, again = await world.decide(delivery.id), await world.decide(delivery.id)
    assert (first.need, again.need, again.number) == (DELIVERY_ATTEMPT, DELIVERY_ATTEMPT, 1)
    held = await world.one(receiver)
    assert held.wake_at is not None
    assert held.wake_at > again.now  # otherwise the dispatcher finds it


async def test_an_outcome_counts_once(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    decision = await world.decide(delivery.id)
    late = AttemptOutcome(decision.now, 5, 200)
    await world.post(delivery.id, 1, 500)
    async with world.database.transaction() as session:
        await deliveries.record_attempt(session, delivery.id, 1, late)
    after = await world.one(receiver)
    assert (after.status, after.made, len(after.attempts)) == ("pending", 1, 1)
    async with world.database.transaction() as session:
        assert (await deliveries.begin_attempt(session, delivery.id, 1))[1] is None


async def test_every_attempt_has_the_same_body_and_the_newest_secret(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    async with world.database.transaction() as session:
        _, before = await deliveries.begin_attempt(session, delivery.id, 1)
    await world.post(delivery.id, 1, 500)
    await world.change(receiver, secret=b"rotated", url="https://other.example.com/")
    await world.retry(receiver, delivery.id)
    async with world.database.transaction() as session:
        _, after = await deliveries.begin_attempt(session, delivery.id, 2)
    assert before is not None
    assert after is not None
    assert before.event.body() == after.event.body()
    assert (before.sealed_secret, after.sealed_secret) == (b"sealed", b"rotated")
    assert after.url == "https://other.example.com/"


async def test_a_rotation_waits_for_an_attempt_that_is_about_to_sign(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)

    async def rotate() -> None:
        async with world.database.transaction() as session:
            await session.execute(text("set local lock_timeout = '100ms'"))
            workspace_id = world.member.tenant.workspace_id
            row = await deliveries.load_endpoint(session, workspace_id, receiver, lock=True)
            row.secret = b"rotated"

    async with world.database.transaction() as session:
        _, parcel = await deliveries.begin_attempt(session, delivery.id, 1)
        with pytest.raises(DBAPIError, match="lock timeout"):
            await rotate()
    await rotate()
    assert parcel is not None
    assert parcel.sealed_secret == b"sealed"
    _, again = await world.database.run(lambda session: deliveries.begin_attempt(session, delivery.id, 1))
    assert again is not None
    assert again.sealed_secret == b"rotated"


async def test_a_beginning_that_comes_too_early_or_twice_sends_nothing_and_says_what_is_next(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    await world.decide(delivery.id)
    await world.post(delivery.id, 1, 500)
    for number in (1, 2):
        decision, parcel = await world.database.run(
            lambda session: deliveries.begin_attempt(session, delivery.id, number)  # noqa: B023 - called in the same round
        )
        assert parcel is None
        assert (decision.need, decision.number) == (Do.WAIT, 2)
    await world.retry(receiver, delivery.id)
    decision, parcel = await world.database.run(lambda session: deliveries.begin_attempt(session, delivery.id, 1))
    assert (decision.need, parcel) == (DELIVERY_ATTEMPT, None)


async def test_a_test_that_is_given_up_hands_its_turn_on(world: World) -> None:
    receiver = await world.endpoint()
    async with world.database.transaction() as session:
        tested = await deliveries.load_endpoint(session, world.member.tenant.workspace_id, receiver)
        _, ping_id = events.emit_ping(session, tested, now=await service_time(session))
    await world.emit(IN_FLIGHT)
    *_, last = [row for row in await world.of(receiver) if row.id != ping_id]
    for delivery in await world.of(receiver):
        await world.decide(delivery.id)
    assert (await world.decide(last.id)).do is Do.WAIT
    await world.database.run(lambda session: deliveries.give_up_delivery(session, ping_id))
    (handed,) = [row for row in await world.of(receiver) if row.id == last.id]
    assert (handed.turn, handed.rings - handed.answered) == ("given", 1)


async def test_disabling_drops_what_is_pending_and_enabling_does_not_bring_it_back(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit(3)
    flying, waiting, _ = await world.of(receiver)
    await world.decide(flying.id)
    await world.decide(waiting.id)
    await world.post(waiting.id, 1, 500)
    await world.disable(receiver)
    assert {row.status for row in await world.of(receiver)} == {"dropped"}
    await world.change(receiver, status="enabled")
    await world.advance((await world.decide(flying.id)).now - flying.created_at)
    assert {(await world.decide(row.id)).need for row in await world.of(receiver)} == {Do.DONE}
    async with world.database.transaction() as session:
        assert (await deliveries.begin_attempt(session, flying.id, 1))[1] is None
    await world.emit()
    assert [row.status for row in await world.of(receiver)] == ["dropped"] * 3 + ["pending"]


async def test_an_attempt_in_flight_while_disabled_is_logged_and_stays_dropped(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    decision = await world.decide(delivery.id)
    await world.disable(receiver)
    async with world.database.transaction() as session:
        await deliveries.record_attempt(session, delivery.id, 1, AttemptOutcome(decision.now, 9, 200))
    after = await world.one(receiver)
    assert (after.status, len(after.attempts)) == ("dropped", 1)


async def test_what_is_queued_while_the_endpoint_is_disabled_is_dropped_although_it_is_enabled_again(
    world: World,
) -> None:
    """Another transaction saw the endpoint enabled and commits its delivery after the endpoint was disabled."""
    receiver = await world.endpoint()
    await world.emit()
    delivery = await world.one(receiver)
    await world.change(receiver, generation=1)
    assert (await world.decide(delivery.id)).do is Do.DONE
    assert (await world.one(receiver)).status == "dropped"


async def test_deleting_an_endpoint_drops_what_is_pending_and_stops_no_emitter(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    workspace_id = world.member.tenant.workspace_id
    async with world.database.transaction() as session:
        doomed = await deliveries.load_endpoint(session, workspace_id, receiver, lock=True)
        await deliveries.remove_endpoint(session, doomed)
        await world.emit()  # another transaction, while this one is open
    for row in await world.of(receiver):
        assert (await world.decide(row.id)).do is Do.DONE
    assert {row.status for row in await world.of(receiver)} == {"dropped"}


async def test_emitting_does_not_wait_for_a_locked_endpoint(world: World) -> None:
    receiver = await world.endpoint()
    async with world.database.transaction() as session:
        await deliveries.load_endpoint(session, world.member.tenant.workspace_id, receiver, lock=True)
        await world.emit()
    assert len(await world.of(receiver)) == 1


async def test_a_retry_makes_one_more_attempt_of_a_finished_delivery(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery_id = (await world.one(receiver)).id
    assert (await world.drive(delivery_id, lambda _: 500)).status == "failed"
    await world.retry(receiver, delivery_id)
    assert (await world.decide(delivery_id)).need == DELIVERY_ATTEMPT
    again = await world.drive(delivery_id, lambda _: 500)
    assert (again.status, again.made) == ("failed", 7)
    await world.retry(receiver, delivery_id)
    assert (await world.drive(delivery_id, lambda _: 200)).status == "delivered"


async def test_a_retry_of_a_pending_delivery_is_made_now_and_the_schedule_goes_on(world: World) -> None:
    receiver = await world.endpoint()
    await world.emit()
    delivery_id = (await world.one(receiver)).id
    await world.decide(delivery_id)
    assert (await world.post(delivery_id, 1, 500)).do is Do.WAIT
    await world.retry(receiver, delivery_id)
    assert (await world.decide(delivery_id)).need == DELIVERY_ATTEMPT
    decision = await world.post(delivery_id, 2, 500)
    assert decision.do is Do.WAIT
    assert decision.until is not None
    assert round((decision.until - decision.now).total_seconds()) == 120


async def test_a_retry_needs_an_enabled_endpoint_and_a_delivery_of_it(world: World) -> None:
    receiver, other = await world.endpoint(), await world.endpoint()
    await world.emit()
    delivery_id = (await world.one(receiver)).id
    with pytest.raises(NotFound):
        await world.retry(other, delivery_id)
    await world.disable(receiver)
    with pytest.raises(Conflict):
        await world.retry(receiver, delivery_id)


async def test_an_endpoint_with_many_deliveries_is_disabled_in_one_statement(world: World) -> None:
    receiver = await world.endpoint()
    async with world.database.transaction() as session:
        await session.execute(
            text(
                "insert into deliveries (id, workspace_id, tenant_id, event_id, event_type, endpoint_id, generation,"
                " status, single, made, attempts, due_at, wake_at, created_at, rings, answered)"
                " select 'dlv_' || n, :w, :w, 'evt_' || n, 'ping', :e, 0, 'pending', false, 1, '[]',"
                " service_now() + interval '1 hour', service_now() + interval '1 hour', service_now(), 1, 1"
                " from generate_series(1, :many) n"
            ),
            {"w": world.member.tenant.workspace_id, "e": receiver, "many": MANY},
        )
    await world.disable(receiver)
    async with world.database.transaction() as session:
        left = await session.scalar(
            text("select count(*) from deliveries where status = 'pending' or wake_at is not null")
        )
        rung = await session.scalar(text("select count(*) from deliveries where rings > answered"))
        row = await session.get_one(WebhookEndpoint, receiver)
    assert (left, rung, row.status) == (0, 0, "disabled")


async def test_a_delivery_that_is_no_longer_kept_needs_nothing(world: World) -> None:
    decision = await world.database.run(lambda session: deliveries.decide_delivery(session, "del_1"))
    assert decision.do is Do.DONE
    begun, parcel = await world.database.run(lambda session: deliveries.begin_attempt(session, "del_1", 1))
    assert (begun.need, parcel) == (Do.DONE, None)
