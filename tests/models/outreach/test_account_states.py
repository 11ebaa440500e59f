"""Accounts move as the owner, the network and the provider say, and every move is told once."""

from datetime import datetime, timedelta

import pytest

from models.base.database import Database, service_time
from models.base.errors import AccountNotReady, AccountPaused, NotFound, UpstreamBusy, rfc3339
from models.outreach.engine import account_states
from models.outreach.engine.account_states import AccountStanding
from models.outreach.rules.answers import AccountPause, MethodHold, Signal
from models.outreach.rules.caps import day_start, monday, utc_day
from models.outreach.rules.states import PauseReason
from models.outreach.store import accounts
from tests.models.conftest import Member
from tests.models.outreach.account_world import Accounts

DAILY, WEEKLY, MANUAL = PauseReason.DAILY_LIMIT, PauseReason.WEEKLY_LIMIT, PauseReason.MANUAL


@pytest.fixture
def world(database: Database, member: Member) -> Accounts:
    return Accounts(database, member.tenant)


def shown(moment: datetime | None) -> str:
    assert moment is not None
    return rfc3339(moment)


async def limited(world: Accounts, account_id: str, signal: Signal = Signal.DAILY) -> AccountPause | MethodHold | None:
    return await world.do(account_id, lambda session, held: account_states.limit_reached(session, held, signal))


async def stands(world: Accounts, account_id: str, standing: AccountStanding) -> str:
    await world.do(account_id, lambda session, held: account_states.stands(session, held, standing))
    return (await world.row(account_id)).status


async def resume(world: Accounts, account_id: str) -> bool:
    return await world.do(account_id, account_states.resume_by_hand)


async def test_a_daily_warning_pauses_until_utc_midnight_and_is_reported_once(world: Accounts) -> None:
    account_id = await world.made()
    await limited(world, account_id)
    await limited(world, account_id)
    row = await world.row(account_id)
    async with world.database.transaction() as session:
        now = await service_time(session)
    assert (row.status, row.pause_reason) == ("paused", "daily_limit")
    assert row.paused_until in (
        day_start(utc_day(now) + timedelta(days=1)),
        day_start(monday(utc_day(now)) + timedelta(days=7)),  # on a Sunday both are the same night
    )
    assert await world.events() == [
        (
            "account.paused",
            {
                "account_id": account_id,
                "status": "paused",
                "reason": "daily_limit",
                "paused_until": shown(row.paused_until),
            },
        )
    ]


async def test_a_network_pause_cannot_be_ended_early_and_ends_automatically(world: Accounts) -> None:
    account_id = await world.made()
    await limited(world, account_id)
    until = (await world.row(account_id)).paused_until
    with pytest.raises(AccountPaused) as refused:
        await resume(world, account_id)
    assert refused.value.details["next_available_at"] == shown(until)
    await world.decide(account_id)
    assert (await world.row(account_id)).status == "paused"
    await world.pass_time(days=1)
    await world.decide(account_id)
    assert (await world.row(account_id)).status == "active"
    assert await world.told() == ["account.paused", "account.connected"]


async def test_pausing_by_hand_does_not_shorten_the_networks_pause(world: Accounts) -> None:
    account_id = await world.made()
    await limited(world, account_id)
    await world.do(account_id, account_states.pause_account_by_hand)
    assert ((row := await world.row(account_id)).pause_reason, row.paused_until) == (MANUAL, None)
    with pytest.raises(AccountPaused):
        await resume(world, account_id)
    await world.pass_time(days=1)
    await world.decide(account_id)
    assert (await world.row(account_id)).pause_reason == MANUAL, "only the owner ends the owner's pause"
    assert await resume(world, account_id) is False
    assert (await world.row(account_id)).status == "active"


async def test_a_second_daily_warning_in_a_week_after_few_invites_is_a_weekly_one(world: Accounts) -> None:
    account_id = await world.made()
    async with world.database.transaction() as session:
        now = await service_time(session)
    await world.pass_time(days=7 - utc_day(now).weekday())  # the next Monday
    first = await limited(world, account_id)
    await world.pass_time(days=1)
    await world.decide(account_id)
    second = await limited(world, account_id)
    assert isinstance(first, AccountPause)
    assert isinstance(second, AccountPause)
    assert (first.reason, second.reason) == (DAILY, WEEKLY)
    assert second.until == day_start(monday(utc_day(second.until)))


async def test_a_limit_of_one_kind_of_call_is_no_pause(world: Accounts) -> None:
    account_id = await world.made()
    assert isinstance(await limited(world, account_id, Signal.VENDOR_LIMIT), MethodHold)
    assert (await world.row(account_id)).status == "active"
    assert await world.told() == []


