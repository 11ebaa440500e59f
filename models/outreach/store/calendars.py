"""What an account has used of its caps and has booked, as set queries on indexes; and that a cap was reached.

Used are actions whose claim or result falls in the window, of every record that ever held the same network account, so
that connecting it elsewhere does not start again. Booked are this record's planned actions.
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from sqlalchemy import RowMapping, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.database import widened
from models.base.tenants import Tenant, all_tenants, customer_of
from models.events.rules.catalogue import CapReached, EventType
from models.events.store import events
from models.outreach.rules.actions import ACTION_SPECS, ActionType, OutreachCap
from models.outreach.rules.answers import AccountGate, gate, next_available_at
from models.outreach.rules.caps import (
    CAPS,
    WEEK_DAYS,
    WEEKLY,
    AccountCaps,
    cap_resets_at,
    counts_against,
    day_start,
    jitter_factor,
    monday,
    utc_day,
    warmup_factor,
)
from models.outreach.rules.slots import Calendar, Neighbour, Pause, Request, Taken
from models.outreach.rules.states import AccountStatus
from models.outreach.store.accounts import LockedAccount, Rules
from models.outreach.tables import OPEN_ENROLLMENTS, Action, CapNotice, OutreachAccount, OutreachSequence

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Count:
    """Places of a cap in its present window: taken, and booked for what is left of it."""

    used: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Usage:
    """An account's counts by cap. Of new outreach `counts` has the whole tenant's, `own_new_outreach` the account's."""

    counts: Mapping[OutreachCap, Count]
    own_new_outreach: Count


def caps_of(account: OutreachAccount, rules: Rules) -> AccountCaps:
    """The account's caps as configured, for the rules."""
    return AccountCaps(
        account_id=account.id,
        configured={OutreachCap(name): value for name, value in account.caps.items()},
        workspace=rules.caps,
        warmup_started_on=utc_day(account.warmup_started_at) if account.warmup_started_at else None,
    )


def _counts(cap: OutreachCap) -> str:
    """Return the SQL condition that an action counts against a cap in its present window."""
    counted = [f"type = '{type}'" for type, spec in ACTION_SPECS.items() if cap in spec.caps]
    counted += [f"type = '{type}' and bare" for type, spec in ACTION_SPECS.items() if cap in spec.caps_without_text]
    which = "first_touch" if cap is OutreachCap.NEW_OUTREACH_PER_DAY else f"({' or '.join(counted) or 'false'})"
    return which if cap in WEEKLY else f"{which} and today"


USAGE = text(
    f"""
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
    select account_id, booked, {", ".join(f"count(*) filter (where {_counts(cap)}) as {cap}" for cap in OutreachCap)}
      from counted group by account_id, booked
    """  # noqa: S608 - constants of the rules
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
    async with widened(session, all_tenants("what a network account did in whichever record")):
        used = (await session.execute(USAGE, {"ids": list(own), **times})).mappings().all()
    for row in used:
        own[row["account_id"]][row["booked"]] = {cap.value: row[cap.value] for cap in OutreachCap}
    tenants = sorted({account.tenant_id for account in accounts})
    asked = {"tenants": tenants, "day": day, "yesterday": day - DAY, "tomorrow": day + DAY}
    shared = {row.tenant_id: Count(row.used, row.reserved) for row in await session.execute(NEW_OUTREACH, asked)}
    return {account.id: _usage(own[account.id], shared[account.tenant_id]) for account in accounts}


def _usage(own: Mapping[bool, Mapping[str, int]], shared: Count) -> Usage:
    none: Mapping[str, int] = {}
    counts = {cap: Count(own.get(False, none).get(cap, 0), own.get(True, none).get(cap, 0)) for cap in OutreachCap}
    return Usage(counts | {OutreachCap.NEW_OUTREACH_PER_DAY: shared}, counts[OutreachCap.NEW_OUTREACH_PER_DAY])


@dataclass(frozen=True, slots=True)
class CapReading:
    """One cap in its present window. `configured` and `workspace` are null where nothing is set."""

    cap: OutreachCap
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
    return [_reading(caps, cap, usage, now) for cap in OutreachCap]


def _reading(caps: AccountCaps, cap: OutreachCap, usage: Usage, now: datetime) -> CapReading:
    day, count = utc_day(now), usage.counts[cap]
    effective = caps.effective(cap, day)
    room = effective - count.used - count.reserved
    if cap is OutreachCap.NEW_OUTREACH_PER_DAY:  # the account's own part, and the sum of all accounts
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
        resets_at=cap_resets_at(cap, now),
    )


