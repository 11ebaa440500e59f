"""What an account needs next: callbacks one by one, looks, polls at their times, and an end."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any, TypeVar

import pytest
from sqlalchemy import text

from models.base import outbox
from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.steps import Do
from models.outreach.engine import account_steps, stop
from models.outreach.engine.account_steps import (
    ACCOUNT_DELETE,
    ACCOUNT_PROCESS,
    ACCOUNT_READ_CHATS,
    ACCOUNT_READ_INVITES,
)
from models.outreach.store import accounts
from models.outreach.store.accounts import ATTEMPTS, BODY_PURPOSE, Arrived
from models.outreach.tables import NetworkPerson
from models.people.tables import Person
from tests.models.conftest import Member
from tests.models.outreach.account_world import Accounts

R = TypeVar("R")


@pytest.fixture
def world(database: Database, member: Member) -> Accounts:
    return Accounts(database, member.tenant)


async def arrive(world: Accounts, vault: Vault, account_id: str, event_id: str, body: bytes = b"{}") -> None:
    arrived = Arrived(event_id, "message.new", account_id, vault.seal(BODY_PURPOSE, body))
    await world.database.run(lambda session: accounts.keep_network_callback(session, arrived))


async def begun(world: Accounts, vault: Vault, account_id: str) -> accounts.OpenedCallback:
    opened = await world.database.run(lambda session: accounts.begin_callback(session, vault, account_id))
    assert opened is not None
    return opened


async def after(
    world: Accounts, outcome: Callable[..., Awaitable[R]], opened: accounts.OpenedCallback, **given: Any
) -> R:
    """What came of processing it."""
    return await world.database.run(lambda session: outcome(session, opened.id, **given))


async def stored(world: Accounts) -> list[tuple[str, bool, bool]]:
    """Event id, whether it is processed, whether its body is still there."""
    async with world.database.transaction() as session:
        rows = await session.execute(
            text("select event_id, processed_at is not null, body is not null from network_callbacks order by event_id")
        )
        return [(row[0], row[1], row[2]) for row in rows]


async def quiet(world: Accounts) -> str:
    """An account whose polls lie ahead."""
    async with world.database.transaction() as session:
        now = await service_time(session)
    later = now + timedelta(days=2)
    return await world.made(next_chats_poll_at=later, next_invites_poll_at=later)


async def test_callbacks_are_processed_in_the_order_they_came_and_then_forgotten(world: Accounts, vault: Vault) -> None:
    account_id = await quiet(world)
    for event_id in ("evt_1", "evt_2"):
        await arrive(world, vault, account_id, event_id, event_id.encode())
    for body in (b"evt_1", b"evt_2"):
        assert (await world.decide(account_id)).need == ACCOUNT_PROCESS
        opened = await begun(world, vault, account_id)
        assert opened.raw == body
        await after(world, accounts.finish_callback, opened)
    assert (await world.decide(account_id)).do is Do.WAIT
    assert await stored(world) == [("evt_1", True, False), ("evt_2", True, False)]


async def test_a_callback_that_comes_twice_is_stored_once_and_wakes_once(world: Accounts, vault: Vault) -> None:
    account_id = await quiet(world)
    before = (await world.row(account_id)).rings
    await arrive(world, vault, account_id, "evt_1")
    await arrive(world, vault, account_id, "evt_1")
    assert len(await stored(world)) == 1
    assert (await world.row(account_id)).rings == before + 1


async def test_an_account_is_woken_for_a_callback_that_could_not_wake_it(world: Accounts, vault: Vault) -> None:
    """The provider does not wait while the account is locked: its callback is stored without a wake-up."""
    account_id = await quiet(world)
    assert (await world.decide(account_id)).do is Do.WAIT

    async def woken() -> set[str]:
        found = await world.database.run(lambda session: outbox.rows_due(session, limit=10))
        return {row.subject.id for row in found}

    assert account_id not in await woken()
    arrived = Arrived("evt_1", "message.new", account_id, vault.seal(BODY_PURPOSE, b"{}"))
    await world.database.run(lambda session: accounts.keep_network_callback(session, arrived, wake=False))
    assert account_id in await woken()
    assert (await world.decide(account_id)).need == ACCOUNT_PROCESS
    await after(world, accounts.finish_callback, await begun(world, vault, account_id))
    assert (await world.decide(account_id)).do is Do.WAIT
    assert account_id not in await woken()


async def test_the_body_is_kept_encrypted(world: Accounts, vault: Vault) -> None:
    await arrive(world, vault, await quiet(world), "evt_1", b'{"text": "A private word"}')
    async with world.database.transaction() as session:
        body = await session.scalar(text("select body from network_callbacks"))
    assert b"private" not in body


async def test_a_poisonous_callback_is_given_up_and_keeps_no_other_from_its_turn(world: Accounts, vault: Vault) -> None:
    account_id = await quiet(world)
    await arrive(world, vault, account_id, "evt_bad", b"bad")
    given_up = []
    for attempt in range(ATTEMPTS):
        opened = await begun(world, vault, account_id)
        assert opened.raw == b"bad"
        given_up.append(await after(world, accounts.fail_callback, opened))
        if attempt == 0:
            await arrive(world, vault, account_id, "evt_good", b"good")
            good = await begun(world, vault, account_id)
            assert good.raw == b"good", "the bad one waits before it is tried again"
            await after(world, accounts.finish_callback, good)
        decision = await world.decide(account_id)
        assert decision.do is Do.WAIT
        await world.pass_time(minutes=30)
    assert given_up == [False] * (ATTEMPTS - 1) + [True]
    assert await stored(world) == [("evt_bad", True, False), ("evt_good", True, False)]


async def test_a_crash_in_processing_counts_as_an_attempt(world: Accounts, vault: Vault) -> None:
    account_id = await quiet(world)
    await arrive(world, vault, account_id, "evt_bad")
    for _ in range(ATTEMPTS):
        opened = await begun(world, vault, account_id)
        await world.pass_time(minutes=30)
    assert await world.database.run(lambda session: accounts.fail_callback(session, opened.id))


async def test_an_outage_of_the_network_does_not_use_attempts_up(world: Accounts, vault: Vault) -> None:
    account_id = await quiet(world)
    await arrive(world, vault, account_id, "evt_1")
    for _ in range(ATTEMPTS * 2):
        opened = await begun(world, vault, account_id)
        await after(world, accounts.put_off_callback, opened, after=timedelta(minutes=1))
        assert (await world.decide(account_id)).do is Do.WAIT
        await world.pass_time(minutes=1)
    opened = await begun(world, vault, account_id)
    assert not await world.database.run(lambda session: accounts.fail_callback(session, opened.id))


async def test_chats_are_polled_at_once_and_every_quarter_of_an_hour(world: Accounts) -> None:
    account_id = await world.made(next_chats_poll_at=None)
    async with world.database.transaction() as session:
        now = await service_time(session)
    await world.do(account_id, lambda _, held: _set(held.account, "next_chats_poll_at", now))
    for _ in range(3):
        assert (await world.decide(account_id)).need == ACCOUNT_READ_CHATS
        await world.database.run(lambda session: account_steps.polled_chats(session, account_id, read=None))
        decision = await world.decide(account_id)
        assert decision.do is Do.WAIT
        assert decision.until is not None
        assert timedelta(minutes=14) < decision.until - decision.now <= timedelta(minutes=15)
        await world.pass_time(minutes=15)


async def _set(row: object, name: str, value: object) -> None:
    setattr(row, name, value)


async def test_pending_invites_are_polled_only_while_an_acceptance_is_awaited(world: Accounts) -> None:
    async with world.database.transaction() as session:
        now = await service_time(session)
    account_id = await world.made(next_invites_poll_at=now)
    decision = await world.decide(account_id)
    assert decision.do is Do.WAIT
    assert decision.until is not None
    assert timedelta(hours=3.5) < decision.until - now < timedelta(hours=4.5)


@pytest.mark.parametrize(
    ("relation", "days", "need"),
    [("pending", 10, ACCOUNT_READ_INVITES), ("pending", 181, Do.WAIT), ("connected", 10, Do.WAIT)],
)
async def test_the_acceptance_of_an_invite_that_no_enrollment_waits_for_is_polled_too(
    world: Accounts, relation: str, days: int, need: str
) -> None:
    async with world.database.transaction() as session:
        now = await service_time(session)
    account_id = await world.made(next_invites_poll_at=now)
    async with world.database.transaction() as session:
        session.add(Person(id="prof_direct", created_at=now))
        await session.flush()
        session.add(
            NetworkPerson(
                account_id=account_id,
                profile_id="prof_direct",
                workspace_id=world.tenant.workspace_id,
                tenant_id=world.tenant.id,
                network_id="ACoDirect",
                relation=relation,
                invited_at=now - timedelta(days=days),
            )
        )
    assert (await world.decide(account_id)).need == need


@pytest.mark.parametrize("status", ["connecting", "disconnected"])
async def test_an_account_that_cannot_be_read_is_not_polled(world: Accounts, status: str) -> None:
    async with world.database.transaction() as session:
        now = await service_time(session)
    account_id = await world.made(status=status, next_chats_poll_at=now, next_invites_poll_at=now)
    assert (await world.decide(account_id)).do is Do.WAIT


async def test_a_starting_worker_has_chats_read_soon(world: Accounts) -> None:
    account_id = await quiet(world)
    await world.database.run(account_steps.catch_up)
    row = await world.row(account_id)
    assert row.rings == row.answered + 1
    decision = await world.decide(account_id)
    assert decision.need == ACCOUNT_READ_CHATS or (
        decision.until is not None and decision.until - decision.now <= timedelta(minutes=1)
    )


async def test_an_ended_account_is_deleted_at_the_provider_again_and_again_until_that_is_done(
    world: Accounts,
) -> None:
    account_id = await world.made()
    await world.do(account_id, stop.remove_account)
    decision = await world.decide(account_id)
    assert decision.need == ACCOUNT_DELETE
    number = decision.number
    await world.database.run(lambda session: account_steps.deleted(session, account_id, number, done=False))
    assert (await world.decide(account_id)).do is Do.WAIT
    await world.pass_time(minutes=1)
    number = (await world.decide(account_id)).number
    await world.database.run(lambda session: account_steps.deleted(session, account_id, number, done=True))
    assert (await world.row(account_id)).provider_id is None
    assert (await world.decide(account_id)).do is Do.WAIT
    await world.pass_time(days=30)
    assert (await world.decide(account_id)).do is Do.DONE


async def test_an_answer_about_an_earlier_connection_changes_nothing(world: Accounts) -> None:
    account_id = await world.made(provider_id="p-2")
    await world.database.run(lambda session: account_steps.looked(session, account_id, "p-1", None))
    assert (await world.row(account_id)).status == "active"
    await world.database.run(lambda session: account_steps.looked(session, account_id, "p-2", None))
    assert (await world.row(account_id)).status == "disconnected"


async def test_a_look_that_failed_answers_the_review_and_is_made_again_unless_it_is_out_of_date(
    world: Accounts,
) -> None:
    async with world.database.transaction() as session:
        now = await service_time(session)
    account_id = await world.made(review_asked_at=now, next_look_at=now, call_number=3)
    for number, answered in ((2, False), (3, True)):
        await world.database.run(partial(account_steps.not_looked, account_id=account_id, number=number))
        account = await world.row(account_id)
        assert (account.review_asked_at is None) == answered
        assert account.next_look_at is not None
        assert (account.next_look_at > now) == answered


async def test_pending_invites_are_polled_again_while_the_account_can_be_read(world: Accounts) -> None:
    polled = []
    for status in ("active", "disconnected"):
        account_id = await world.made(status=status)
        await world.database.run(partial(account_steps.polled_invites, account_id=account_id))
        polled.append((await world.row(account_id)).next_invites_poll_at is not None)
    assert polled == [True, False]
