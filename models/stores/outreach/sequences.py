"""Sequences: their rows, their steps as the rules know them, and ringing whoever is in one."""

from collections.abc import Collection, Mapping
from collections.abc import Sequence as Ordered
from dataclasses import asdict, dataclass
from datetime import datetime

from sqlalchemy import delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.errors import Conflict, NotFound
from models.ids import new_id
from models.rules.outreach.sequences import Step
from models.rules.outreach.states import ActionType, SequenceStatus
from models.stores.doorbells import CHANNEL
from models.stores.paging import Page, Slice, fetch, newest_first
from models.tables import Sequence
from models.tables.base import Payload
from models.tables.outreach import OPEN_ENROLLMENTS
from models.tenancy import Tenant


@dataclass(frozen=True, slots=True)
class Counts:
    """How many people a sequence has, and how far they came. `failed` has the stopped ones too."""

    open: int = 0
    completed: int = 0
    replied: int = 0
    failed: int = 0


def steps_of(sequence: Sequence) -> tuple[Step, ...]:
    """The steps as the rules know them."""
    return tuple(Step(**{**step, "type": ActionType(step["type"])}) for step in sequence.steps)


def stored(steps: Ordered[Step]) -> list[Payload]:
    """The steps as a row keeps them."""
    return [{**asdict(step), "type": step.type.value} for step in steps]


@dataclass(frozen=True, slots=True)
class Draft:
    """What a sequence is made of."""

    account_id: str
    name: str
    steps: Ordered[Step]
    approve_every_message: bool = False
    daily_pace_limit: int | None = None


async def create(session: AsyncSession, tenant: Tenant, draft: Draft, *, now: datetime) -> Sequence:
    """A new sequence, active; its steps have their ids."""
    made = Sequence(
        id=new_id("seq", now),
        workspace_id=tenant.workspace_id,
        tenant_id=tenant.id,
        account_id=draft.account_id,
        name=draft.name,
        approve_every_message=draft.approve_every_message,
        daily_pace_limit=draft.daily_pace_limit,
        steps=stored(draft.steps),
        created_at=now,
        updated_at=now,
    )
    session.add(made)
    await session.flush()
    return made


async def get(session: AsyncSession, tenant: Tenant, sequence_id: str) -> Sequence:
    """The tenant's sequence. Raises `NotFound`."""
    query = select(Sequence).where(col(Sequence.id) == sequence_id, col(Sequence.tenant_id) == tenant.id)
    return _there((await session.scalars(query)).one_or_none())


async def changing(session: AsyncSession, tenant: Tenant, sequence_id: str) -> Sequence:
    """The same, held against everybody who sends or enrolls. Raises `NotFound`."""
    return await _held(session, tenant, sequence_id, shared=False)


async def kept(session: AsyncSession, tenant: Tenant, sequence_id: str) -> Sequence:
    """The same, so that nobody changes it until the transaction ends. Raises `NotFound`."""
    return await _held(session, tenant, sequence_id, shared=True)


async def _held(session: AsyncSession, tenant: Tenant, sequence_id: str, *, shared: bool) -> Sequence:
    query = select(Sequence).where(col(Sequence.id) == sequence_id, col(Sequence.tenant_id) == tenant.id)
    held = query.with_for_update(read=shared).execution_options(populate_existing=True)
    return _there((await session.scalars(held)).one_or_none())


def _there(found: Sequence | None) -> Sequence:
    if found is None:
        raise NotFound("There is no such sequence.")
    return found


async def listed(
    session: AsyncSession, tenant: Tenant, page: Page, *, status: SequenceStatus | None
) -> Slice[Sequence]:
    """The tenant's sequences, newest first; archived ones only when they are asked for."""
    query = select(Sequence).where(col(Sequence.tenant_id) == tenant.id)
    wanted = col(Sequence.status)
    query = query.where(wanted != SequenceStatus.ARCHIVED if status is None else wanted == status)
    created_at = col(Sequence.created_at)
    return await fetch(session, query, page, order=newest_first(created_at, col(Sequence.id)), created_at=created_at)


COUNT = text(
    f"""
    select sequence_id, count(*) filter (where {OPEN_ENROLLMENTS}), count(*) filter (where status = 'completed'),
           count(*) filter (where status = 'replied'), count(*) filter (where status in ('failed', 'stopped'))
      from enrollments where sequence_id = any(cast(:ids as text[])) group by sequence_id
    """  # noqa: S608 - constants of the tables
)


async def counts(session: AsyncSession, sequence_ids: Collection[str]) -> Mapping[str, Counts]:
    """The counts of each sequence; those without anybody are missing."""
    rows = await session.execute(COUNT, {"ids": list(sequence_ids)})
    return {sequence_id: Counts(*numbers) for sequence_id, *numbers in rows}


HAS_OPEN = text(
    f"select exists (select from enrollments where sequence_id = :id and {OPEN_ENROLLMENTS})"  # noqa: S608
)


async def remove(session: AsyncSession, tenant: Tenant, sequence_id: str) -> None:
    """Delete a sequence; its past enrollments stay. Raises `NotFound`, and `Conflict` while enrollments are open."""
    await changing(session, tenant, sequence_id)
    if await session.scalar(HAS_OPEN, {"id": sequence_id}):
        raise Conflict(
            "Enrollments of this sequence are open.", fix="Stop them, or archive the sequence with PATCH status."
        )
    await session.execute(delete(Sequence).where(col(Sequence.id) == sequence_id))


RING = text(
    f"""
    with rung as (
      update enrollments set rings = rings + 1 where sequence_id = :id and {OPEN_ENROLLMENTS} returning 1
    )
    select pg_notify(:channel, '') where exists (select from rung)
    """  # noqa: S608 - constants of the tables
)


async def ring(session: AsyncSession, sequence_id: str) -> None:
    """Ring every open enrollment of the sequence, in one statement: each asks anew what it does next."""
    await session.flush()
    await session.execute(RING, {"id": sequence_id, "channel": CHANNEL})
