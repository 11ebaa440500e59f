"""Actions as callers read them, and counts of what accounts did in a span of time."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.errors import NotFound
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.steps import Subject
from models.base.tenants import Tenant
from models.outreach.rules.actions import ACTION_SPECS, CONTACTING_SQL
from models.outreach.rules.states import ActionOutcome
from models.outreach.tables import Action
from models.people.store.people import ids_of_person


@dataclass(frozen=True, slots=True)
class ActionFilters:
    """Which actions to show; null is any. `profile_id` may be any id that means the person."""

    outcome: ActionOutcome | None = None
    enrollment_id: str | None = None
    sequence_id: str | None = None
    account_id: str | None = None
    profile_id: str | None = None


async def load_action(session: AsyncSession, tenant: Tenant, action_id: str) -> Action:
    """The tenant's action. Raises `NotFound`."""
    query = select(Action).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such action.")
    return found


async def page_of_actions(session: AsyncSession, tenant: Tenant, filters: ActionFilters, page: Page) -> Slice[Action]:
    """The tenant's actions, newest first."""
    query = select(Action).where(col(Action.tenant_id) == tenant.id)
    for column, wanted in (
        (col(Action.outcome), filters.outcome),
        (col(Action.enrollment_id), filters.enrollment_id),
        (col(Action.sequence_id), filters.sequence_id),
        (col(Action.account_id), filters.account_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    if filters.profile_id is not None:
        query = query.where(
            col(Action.profile_id).in_([filters.profile_id, *await ids_of_person(session, filters.profile_id)])
        )
    created_at = col(Action.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Action.id)), created_at=created_at)


async def wake_action(session: AsyncSession, tenant: Tenant, action_id: str) -> None:
    """Wake the row that an action waits with, if the tenant has it: its enrollment, or the action itself."""
    query = select(Action).where(col(Action.id) == action_id, col(Action.tenant_id) == tenant.id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        return
    alone = found.enrollment_id is None
    await outbox.wake(
        session, Subject("action", found.id) if alone else Subject("enrollment", str(found.enrollment_id))
    )


NAMES = {type.value: spec.reported_as for type, spec in ACTION_SPECS.items()} | {"reply": "replies_received"}


@dataclass(frozen=True, slots=True)
class Span:
    """From `since` until before `until`; of one account, or of all the tenant has or had."""

    since: datetime
    until: datetime
    account_id: str | None = None


SENT = """
      from actions a where a.tenant_id = :tenant and a.outcome = 'sent' and a.sent_at >= :since and a.sent_at < :until
       and (cast(:account as text) is null or a.account_id = :account)
"""

DAYS = text(
    f"""
    select (a.sent_at at time zone 'UTC')::date as day, a.type, count(*) as number {SENT} group by 1, 2
    union all
    select (m.created_at at time zone 'UTC')::date, 'reply', count(*)
      from messages m
     where m.tenant_id = :tenant and m.direction = 'in' and m.created_at >= :since and m.created_at < :until
       and (cast(:account as text) is null or m.account_id = :account)
     group by 1
    """  # noqa: S608 - a constant of this module
)

ACCEPTED = text(
    f"""
    with invites as (select a.account_id, a.profile_id, a.enrollment_id, a.sent_at {SENT} and a.type = 'invite')
    select count(*) filter (where e.accepted_at is not null or n.connected_at >= i.sent_at) as number, count(*) as of
      from invites i
      left join enrollments e on e.id = i.enrollment_id
      left join network_people n on n.account_id = i.account_id and n.profile_id = i.profile_id
    """  # noqa: S608 - a constant of this module
)

REPLIED = text(
    f"""
    with contacted as (
      select a.account_id, a.profile_id, min(a.sent_at) as since {SENT}
         and a.type in ({CONTACTING_SQL}) and a.conversation_id is null
       group by a.account_id, a.profile_id
    )
    select count(*) filter (where exists (
             select from enrollments e
              where e.profile_id = c.profile_id and e.account_id = c.account_id and e.replied_at >= c.since
           ) or exists (
             select from messages m
              where m.profile_id = c.profile_id and m.account_id = c.account_id and m.direction = 'in'
                and m.sent_at >= c.since)) as number,
           count(*) as of
      from contacted c
    """  # noqa: S608 - a constant of this module
)


def _named(tenant: Tenant, span: Span) -> dict[str, object]:
    return {"tenant": tenant.id, "since": span.since, "until": span.until, "account": span.account_id}


async def days(session: AsyncSession, tenant: Tenant, span: Span) -> dict[date, Counter[str]]:
    """What happened on each UTC day, by the names of `NAMES`; days without anything are missing."""
    found: dict[date, Counter[str]] = {}
    for row in await session.execute(DAYS, _named(tenant, span)):
        found.setdefault(row.day, Counter(dict.fromkeys(NAMES.values(), 0)))[NAMES[row.type]] += row.number
    return found


async def count_accepted(session: AsyncSession, tenant: Tenant, span: Span) -> tuple[int, int]:
    """How many of the invites sent in the span were accepted by now, of how many."""
    row = (await session.execute(ACCEPTED, _named(tenant, span))).one()
    return row.number, row.of


async def count_replied(session: AsyncSession, tenant: Tenant, span: Span) -> tuple[int, int]:
    """How many of the people invited or written to in the span wrote since, of how many; answers count for nothing."""
    row = (await session.execute(REPLIED, _named(tenant, span))).one()
    return row.number, row.of