def after_warmup_start(account: OutreachAccount, rules: Rules, now: datetime) -> dict[OutreachCap, int]:
    """What each cap would be today if the first person were scheduled now."""
    day = utc_day(now)
    caps = caps_of(account, rules).planned(day)
    return {cap: caps.effective(cap, day) for cap in OutreachCap}


OF_AN_INVITE = (OutreachCap.INVITES_PER_DAY, OutreachCap.INVITES_PER_WEEK, OutreachCap.NEW_OUTREACH_PER_DAY)


def next_invite_at(account: OutreachAccount, rules: Rules, usage: Usage, now: datetime) -> datetime | None:
    """When pause, working hours and caps next let the account invite a new person; null while that is unknown.

    Spacing and what is booked for later days are not looked at: a preview of the enrollment says the exact time.
    """
    status = AccountStatus(account.status)
    at = now
    if gate(status, account.paused_until, now) is not AccountGate.OPEN:
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
    session: AsyncSession,
    account: OutreachAccount,
    cap: OutreachCap,
    *,
    next_available_at: datetime | None,
    now: datetime,
) -> None:
    """Publish that a cap stopped a send: once for the account, the cap and its window."""
    day = utc_day(now)
    start = day_start(monday(day) if cap in WEEKLY else day)
    notice = insert(CapNotice).values(account_id=account.id, cap=cap.value, window_start=start, created_at=now)
    noted = await session.scalar(notice.on_conflict_do_nothing().returning(col(CapNotice.account_id)))
    if noted is None:
        return
    data = CapReached(
        account_id=account.id,
        cap=cap.value,
        window="week" if cap in WEEKLY else "day",
        next_available_at=next_available_at,
    )
    tenant = Tenant(account.workspace_id, customer_of(account.tenant_id))
    events.emit(session, tenant, EventType.OUTREACH_CAP_REACHED, data, now=now)


TAKEN = text(
    """
    select x.id, x.type, x.seed, x.text is not null as with_text, x.first_touch, x.enrollment_id,
           case when x.starts_sequence then x.sequence_id end as started,
           x.claimed_at, x.ended_at, null::timestamptz as scheduled_at
      from actions x
     where x.account_id = any(array(select r.id from outreach_accounts r
                                     where r.id = :account or r.network_user_id = cast(:network_user as text)))
       and x.claimed_at >= :since and x.outcome in ('sent', 'sending', 'reconciling', 'unknown')
    union all
    select x.id, x.type, x.seed, x.text is not null, x.first_touch, x.enrollment_id,
           case when x.starts_sequence then x.sequence_id end, null, null, x.scheduled_at
      from actions x
     where x.account_id = :account and x.outcome = 'scheduled' and x.scheduled_at is not null and not :used_only
    """
)

NEIGHBOURS = text(
    f"""
    select a.id, a.status = 'active' and (booked.one is not null or ahead.one is not null) as competes
      from outreach_accounts a
      left join lateral (
        select 1 as one from actions x
         where x.account_id = a.id and x.outcome = 'scheduled' and x.first_touch limit 1) as booked on true
      left join lateral (
        select 1 as one from enrollments e
         where booked.one is null and e.account_id = a.id and {OPEN_ENROLLMENTS} and e.invited_at is null
           and not exists (select from actions x where x.enrollment_id = e.id and x.first_touch
                              and x.outcome in ('sent', 'sending', 'reconciling', 'unknown'))
         limit 1) as ahead on true
     where a.tenant_id = :tenant and a.id <> :account
    """  # noqa: S608 - a constant of the tables
)
"""The other accounts of the tenant, and whether they want some of its new outreach.

Of both questions the first row found is enough: with `exists` the planner expects few and collects them all first.
"""

NEW_OUTREACH_DAYS = text(
    """
    select account_id, day, count(*) as taken from (
      select x.account_id, moment.day from actions x
       cross join lateral (
         select (x.claimed_at at time zone 'UTC')::date
         union select (x.ended_at at time zone 'UTC')::date where x.ended_at is not null) as moment (day)
       where x.tenant_id = :tenant and x.claimed_at >= :since and x.first_touch
         and x.outcome in ('sent', 'sending', 'reconciling', 'unknown')
      union all
      select x.account_id, (greatest(x.scheduled_at, :now) at time zone 'UTC')::date
        from actions x
       where x.account_id = any(array(select a.id from outreach_accounts a where a.tenant_id = :tenant))
         and x.outcome = 'scheduled' and x.first_touch and x.scheduled_at is not null and not :used_only
    ) as touches
     where account_id <> :account group by account_id, day
    """
)


