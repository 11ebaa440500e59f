"""What an account has used of its caps and has booked, as set queries on indexes; and that a cap was reached.

Used are actions whose claim or result falls in the window, of every record that ever held the same network account, so
that connecting it elsewhere starts nothing anew. Booked are this record's planned actions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.database import widened
from models.reach import everywhere
from models.rules.events import CapReached, EventType
from models.rules.outreach.caps import (
    CAPS,
    WEEK_DAYS,
    WEEKLY,
    AccountCaps,
    Cap,
    day_start,
    jitter_factor,
    monday,
    resets_at,
    utc_day,
    warmup_factor,
)
from models.rules.outreach.pauses import Gate, gate, next_available_at
from models.rules.outreach.states import AccountStatus
from models.stores import events
from models.stores.outreach.settings import Rules
from models.tables import CapNotice, OutreachAccount
from models.tenancy import Tenant, customer_of

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Count:
    """Places of a cap in its present window: taken, and booked for what is left of it."""

    used: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """An account's counts by cap. Of new outreach `counts` has the whole tenant's, `own_new_outreach` the account's."""

    counts: Mapping[Cap, Count]
    own_new_outreach: Count


def caps_of(account: OutreachAccount, rules: Rules) -> AccountCaps:
    """The account's caps as configured, for `models.rules.outreach`."""
    return AccountCaps(
        account_id=account.id,
        configured={Cap(name): value for name, value in account.caps.items()},
        workspace=rules.caps,
        warmup_started_on=utc_day(account.warmup_started_at) if account.warmup_started_at else None,
    )


USAGE = text(
    """
    with asked as (
      select a.id as account_id, a.tenant_id, r.id as record_id
        from outreach_accounts a
        join outreach_accounts r on r.id = a.id or r.network_user_id = a.network_user_id
       where a.id = any(cast(:ids as text[]))
    ), counted as (
      select s.account_id, x.type, x.text is null as bare, x.first_touch, false as booked,
             x.claimed_at >= :day or coalesce(x.ended_at >= :day, false) as today
        from asked s join actions x on x.account_id = s.record_id and x.claimed_at >= :since
       where x.outcome in ('sent', 'sending', 'reconciling', 'unknown')
         and (x.claimed_at >= :week or x.ended_at >= :week)
      union all
      select s.account_id, x.type, x.text is null, x.first_touch, true, x.scheduled_at < :tomorrow
        from asked s join actions x
          on x.account_id = s.account_id and x.outcome = 'scheduled' and x.scheduled_at < :next_week
       where s.record_id = s.account_id
    )
    select account_id, booked,
           count(*) filter (where type = 'invite' and today) as invites_per_day,
           count(*) filter (where type = 'invite') as invites_per_week,
           count(*) filter (where type = 'invite' and bare) as invites_without_note_per_week,
           count(*) filter (where type = 'profile_visit' and today) as profile_views_per_day,
           count(*) filter (where first_touch and today) as new_outreach_per_day
      from counted group by account_id, booked
    """
)

NEW_OUTREACH = text(
    """
    select t.id as tenant_id,
           (select count(*) from actions x
             where x.tenant_id = t.id and x.claimed_at >= :yesterday and x.first_touch
               and x.outcome in ('sent', 'sending', 'reconciling', 'unknown')
               and (x.claimed_at >= :day or x.ended_at >= :day)) as used,
           (select count(*) from outreach_accounts a join actions x
                on x.account_id = a.id and x.outcome = 'scheduled' and x.scheduled_at < :tomorrow
             where a.tenant_id = t.id and x.first_touch) as reserved
      from unnest(cast(:tenants as text[])) as t (id)
    """
)


async def usage(session: AsyncSession, accounts: Sequence[OutreachAccount], now: datetime) -> dict[str, Usage]:
    """What each account has used and booked of its caps in the present UTC day and ISO week, by account id."""
    day, week = day_start(utc_day(now)), day_start(monday(utc_day(now)))
    times = {"day": day, "week": week, "since": week - DAY, "tomorrow": day + DAY, "next_week": week + WEEK_DAYS * DAY}
    own: dict[str, dict[bool, Mapping[str, int]]] = {account.id: {} for account in accounts}
    async with widened(session, everywhere("what a network account did in whichever record")):
        used = (await session.execute(USAGE, {"ids": list(own), **times})).mappings().all()
    for row in used:
        own[row["account_id"]][row["booked"]] = {cap.value: row[cap.value] for cap in Cap}
    tenants = sorted({account.tenant_id for account in accounts})
    asked = {"tenants": tenants, "day": day, "yesterday": day - DAY, "tomorrow": day + DAY}
    shared = {row.tenant_id: Count(row.used, row.reserved) for row in await session.execute(NEW_OUTREACH, asked)}
    return {account.id: _usage(own[account.id], shared[account.tenant_id]) for account in accounts}


