"""Sequences and enrollments: their rows, locks and counts, and the marks in the seen register."""

from collections.abc import Collection, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.base import outbox
from models.base.errors import Conflict, NotFound
from models.base.ids import new_id
from models.base.paging import Page, Slice, fetch, newest_first
from models.base.steps import Subject
from models.base.tenants import Tenant
from models.outreach.rules.sequences import SequenceStep, stored_steps
from models.outreach.rules.states import EnrollmentStatus, SequenceStatus
from models.outreach.tables import OPEN_ENROLLMENTS, Action, Enrollment, OutreachSequence


@dataclass(frozen=True, slots=True)
class Counts:
    """How many people a sequence has, and how far they came. `failed` has the stopped ones too."""

    open: int = 0
    completed: int = 0
    replied: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class DraftSequence:
    """What a sequence is made of."""

    account_id: str
    name: str
    steps: Ordered[SequenceStep]
    approve_every_message: bool = False
    daily_pace_limit: int | None = None


async def add_sequence(
    session: AsyncSession, tenant: Tenant, draft: DraftSequence, *, now: datetime
) -> OutreachSequence:
    """A new sequence, active; its steps have their ids."""
    made = OutreachSequence(
        id=new_id("seq", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        account_id=draft.account_id,
        name=draft.name,
        approve_every_message=draft.approve_every_message,
        daily_pace_limit=draft.daily_pace_limit,
        steps=stored_steps(draft.steps),
        created_at=now,
        updated_at=now,
    )
    session.add(made)
    await session.flush()
    return made


async def load_sequence(session: AsyncSession, tenant: Tenant, sequence_id: str) -> OutreachSequence:
    """The tenant's sequence. Raises `NotFound`."""
    query = select(OutreachSequence).where(
        col(OutreachSequence.id) == sequence_id, col(OutreachSequence.tenant_id) == tenant.id
    )
    return _there((await session.scalars(query)).one_or_none())


async def lock_sequence(session: AsyncSession, tenant: Tenant, sequence_id: str) -> OutreachSequence:
    """Return the tenant's sequence, locked against sending and enrolling. Raises `NotFound`."""
    return await _lock_sequence(session, tenant, sequence_id, shared=False)


async def keep_sequence(session: AsyncSession, tenant: Tenant, sequence_id: str) -> OutreachSequence:
    """Return the tenant's sequence, locked against changes until the transaction ends. Raises `NotFound`."""
    return await _lock_sequence(session, tenant, sequence_id, shared=True)


async def _lock_sequence(session: AsyncSession, tenant: Tenant, sequence_id: str, *, shared: bool) -> OutreachSequence:
    query = select(OutreachSequence).where(
        col(OutreachSequence.id) == sequence_id, col(OutreachSequence.tenant_id) == tenant.id
    )
    held = query.with_for_update(read=shared).execution_options(populate_existing=True)
    return _there((await session.scalars(held)).one_or_none())


def _there(found: OutreachSequence | None) -> OutreachSequence:
    if found is None:
        raise NotFound("There is no such sequence.")
    return found


async def page_of_sequences(
    session: AsyncSession, tenant: Tenant, page: Page, *, status: SequenceStatus | None
) -> Slice[OutreachSequence]:
    """The tenant's sequences, newest first; archived ones only when they are asked for."""
    query = select(OutreachSequence).where(col(OutreachSequence.tenant_id) == tenant.id)
    wanted = col(OutreachSequence.status)
    query = query.where(wanted != SequenceStatus.ARCHIVED if status is None else wanted == status)
    created_at = col(OutreachSequence.created_at)
    return await fetch(
        session, query, page, order=newest_first(created_at, col(OutreachSequence.id)), created_at=created_at
    )


COUNT = text(
    f"""
    select sequence_id, count(*) filter (where {OPEN_ENROLLMENTS}), count(*) filter (where status = 'completed'),
           count(*) filter (where status = 'replied'), count(*) filter (where status in ('failed', 'stopped'))
      from enrollments where sequence_id = any(cast(:ids as text[])) group by sequence_id
    """  # noqa: S608 - constants of the tables
)


async def count_enrollments(session: AsyncSession, sequence_ids: Collection[str]) -> Mapping[str, Counts]:
    """Return the counts of each sequence; sequences without enrollments are missing."""
    rows = await session.execute(COUNT, {"ids": list(sequence_ids)})
    return {sequence_id: Counts(*numbers) for sequence_id, *numbers in rows}


HAS_OPEN = text(
    f"select exists (select from enrollments where sequence_id = :id and {OPEN_ENROLLMENTS})"  # noqa: S608 - constants of the tables
)


async def remove_sequence(session: AsyncSession, tenant: Tenant, sequence_id: str) -> None:
    """Delete a sequence; its past enrollments stay. Raises `NotFound`, and `Conflict` while enrollments are open."""
    await lock_sequence(session, tenant, sequence_id)
    if await session.scalar(HAS_OPEN, {"id": sequence_id}):
        raise Conflict(
            "Enrollments of this sequence are open.", fix="Stop them, or archive the sequence with PATCH status."
        )
    await session.execute(delete(OutreachSequence).where(col(OutreachSequence.id) == sequence_id))


OPEN_OF_SEQUENCE = text(
    f"select id from enrollments where sequence_id = :id and {OPEN_ENROLLMENTS}"  # noqa: S608 - constants of the tables
)


async def wake_sequence(session: AsyncSession, sequence_id: str) -> None:
    """Wake every open enrollment of the sequence: each asks again what it does next."""
    await session.flush()
    opened = (await session.scalars(OPEN_OF_SEQUENCE, {"id": sequence_id})).all()
    await outbox.wake_many(session, "enrollment", opened)


def enrollment_subject(enrollment_id: str) -> Subject:
    """The enrollment as a waiting row."""
    return Subject("enrollment", enrollment_id)


async def load_enrollment(session: AsyncSession, tenant: Tenant, enrollment_id: str) -> Enrollment:
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


async def page_of_enrollments(
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


async def actions_of_enrollment(session: AsyncSession, enrollment_id: str) -> Ordered[Action]:
    """What was done and is planned in an enrollment, in order."""
    query = select(Action).where(col(Action.enrollment_id) == enrollment_id)
    return (await session.scalars(query.order_by(col(Action.created_at), col(Action.id)))).all()


MARK_CONTACTED = text(
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


async def mark_contacted(session: AsyncSession, tenant: Tenant, profile_ids: Collection[str], now: datetime) -> None:
    """Mark people contacted; what the caller noted since (rejected, hired, …) stays."""
    if not profile_ids:
        return
    named = {"workspace": tenant.workspace_id, "tenant": tenant.id, "ids": sorted(profile_ids), "now": now}
    await session.execute(MARK_CONTACTED, named)


MARK_REPLIED = text(
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
    await session.execute(MARK_REPLIED, named)
