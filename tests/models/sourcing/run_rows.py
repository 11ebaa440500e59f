"""The rows of a workspace's runs in the form of `run_reference`: names of people in place of ids."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from tests.models.sourcing.run_reference import ENDED, PAGE, RunReference

NAMES = "select profile_id, value from person_keys where kind = 'source' and value like :name || '-%'"
RUNS = """
select r.*, array(select c.content->>'full_name' from candidates c where c.run_id = r.id order by c.position) as given
  from runs r where r.workspace_id = :w order by r.created_at, r.id
"""
CHARGED = """
select reason, -sum(credits)::int as credits from ledger_entries where workspace_id = :w and kind = 'charge'
   and reason in ('lead', 'live_profile') group by reason
"""
BALANCE = "select coalesce(sum(remaining_credits), 0)::int from grants where workspace_id = :w"
CACHED = "select profile_id from cached_profiles where profile_id = any(cast(:ids as text[]))"
TOLD = "select type, data->>'run_id' as run_id from events where workspace_id = :w and type like 'run.%'"


@dataclass(frozen=True)
class Rows:
    """`shown` is compared; `moments` are of each run: when it is tried again, and when it ends at the latest."""

    shown: dict[str, Any]
    moments: dict[str, tuple[datetime | None, datetime | None]]
    runs: dict[str, Any]


async def read(session: AsyncSession, workspace_id: str, name: str) -> Rows:
    """Everything that the model speak of."""
    asked = {"w": workspace_id}
    names = {row.profile_id: row.value for row in await session.execute(text(NAMES), {"name": name})}
    told: dict[str, Counter[str]] = {}
    for row in await session.execute(text(TOLD), asked):
        told.setdefault(row.run_id, Counter())[row.type] += 1
    runs = {row.id: row for row in await session.execute(text(RUNS), asked)}
    shown = {
        run_id: {
            "status": row.status,
            "why": (row.stop_reason, row.finish_detail, row.failure_code),
            "delivered": [one.removeprefix("Person ") for one in row.given],
            "counted": row.candidates_delivered,
            "spent": (row.spent_credits, row.spent_pages, row.spent_profile_fetches),
            "chunk": [names[one] for one in row.chunk or ()],
            "at": (row.tier, row.page * PAGE + row.page_offset),
            "retry_at": row.retry_at,
            "finished": row.finished_at is not None,
            "told": told.get(run_id, Counter()),
        }
        for run_id, row in runs.items()
    }
    return Rows(
        {
            "charged": {row.reason: row.credits for row in await session.execute(text(CHARGED), asked)},
            "balance": await session.scalar(text(BALANCE), asked),
            "cached": {names[one] for one in await session.scalars(text(CACHED), {"ids": list(names)})},
            **shown,
        },
        {run_id: (row.retry_at, row.deadline_at) for run_id, row in runs.items()},
        runs,
    )


def take_moments(model: RunReference, rows: Rows, before: datetime, after: datetime, life: timedelta) -> None:
    """Let the model know moments that only the rows can know, if they are as long after now as they should be."""
    for run_id, run in model.runs.items():
        retry_at, deadline = rows.moments[run_id]
        if run.waits is not None and retry_at is not None:
            wait = timedelta(seconds=run.waits)
            assert before + wait <= retry_at <= after + wait, (run.waits, retry_at - before)
            run.retry_at, run.waits = retry_at, None
        if run.renewed:
            assert deadline is not None
            assert before + life <= deadline <= after + life
            run.deadline, run.renewed = deadline, False


def written(model: RunReference) -> dict[str, Any]:
    """Return the model in the shape of `Rows.shown`."""
    runs = {
        run_id: {
            "status": run.status,
            "why": run.why,
            "delivered": run.delivered,
            "counted": len(run.delivered),
            "spent": (run.spent, run.pages, run.fetches),
            "chunk": run.chunk,
            "at": (run.tier, run.place),
            "retry_at": run.retry_at,
            "finished": run.status in ENDED,
            "told": run.told,
        }
        for run_id, run in model.runs.items()
    }
    charged = {reason: many for reason, many in model.charged.items() if many}
    return {"charged": charged, "balance": model.balance, "cached": model.cached} | runs
