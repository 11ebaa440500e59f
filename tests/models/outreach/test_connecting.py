"""A network account is bound to one record in the installation, and comes back to the record that knew it."""

from datetime import timedelta

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from models.base.database import Database, service_time
from models.base.secrets import Vault
from models.base.steps import Do
from models.outreach.engine import account_states, connect, stop
from models.outreach.engine.account_states import AccountStanding
from models.outreach.engine.account_steps import ACCOUNT_DELETE, ACCOUNT_LOOK
from models.outreach.engine.connect import ConnectFailure, SignedIn
from models.outreach.rules.answers import Signal
from models.outreach.store.accounts import LockedAccount
from tests.models.conftest import Member, join
from tests.models.outreach.account_world import Accounts


@pytest.fixture
def world(database: Database, member: Member) -> Accounts:
    return Accounts(database, member.tenant)


async def fresh(world: Accounts) -> str:
    return await world.made(status="connecting", provider_id=None, network_user_id=None, connected_at=None, name=None)


async def removed(world: Accounts, account_id: str) -> None:
    await world.do(account_id, stop.remove_account)


async def test_an_owner_signs_in_and_the_account_is_connected_once_it_runs(world: Accounts) -> None:
    account_id = await fresh(world)
    await world.signed_in(account_id, "user-1", provider_id="p-1", standing=AccountStanding.CONNECTING)
    row = await world.row(account_id)
    assert (row.status, row.provider_id, row.network_user_id) == ("connecting", "p-1", "user-1")
    assert (row.name, row.profile_url) == ("Sam Voorbeeld", "https://www.linkedin.com/in/sam")
    assert row.state_hash is row.connect_url is None
    assert (await world.decide(account_id)).do is Do.WAIT
    await world.pass_time(minutes=1)
    assert (await world.decide(account_id)).need == ACCOUNT_LOOK, "the provider is asked without waiting for a callback"
    await world.do(account_id, lambda session, held: account_states.stands(session, held, AccountStanding.READY))
    assert (await world.row(account_id)).status == "active"
    assert await world.told() == ["account.connected"]


async def test_a_state_is_good_once(world: Accounts) -> None:
    account_id = await fresh(world)
    await world.signed_in(account_id, "user-1", provider_id="p-1")
    again = SignedIn("p-9", "user-9", None, None, AccountStanding.READY)
    state = f"state of {account_id} and p-1"
    await world.database.run(lambda session: connect.bind(session, account_id, state, again))
    assert (await world.row(account_id)).provider_id == "p-1"


async def test_another_tenants_network_account_is_refused_and_disconnected_again(world: Accounts) -> None:
    other = (await world.database.run(join)).tenant
    holder = await world.made(other, network_user_id="user-1", provider_id="p-1")
    account_id = await fresh(world)
    await world.signed_in(account_id, "user-1", provider_id="p-2")
    row = await world.row(account_id)
    assert (row.status, row.connect_failure) == ("removed", ConnectFailure.BOUND_ELSEWHERE)
    assert (await world.decide(account_id)).need == ACCOUNT_DELETE, "the provider drops the second connection"
    assert (await world.row(holder)).provider_id == "p-1"


async def test_the_same_connection_is_not_dropped_when_another_workspace_signs_in_with_it(world: Accounts) -> None:
    other = (await world.database.run(join)).tenant
    await world.made(other, network_user_id="user-1", provider_id="p-1")
    account_id = await fresh(world)
    assert await world.signed_in(account_id, "user-1", provider_id="p-1") is None
    assert (await world.row(account_id)).provider_id is None


async def test_reconnecting_after_removal_restores_the_record_with_its_warm_up_and_pause(world: Accounts) -> None:
    async with world.database.transaction() as session:
        started = await service_time(session) - timedelta(days=5)
    older = await world.made(network_user_id="user-1", provider_id="p-1", warmup_started_at=started)
    await world.do(older, lambda session, held: account_states.limit_reached(session, held, Signal.WEEKLY))
    await removed(world, older)
    newer = await fresh(world)
    await world.signed_in(newer, "user-1", provider_id="p-2")
    back, gone = await world.row(older), await world.row(newer)
    assert (back.status, back.pause_reason, back.provider_id) == ("paused", "weekly_limit", "p-2")
    assert back.warmup_started_at == started
    assert (gone.status, gone.restored_as) == ("removed", older)
    assert gone.provider_id == "p-1", "the connection of before is deleted with the record that is not needed"
    assert (await world.decide(newer)).need == ACCOUNT_DELETE


