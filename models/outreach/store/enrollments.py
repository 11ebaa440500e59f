"""Enrollments: their rows as callers read them, and how one ends."""

from collections.abc import Collection
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base.errors import NotFound
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.subjects import Subject
from models.base.tenants import Tenant, customer_of
from models.events.rules.catalogue import EnrollmentChanged, EventType
from models.events.store import events
from models.outreach.rules.states import EnrollmentReason, EnrollmentStatus
from models.outreach.tables import Action, Enrollment

ENDED_WELL = frozenset({EnrollmentStatus.COMPLETED, EnrollmentStatus.REPLIED})


def enrollment_subject(enrollment_id: str) -> Subject:
    """The enrollment as a waiting row."""
    return Subject("enrollment", enrollment_id)


def publish_enrollment_event(session: AsyncSession, type: EventType, enrollment: Enrollment, now: datetime) -> None:
    """Tell what became of an enrollment, if this transaction commits."""
    data = EnrollmentChanged(
        enrollment_id=enrollment.id,
        sequence_id=enrollment.sequence_id,
        account_id=enrollment.account_id,
        profile_id=enrollment.profile_id,
        status=enrollment.status,
        reason=enrollment.reason,
    )
    events.emit(session, Tenant(enrollment.workspace_id, customer_of(enrollment.tenant_id)), type, data, now=now)


async def finish_enrollment(
    session: AsyncSession,
    enrollment: Enrollment,
    status: EnrollmentStatus,
    reason: EnrollmentReason | None,
    now: datetime,
) -> None:
    """End an open enrollment, which the caller holds, and tell of it. Its actions are the caller's."""
    enrollment.status, enrollment.reason = status.value, reason.value if reason else None
    enrollment.next_action_at, enrollment.finished_at = None, now
    told = EventType.ENROLLMENT_COMPLETED if status in ENDED_WELL else EventType.ENROLLMENT_FAILED
    publish_enrollment_event(session, told, enrollment, now)
    await session.flush()


async def get_enrollment(session: AsyncSession, tenant: Tenant, enrollment_id: str) -> Enrollment:
    """The tenant's enrollment. Raises `NotFound`."""
    query = select(Enrollment).where(col(Enrollment.id) == enrollment_id, col(Enrollment.tenant_id) == tenant.id)
    found = (await session.scalars(query)).one_or_none()
    if found is None:
        raise NotFound("There is no such enrollment.")
    return found


@dataclass(frozen=True, slots=True)
class EnrollmentFilters:
    """Which enrollments to show; null is any. `profile_ids` are all ids that mean the person asked for."""

    status: EnrollmentStatus | None = None
    sequence_id: str | None = None
    account_id: str | None = None
    profile_ids: Ordered[str] | None = None


async def list_enrollments(
    session: AsyncSession, tenant: Tenant, filters: EnrollmentFilters, page: Page
) -> Slice[Enrollment]:
    """The tenant's enrollments, newest first."""
    query = select(Enrollment).where(col(Enrollment.tenant_id) == tenant.id)
    if filters.status is not None:
        query = query.where(col(Enrollment.status) == filters.status)
    if filters.sequence_id is not None:
        query = query.where(col(Enrollment.sequence_id) == filters.sequence_id)
    if filters.account_id is not None:
        query = query.where(col(Enrollment.account_id) == filters.account_id)
    if filters.profile_ids is not None:
        query = query.where(col(Enrollment.profile_id).in_(filters.profile_ids))
    created_at = col(Enrollment.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Enrollment.id)), created_at=created_at)


async def actions(session: AsyncSession, enrollment_id: str) -> Ordered[Action]:
    """What was done and is planned in an enrollment, in order."""
    query = select(Action).where(col(Action.enrollment_id) == enrollment_id)
    return (await session.scalars(query.order_by(col(Action.created_at), col(Action.id)))).all()


# Marks: people contacted, in the seen register. The caller holds them.


CONTACTED = text(
    """
    insert into seen_entries as e (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,
                                   contacted_at, last_contacted_at, run_ids, created_at)
    select :workspace, :tenant, id, 'contacted', false, '{}', :now, :now, :now, '{}', :now
      from unnest(cast(:ids as text[])) as id order by id
    on conflict (tenant_id, profile_id) do update set
      status = case when e.status in ('seen', 'shortlisted') then 'contacted' else e.status end,
      first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at),
      contacted_at = coalesce(e.contacted_at, excluded.contacted_at),
      last_contacted_at = excluded.last_contacted_at
    """
)


async def contacted(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str], now: datetime) -> None:
    """Mark people contacted; what the caller noted since (rejected, hired, …) stays."""
    if not profile_ids:
        return
    named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "ids": sorted(profile_ids), "now": now}
    await session.execute(CONTACTED, named)


REPLIED = text(
    """
    insert into seen_entries as e (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,
                                   run_ids, created_at)
    values (:workspace, :tenant, :id, 'replied', false, '{}', :now, '{}', :now)
    on conflict (tenant_id, profile_id) do update set
      status = case when e.status in ('seen', 'shortlisted', 'contacted') then 'replied' else e.status end,
      first_seen_at = coalesce(e.first_seen_at, excluded.first_seen_at)
    """
)


async def mark_replied(session: AsyncSession, tenant: Tenant, profile_id: str, now: datetime) -> None:
    """Mark that a person wrote; what the caller noted since (rejected, interested, hired, …) stays."""
    named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "id": profile_id, "now": now}
    await session.execute(REPLIED, named)
