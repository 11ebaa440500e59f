"""The operator's figures: what waits, for how long, what was sent, and whether the ledger adds up.

Every statement reads an index and a bounded number of rows (`tests/models/stores/test_figures.py` looks at the plans),
so that a scrape costs the same on a large installation. Ids of workspaces and accounts are the only labels.
"""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from models.tables import WAITING

MOST_WORKSPACES = 50
MOST_ACCOUNTS = 200
MOST_COUNTED = 10_000
"""Counts stop here: beyond it the exact number changes nothing for whoever is called."""
LEDGER_BATCH = 20

UNDELIVERED = """
    select extract(epoch from service_now() - (select created_at from deliveries where status = 'pending'
                                                order by created_at limit 1))::float8 as oldest,
           (select count(*) from (select from deliveries where status = 'pending' limit :most) as counted) as waiting
"""
OPEN_RUNS = "select status, count(*) as runs from runs where finished_at is null group by status"
QUEUES = """
    select workspace_id, queue, max(extract(epoch from service_now() - since))::float8 as seconds from (
      select workspace_id, 'calls' as queue, created_at as since from upstream_calls where status = 'waiting'
      union all
      select workspace_id, 'runs', coalesce(call_started_at, created_at) from runs
       where finished_at is null and status in ('queued', 'waiting_for_quota')
    ) as waiting group by workspace_id, queue order by seconds desc limit :most
"""
SENDS = """
    select a.id as account_id, s.outcome, s.actions
      from (select id from outreach_accounts order by id desc limit :most) as a
     cross join lateral (
      select outcome, count(*) as actions from actions
       where account_id = a.id and claimed_at >= (select service_now()) - interval '1 day'
         and outcome in ('sent', 'failed', 'unknown', 'reconciling', 'sending')
       group by outcome) as s
"""
WORKSPACES = "select id from workspaces where id > :after order by id limit :most"
MISMATCHED = """
    select count(*) from grants g
      left join (select grant_id, sum(credits) as credits from ledger_entries
                  where workspace_id = any(cast(:ids as text[])) group by grant_id) as l on l.grant_id = g.id
     where g.workspace_id = any(cast(:ids as text[])) and g.remaining_credits <> coalesce(l.credits, 0)
"""
STATEMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "undelivered": (UNDELIVERED, {"most": MOST_COUNTED}),
    "open_runs": (OPEN_RUNS, {}),
    "queues": (QUEUES, {"most": MOST_WORKSPACES}),
    "sends": (SENDS, {"most": MOST_ACCOUNTS}),
    "workspaces": (WORKSPACES, {"after": "", "most": LEDGER_BATCH}),
    "mismatched": (MISMATCHED, {"ids": ["ws_none"]}),
}
RUNG = {
    kind: f"select (select count(*) from (select from {table.__tablename__} where rings > answered"  # noqa: S608
    " limit :most) as counted) as unanswered, extract(epoch from service_now() - (select wake_at from"
    f" {table.__tablename__} where wake_at is not null order by wake_at limit 1))::float8 as late"
    for kind, table in WAITING.items()
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One reading. Ages in seconds of service time, null while nothing waits; `late` below 0 is still to come."""

    oldest_undelivered: float | None
    undelivered: int
    open_runs: dict[str, int]
    queues: list[tuple[str, str, float]]
    """Workspace, queue, age of what waits longest there; the longest first."""
    sends: list[tuple[str, str, int]]
    """Account, outcome, actions claimed within a day."""
    unanswered: dict[str, int]
    late: dict[str, float]


async def read(session: AsyncSession) -> Figures:
    """Everything but the ledger."""

    async def rows(name: str) -> list[Any]:
        statement, values = STATEMENTS[name]
        return list((await session.execute(text(statement), values)).all())

    (undelivered,) = await rows("undelivered")
    rung = {
        kind: (await session.execute(text(statement), {"most": MOST_COUNTED})).one() for kind, statement in RUNG.items()
    }
    return Figures(
        oldest_undelivered=undelivered.oldest,
        undelivered=undelivered.waiting,
        open_runs={row.status: row.runs for row in await rows("open_runs")},
        queues=[tuple(row) for row in await rows("queues")],
        sends=[tuple(row) for row in await rows("sends")],
        unanswered={kind: row.unanswered for kind, row in rung.items()},
        late={kind: max(0.0, row.late or 0.0) for kind, row in rung.items()},
    )


async def mismatched_grants(session: AsyncSession, *, after: str) -> tuple[int, str]:
    """Grants of the next workspaces whose rest is not the sum of their ledger; and where to go on, "" at the end."""
    found = await session.scalars(text(WORKSPACES), {"after": after, "most": LEDGER_BATCH})
    ids = list(found)
    if not ids:
        return 0, ""
    wrong: int = (await session.execute(text(MISMATCHED), {"ids": ids})).scalar_one()
    return wrong, ids[-1]