async def test_a_disconnect_waits_for_the_sign_in_and_then_for_the_owners_review(world: Accounts) -> None:
    account_id = await world.made()
    assert await stands(world, account_id, AccountStanding.DISCONNECTED) == "disconnected"
    assert await stands(world, account_id, AccountStanding.DISCONNECTED) == "disconnected"
    assert await stands(world, account_id, AccountStanding.READY) == "needs_review"
    assert await stands(world, account_id, AccountStanding.READY) == "needs_review"
    assert await resume(world, account_id) is True, "the provider is asked first"
    assert await stands(world, account_id, AccountStanding.READY) == "active"
    assert await world.told() == ["account.disconnected", "account.connected"]


async def test_a_review_does_not_pass_while_the_provider_says_otherwise(world: Accounts) -> None:
    account_id = await world.made()
    await stands(world, account_id, AccountStanding.DISCONNECTED)
    await resume(world, account_id)
    assert await stands(world, account_id, AccountStanding.DISCONNECTED) == "disconnected"
    assert await stands(world, account_id, AccountStanding.READY) == "needs_review", "the review was answered with no"


async def test_a_restriction_is_reported_as_a_pause_and_waits_for_the_owner(world: Accounts) -> None:
    account_id = await world.made()
    assert await stands(world, account_id, AccountStanding.RESTRICTED) == "needs_review"
    assert await stands(world, account_id, AccountStanding.READY) == "needs_review"
    await resume(world, account_id)
    assert await stands(world, account_id, AccountStanding.RESTRICTED) == "needs_review"
    await resume(world, account_id)
    assert await stands(world, account_id, AccountStanding.READY) == "active"
    assert await world.told() == ["account.paused", "account.connected"]


async def test_temporary_trouble_pauses_immediately_and_is_reported_after_half_an_hour(world: Accounts) -> None:
    account_id = await world.made()
    assert await stands(world, account_id, AccountStanding.INTERRUPTED) == "active"
    row = await world.row(account_id)
    with pytest.raises(UpstreamBusy):
        accounts.refuse_unready(row, row.trouble_since)  # type: ignore[arg-type]  # it is set here
    await world.pass_time(minutes=29)
    assert await stands(world, account_id, AccountStanding.INTERRUPTED) == "active"
    await world.pass_time(minutes=1)
    assert await stands(world, account_id, AccountStanding.INTERRUPTED) == "paused"
    assert await stands(world, account_id, AccountStanding.INTERRUPTED) == "paused"
    assert await stands(world, account_id, AccountStanding.READY) == "active"
    assert await world.told() == ["account.paused", "account.connected"]
    assert (await world.events())[0][1]["reason"] == "interrupted"


async def test_resuming_what_was_paused_by_hand_in_passing_trouble_asks_the_provider(world: Accounts) -> None:
    account_id = await world.made()
    await world.do(account_id, account_states.pause_account_by_hand)
    await stands(world, account_id, AccountStanding.INTERRUPTED)
    assert await resume(world, account_id) is True
    assert await stands(world, account_id, AccountStanding.INTERRUPTED) == "paused"
    assert await resume(world, account_id) is True
    assert await stands(world, account_id, AccountStanding.READY) == "active"


async def test_short_trouble_is_not_reported(world: Accounts) -> None:
    account_id = await world.made()
    await stands(world, account_id, AccountStanding.INTERRUPTED)
    assert await stands(world, account_id, AccountStanding.READY) == "active"
    assert (await world.row(account_id)).trouble is None
    assert await world.told() == []


async def test_a_network_pause_met_while_disconnected_holds_after_the_review(world: Accounts) -> None:
    account_id = await world.made()
    await stands(world, account_id, AccountStanding.DISCONNECTED)
    await limited(world, account_id)
    await stands(world, account_id, AccountStanding.READY)
    await resume(world, account_id)
    assert await stands(world, account_id, AccountStanding.READY) == "paused"
    assert (await world.row(account_id)).pause_reason in (DAILY, WEEKLY)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("connecting", AccountNotReady),
        ("disconnected", AccountNotReady),
        ("paused", AccountPaused),
        ("needs_review", AccountPaused),
        ("removed", NotFound),
        ("active", None),
    ],
)
async def test_what_needs_an_account_is_refused_with_the_documented_error(
    world: Accounts, status: str, error: type[Exception] | None
) -> None:
    row = await world.row(await world.made(status=status))
    now = row.created_at
    if error is None:
        accounts.refuse_unready(row, now)
        return
    with pytest.raises(error):
        accounts.refuse_unready(row, now)
