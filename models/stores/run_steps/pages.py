"""Search pages: asked for, and kept as checkpoints that no later run pays for again."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.rules.planner.values import PAGE_SIZE
from models.rules.run_states import FINAL, RunStatus
from models.secrets import Vault
from models.stores import people
from models.stores.people import Sighting
from models.stores.run_steps.rows import (
    CHECKPOINT_LIFE,
    PlannedTier,
    called,
    checkpoint,
    end_call,
    locked,
    plan_of,
    start_call,
)
from models.tables import QueryTotal, Run, SearchPageRow


@dataclass(frozen=True, slots=True)
class PageAsk:
    """A page to read: the tier's filters and where its search stands."""

    tier: PlannedTier
    number: int
    token: str | None
    size: int = PAGE_SIZE


async def begin_page(session: AsyncSession, run_id: str, number: int) -> PageAsk | None:
    """Note that the page call starts; null when the call is out of date."""
    run, now = await called(session, run_id, number)
    if run is None or run.chunk is not None:
        return None
    plan = await plan_of(session, run)
    start_call(run, RunStatus.RUNNING, now)
    tier = plan.tiers[run.tier]
    before = await checkpoint(session, run.workspace_id, tier.query_key, run.page - 1, now)
    return PageAsk(tier, run.page, before.next_token if before else None)


async def begin_ahead(session: AsyncSession, run_id: str) -> PageAsk | None:
    """The page after the one whose people are being fetched; null when it is not needed any more."""
    run, now = await locked(session, run_id)
    if run.status in FINAL or run.chunk is None:
        return None
    tier = (await plan_of(session, run)).tiers[run.tier]
    before = await checkpoint(session, run.workspace_id, tier.query_key, run.page, now)
    if before is None or before.next_token is None:
        return None
    if await checkpoint(session, run.workspace_id, tier.query_key, run.page + 1, now) is not None:
        return None
    return PageAsk(tier, run.page + 1, before.next_token)


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page as the source gave it."""

    sightings: tuple[Sighting, ...]
    next_token: str | None
    total: int | None


async def keep_page(
    session: AsyncSession, vault: Vault, run_id: str, *, number: int | None, ask: PageAsk, page: PageRead
) -> None:
    """Store the page as a checkpoint. A page somebody else stored first stays; it is then theirs that was paid.

    A page that was read ahead has no `number`: the checkpoint itself is its fence.
    """
    workspace_id = await session.scalar(select(col(Run.workspace_id)).where(col(Run.id) == run_id))
    ids = await people.identify(session, vault, page.sightings, workspace_id=workspace_id)
    run, now = await locked(session, run_id)
    if run.status in FINAL or number not in {None, run.call_number}:
        return
    values = {
        "workspace_id": run.workspace_id,
        "query_key": ask.tier.query_key,
        "number": ask.number,
        "size": ask.size,
        "next_token": page.next_token,
        "profile_ids": list(dict.fromkeys(ids[sighting.source_id] for sighting in page.sightings)),
        "total": page.total,
        "created_at": now,
    }
    statement = insert(SearchPageRow).values(values)
    kept = await session.scalar(
        statement.on_conflict_do_update(
            index_elements=["workspace_id", "query_key", "number"],
            set_={
                name: statement.excluded[name] for name in ("size", "next_token", "profile_ids", "total", "created_at")
            },
            where=col(SearchPageRow.created_at) <= now - CHECKPOINT_LIFE,
        ).returning(col(SearchPageRow.number))
    )
    if page.total is not None:
        await _remember_total(session, ask.tier.query_key, page.total, now)
    run.spent_pages += 1 if kept is not None else 0
    if number is not None:
        end_call(run)
        run.failures = 0


async def _remember_total(session: AsyncSession, query_key: str, total: int, now: datetime) -> None:
    statement = insert(QueryTotal).values(query_key=query_key, total=total, created_at=now)
    await session.execute(
        statement.on_conflict_do_update(index_elements=["query_key"], set_={"total": total, "created_at": now})
    )
