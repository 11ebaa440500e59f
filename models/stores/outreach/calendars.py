"""Calendars: what an account has done and booked, read for `models.rules.outreach` in a fixed number of queries.

Preview, execution, claims and re-planning read the same; for the same rows and the same clock value they plan the same.
Used are actions of every record that ever held the same network account (`limits` counts them so too).
"""

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from datetime import date, datetime, timedelta

from sqlalchemy import RowMapping, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.database import widened
from models.reach import everywhere
from models.rules.outreach.calendar import Calendar, Neighbour, Pause, Request, Taken
from models.rules.outreach.caps import Cap, counts_against, day_start, monday, utc_day
from models.rules.outreach.states import AccountStatus, ActionType
from models.stores.outreach.accounts import Held
from models.stores.outreach.limits import caps_of
from models.tables import Action, OutreachAccount, Sequence
from models.tables.outreach import OPEN_ENROLLMENTS

DAY = timedelta(days=1)

TAKEN = text(
    """
    select x.id, x.type, x.seed, x.text is not null as with_note, x.first_touch, x.enrollment_id,
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

NEW_OUTREACH = text(
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


async def load(
    session: AsyncSession,
    held: Held,
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
    async with widened(session, everywhere("what a network account did in whichever record")):
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
        caps=counts_against(ActionType(row["type"]), with_note=row["with_note"], new_outreach=row["first_touch"]),
        days=tuple(dict.fromkeys(utc_day(moment) for moment in moments)),
        sequence_id=row["started"],
        movable=scheduled_at is not None and row["enrollment_id"] is not None,
    )


def _distinct(taken: Iterable[Taken]) -> Iterable[Taken]:
    return dict.fromkeys(taken)


async def _neighbours(session: AsyncSession, held: Held, *, used_only: bool) -> list[Neighbour]:
    tenant, account = held.tenant.id, held.account.id
    asked = {"tenant": tenant, "account": account}
    competes = {row.id: row.competes for row in await session.execute(NEIGHBOURS, asked)}
    if not competes:
        return []
    since = day_start(utc_day(held.now)) - DAY
    touched: dict[str, dict[date, int]] = defaultdict(dict)
    asked_days = {**asked, "since": since, "now": held.now, "used_only": used_only}
    for row in await session.execute(NEW_OUTREACH, asked_days):
        touched[row.account_id][row.day] = row.taken
    others = await session.scalars(select(OutreachAccount).where(col(OutreachAccount.id).in_(list(competes))))
    return [_neighbour(held, one, touched[one.id], competes=competes[one.id]) for one in others]


def _neighbour(held: Held, account: OutreachAccount, new_outreach: Mapping[date, int], *, competes: bool) -> Neighbour:
    return Neighbour(caps=caps_of(account, held.rules), new_outreach=new_outreach, competes=competes)


def request_of(action: Action, sequence: Sequence | None) -> Request:
    """What an action asks of the calendar; `sequence` is its own, null for a direct send."""
    starts = action.starts_sequence and sequence is not None
    return Request(
        seed=action.seed,
        caps=caps_against(action),
        sequence_id=action.sequence_id if starts else None,
        pace=sequence.daily_pace_limit if starts and sequence is not None else None,
        displaces=action.enrollment_id is None,
    )


def caps_against(action: Action) -> frozenset[Cap]:
    """The caps that an action takes a place of."""
    return counts_against(ActionType(action.type), with_note=action.text is not None, new_outreach=action.first_touch)