async def test_a_pause_by_hand_survives_removal(world: Accounts) -> None:
    older = await world.made(network_user_id="user-1")
    await world.do(older, account_states.pause_account_by_hand)
    await removed(world, older)
    await world.signed_in(await fresh(world), "user-1", provider_id="p-2")
    assert ((row := await world.row(older)).status, row.pause_reason) == ("paused", "manual")


async def test_connecting_elsewhere_carries_a_running_network_pause_over(world: Accounts) -> None:
    other = (await world.database.run(join)).tenant
    before = await world.made(other, network_user_id="user-1")
    await world.do(before, lambda session, held: account_states.limit_reached(session, held, Signal.WEEKLY))
    until = (await world.row(before)).paused_until
    await removed(world, before)
    account_id = await fresh(world)
    await world.signed_in(account_id, "user-1", provider_id="p-2")
    row = await world.row(account_id)
    assert (row.status, row.pause_reason, row.paused_until) == ("paused", "weekly_limit", until)
    assert row.warmup_started_at is None


async def test_signing_in_again_with_a_known_account_renews_its_record(world: Accounts) -> None:
    older = await world.made(network_user_id="user-1", provider_id="p-1", status="disconnected")
    newer = await fresh(world)
    await world.signed_in(newer, "user-1", provider_id="p-2")
    assert ((row := await world.row(older)).status, row.provider_id) == ("needs_review", "p-2")
    assert (await world.row(newer)).restored_as == older


async def test_reconnecting_with_another_network_account_is_refused(world: Accounts) -> None:
    account_id = await world.made(network_user_id="user-1", provider_id="p-1", status="disconnected")
    assert await world.signed_in(account_id, "user-2", provider_id="p-2") == "p-2", "to be deleted"
    row = await world.row(account_id)
    assert (row.status, row.provider_id, row.network_user_id) == ("disconnected", "p-1", "user-1")
    assert row.connect_failure == ConnectFailure.OTHER_ACCOUNT


async def test_reconnecting_the_same_account_waits_for_the_review(world: Accounts) -> None:
    account_id = await world.made(network_user_id="user-1", provider_id="p-1", status="disconnected")
    assert await world.signed_in(account_id, "user-1", provider_id="p-1") is None
    assert (await world.row(account_id)).status == "needs_review"


async def test_a_sign_in_by_the_link_of_a_removed_record_is_undone(world: Accounts) -> None:
    account_id = await fresh(world)
    state = f"state of {account_id} and p-1"
    await world.do(account_id, lambda session, held: world._linked(held, state))
    await removed(world, account_id)
    found = SignedIn("p-1", "user-1", None, None, AccountStanding.READY)
    await world.database.run(lambda session: connect.bind(session, account_id, state, found))
    row = await world.row(account_id)
    assert (row.status, row.provider_id, row.network_user_id) == ("removed", "p-1", None)
    assert (await world.decide(account_id)).need == ACCOUNT_DELETE


async def test_a_repeated_call_gets_the_same_link_and_a_later_one_a_new_one(world: Accounts) -> None:
    row = await world.row(await fresh(world))
    now = row.created_at
    connect.ask_link(row, now)
    assert connect.link_is_wanted(row, now)
    row.connect_url = b"sealed"
    first = row.connect_expires_at
    connect.ask_link(row, now + timedelta(seconds=19))
    assert (row.connect_url, row.connect_expires_at) == (b"sealed", first)
    connect.ask_link(row, now + timedelta(seconds=20))
    assert connect.link_is_wanted(row, now + timedelta(seconds=20))
    row.connect_failure = ConnectFailure.BUSY
    assert not connect.link_is_wanted(row, now + timedelta(seconds=21))
    connect.ask_link(row, now + timedelta(seconds=21))
    assert connect.link_is_wanted(row, now + timedelta(seconds=21))


async def test_every_link_of_a_record_carries_its_state_until_one_is_used(world: Accounts, vault: Vault) -> None:
    account_id = await fresh(world)

    async def link(session: AsyncSession, held: LockedAccount) -> str:
        connect.ask_link(held.account, held.now)
        ask = await connect.begin_link(session, vault, account_id, held.account.call_number)
        assert ask is not None
        held.account.connect_url = b"sealed"
        return ask.state

    first = await world.do(account_id, link)
    await world.pass_time(minutes=1)
    assert await world.do(account_id, link) == first
    found = SignedIn("p-1", "user-1", None, None, AccountStanding.READY)
    await world.database.run(lambda session: connect.bind(session, account_id, first, found))
    await world.do(account_id, lambda session, held: account_states.stands(session, held, AccountStanding.DISCONNECTED))
    assert await world.do(account_id, link) != first