def _usage(own: Mapping[bool, Mapping[str, int]], shared: Count) -> Usage:
    none: Mapping[str, int] = {}
    counts = {cap: Count(own.get(False, none).get(cap, 0), own.get(True, none).get(cap, 0)) for cap in Cap}
    return Usage(counts | {Cap.NEW_OUTREACH_PER_DAY: shared}, counts[Cap.NEW_OUTREACH_PER_DAY])


@dataclass(frozen=True, slots=True)
class CapReading:
    """One cap in its present window. `configured` and `workspace` are null where nothing is set."""

    cap: Cap
    default: int
    ceiling: int
    configured: int | None
    workspace: int | None
    warmup_factor: float
    jitter_factor: float
    effective: int
    used: int
    reserved: int
    remaining: int
    resets_at: datetime


def readings(account: OutreachAccount, rules: Rules, usage: Usage, now: datetime) -> list[CapReading]:
    """The account's caps with what is taken of them. Of new outreach the whole tenant's counts are shown."""
    caps = caps_of(account, rules)
    return [_reading(caps, cap, usage, now) for cap in Cap]


def _reading(caps: AccountCaps, cap: Cap, usage: Usage, now: datetime) -> CapReading:
    day, count = utc_day(now), usage.counts[cap]
    effective = caps.effective(cap, day)
    room = effective - count.used - count.reserved
    if cap is Cap.NEW_OUTREACH_PER_DAY:  # the account's own part, and the sum of all accounts
        own = usage.own_new_outreach
        room = min(effective - own.used - own.reserved, caps.base(cap) - count.used - count.reserved)
    return CapReading(
        cap=cap,
        default=CAPS[cap].default,
        ceiling=CAPS[cap].ceiling,
        configured=caps.configured.get(cap),
        workspace=caps.workspace.get(cap),
        warmup_factor=warmup_factor(caps.warmup_day(day)),
        jitter_factor=jitter_factor(cap, caps.account_id, day),
        effective=effective,
        used=count.used,
        reserved=count.reserved,
        remaining=max(0, room),
        resets_at=resets_at(cap, now),
    )


def after_warmup_start(account: OutreachAccount, rules: Rules, now: datetime) -> dict[Cap, int]:
    """What each cap would be today if the first person were scheduled now."""
    day = utc_day(now)
    caps = caps_of(account, rules).planned(day)
    return {cap: caps.effective(cap, day) for cap in Cap}


OF_AN_INVITE = (Cap.INVITES_PER_DAY, Cap.INVITES_PER_WEEK, Cap.NEW_OUTREACH_PER_DAY)


def next_invite_at(account: OutreachAccount, rules: Rules, usage: Usage, now: datetime) -> datetime | None:
    """When pause, working hours and caps next let the account invite somebody new; null while nobody can say.

    Spacing and what is booked for later days are not looked at: a preview of the enrollment says the exact time.
    """
    status = AccountStatus(account.status)
    at = now
    if gate(status, account.paused_until, now) is not Gate.OPEN:
        until = next_available_at(status, account.paused_until, now)
        if until is None:
            return None
        at = until
    for cap in readings(account, rules, usage, now):
        if cap.cap not in OF_AN_INVITE:
            continue
        if cap.effective == 0:
            return None
        if cap.remaining == 0:
            at = max(at, cap.resets_at)
    return rules.hours.into(at, account.id)


async def tell_reached(
    session: AsyncSession, account: OutreachAccount, cap: Cap, *, next_available_at: datetime | None, now: datetime
) -> None:
    """Tell that a cap stopped a send: once for the account, the cap and its window."""
    day = utc_day(now)
    start = day_start(monday(day) if cap in WEEKLY else day)
    notice = insert(CapNotice).values(account_id=account.id, cap=cap.value, window_start=start, created_at=now)
    told = await session.scalar(notice.on_conflict_do_nothing().returning(col(CapNotice.account_id)))
    if told is None:
        return
    data = CapReached(
        account_id=account.id,
        cap=cap.value,
        window="week" if cap in WEEKLY else "day",
        next_available_at=next_available_at,
    )
    tenant = Tenant(account.workspace_id, customer_of(account.tenant_id))
    events.emit(session, tenant, EventType.OUTREACH_CAP_REACHED, data, now=now)