async def load_calendar(
    session: AsyncSession,
    held: LockedAccount,
    *,
    used_only: bool = False,
    without: str | None = None,
    without_all: Container[str] = (),
) -> Calendar:
    """The account's calendar at `held.now`: three queries, whatever it holds.

    `used_only`: without what is booked, as a claim looks at it. `without`: an action whose own place is left out;
    `without_all`: many such.
    """
    account, now = held.account, held.now
    asked = {"account": account.id, "network_user": account.network_user_id, "used_only": used_only}
    since = day_start(monday(utc_day(now))) - DAY
    async with widened(session, all_tenants("what a network account did in whichever record")):
        rows = (await session.execute(TAKEN, {**asked, "since": since})).mappings().all()
    return Calendar(
        caps=caps_of(account, held.rules),
        hours=held.rules.hours,
        now=now,
        pause=pause_of(account, now),
        neighbours=await _neighbours(session, held, used_only=used_only),
        taken=_distinct(_taken(row, now) for row in rows if row["id"] != without and row["id"] not in without_all),
    )


def pause_of(account: OutreachAccount, now: datetime) -> Pause | None:
    """Until when nothing is planned: without a known end for an account that has to be looked at first."""
    if account.status == AccountStatus.ACTIVE:
        return None
    if account.status != AccountStatus.PAUSED or account.paused_until is None:
        return Pause(None)
    return Pause(account.paused_until) if account.paused_until > now else None


def _taken(row: RowMapping, now: datetime) -> Taken:
    scheduled_at: datetime | None = row["scheduled_at"]
    if scheduled_at is not None:
        at, moments = scheduled_at, [max(scheduled_at, now)]  # overdue: it will count on the day it goes out
    else:
        at, moments = row["ended_at"] or row["claimed_at"], [row["claimed_at"], row["ended_at"] or row["claimed_at"]]
    return Taken(
        at=at,
        seed=row["seed"],
        caps=counts_against(ActionType(row["type"]), with_text=row["with_text"], new_outreach=row["first_touch"]),
        days=tuple(dict.fromkeys(utc_day(moment) for moment in moments)),
        sequence_id=row["started"],
        movable=scheduled_at is not None and row["enrollment_id"] is not None,
    )


def _distinct(taken: Iterable[Taken]) -> Iterable[Taken]:
    return dict.fromkeys(taken)


async def _neighbours(session: AsyncSession, held: LockedAccount, *, used_only: bool) -> list[Neighbour]:
    tenant, account = held.tenant.id, held.account.id
    asked = {"tenant": tenant, "account": account}
    competes = {row.id: row.competes for row in await session.execute(NEIGHBOURS, asked)}
    if not competes:
        return []
    since = day_start(utc_day(held.now)) - DAY
    touched: dict[str, dict[date, int]] = defaultdict(dict)
    asked_days = {**asked, "since": since, "now": held.now, "used_only": used_only}
    for row in await session.execute(NEW_OUTREACH_DAYS, asked_days):
        touched[row.account_id][row.day] = row.taken
    others = await session.scalars(select(OutreachAccount).where(col(OutreachAccount.id).in_(list(competes))))
    return [_neighbour(held, one, touched[one.id], competes=competes[one.id]) for one in others]


def _neighbour(
    held: LockedAccount, account: OutreachAccount, new_outreach: Mapping[date, int], *, competes: bool
) -> Neighbour:
    return Neighbour(caps=caps_of(account, held.rules), new_outreach=new_outreach, competes=competes)


def request_of(action: Action, sequence: OutreachSequence | None) -> Request:
    """What an action asks of the calendar; `sequence` is its own, null for a direct send."""
    starts = action.starts_sequence and sequence is not None
    return Request(
        seed=action.seed,
        caps=caps_against(action),
        sequence_id=action.sequence_id if starts else None,
        pace=sequence.daily_pace_limit if starts and sequence is not None else None,
        displaces=action.enrollment_id is None,
    )


def caps_against(action: Action) -> frozenset[OutreachCap]:
    """The caps that an action takes a place of."""
    return counts_against(ActionType(action.type), with_text=action.text is not None, new_outreach=action.first_touch)
