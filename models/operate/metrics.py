"""The operator's metrics: waiting rows and their age, sends, and whether the ledger adds up.

Every statement reads an index and a bounded number of rows (`tests/models/operate/test_figures.py` looks at the plans),
so that a scrape costs the same on a large installation. Ids of workspaces and accounts are the only labels.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    generate_latest,
)
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

import models.tables  # noqa: F401 - registers every waiting row
from models.base.database import Database, sqlstate
from models.base.tables import WAITING
from models.operate.registry import REGISTRY

MOST_WORKSPACES = 50
MOST_ACCOUNTS = 200
MOST_COUNTED = 10_000
"""Counts stop here: the exact number beyond it does not matter to an operator."""
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
WAITING_ROWS = {
    kind: f"select (select count(*) from (select from {table.__tablename__} where rings > answered"  # noqa: S608 - our own names
    " limit :most) as counted) as unanswered, extract(epoch from service_now() - (select wake_at from"
    f" {table.__tablename__} where wake_at is not null order by wake_at limit 1))::float8 as late"
    for kind, table in WAITING.items()
}


@dataclass(frozen=True, slots=True)
class Figures:
    """One reading. Ages in seconds of service time, null if nothing waits; a negative `late` lies in the future."""

    oldest_undelivered: float | None
    undelivered: int
    open_runs: dict[str, int]
    queues: list[tuple[str, str, float]]
    """Workspace, queue, age of its oldest entry; oldest first."""
    sends: list[tuple[str, str, int]]
    """Account, outcome, number of actions claimed within a day."""
    unanswered: dict[str, int]
    late: dict[str, float]


async def read_figures(session: AsyncSession) -> Figures:
    """Read everything but the ledger."""

    async def rows(name: str) -> list[Any]:
        statement, values = STATEMENTS[name]
        return list((await session.execute(text(statement), values)).all())

    (undelivered,) = await rows("undelivered")
    waiting = {
        kind: (await session.execute(text(statement), {"most": MOST_COUNTED})).one()
        for kind, statement in WAITING_ROWS.items()
    }
    return Figures(
        oldest_undelivered=undelivered.oldest,
        undelivered=undelivered.waiting,
        open_runs={row.status: row.runs for row in await rows("open_runs")},
        queues=[tuple(row) for row in await rows("queues")],
        sends=[tuple(row) for row in await rows("sends")],
        unanswered={kind: row.unanswered for kind, row in waiting.items()},
        late={kind: max(0.0, row.late or 0.0) for kind, row in waiting.items()},
    )


async def mismatched_grants(session: AsyncSession, *, after: str) -> tuple[int, str]:
    """Count the grants of the next workspaces that differ from their ledger; return the next `after`, "" at the end."""
    found = await session.scalars(text(WORKSPACES), {"after": after, "most": LEDGER_BATCH})
    ids = list(found)
    if not ids:
        return 0, ""
    wrong: int = (await session.execute(text(MISMATCHED), {"ids": ids})).scalar_one()
    return wrong, ids[-1]


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
FRESH_SECONDS = 5.0
READ_SECONDS = 5.0

log = structlog.get_logger(__name__)

REQUESTS = Counter("service_requests", "Requests answered.", ["method", "route", "status"], registry=REGISTRY)
REQUEST_SECONDS = Histogram(
    "service_request_seconds", "Time to answer a request.", ["route"], registry=REGISTRY,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)  # fmt: skip
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


UNROUTED = "unrouted"


def known_method(method: str) -> str:
    """Return the method as a label, `other` for an unknown one."""
    return method if method in METHODS else "other"


def answered(method: str, route: str | None, status: int, seconds: float) -> None:
    """Count a request. `route` is the template of its path, never the path; null if no route matched."""
    label = route or UNROUTED
    REQUESTS.labels(known_method(method), label, str(status)).inc()
    REQUEST_SECONDS.labels(label).observe(seconds)


class RowFigures:
    """Figures of the rows, read at most once every `FRESH_SECONDS`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._refreshing = asyncio.Lock()
        self._read_at = -FRESH_SECONDS
        self._figures: Figures | None = None
        self._after = ""
        self._wrong_so_far = 0
        self._wrong_last_pass = 0
        self._passes = 0

    async def refresh(self) -> None:
        """Read the figures if the last reading is old; on a failure, log it and have none."""
        async with self._refreshing:
            if time.monotonic() - self._read_at < FRESH_SECONDS:
                return
            self._read_at = time.monotonic()
            try:
                async with asyncio.timeout(READ_SECONDS):
                    await self._read()
            except Exception as error:  # noqa: BLE001 - on any error, the scrape reports `service_rows_readable 0`
                self._figures = None
                log.warning("metrics.unreadable", error=type(error).__name__, sqlstate=sqlstate(error))

    async def _read(self) -> None:
        async with self._database.reading() as session:
            self._figures = await read_figures(session)
            wrong, self._after = await mismatched_grants(session, after=self._after)
        self._wrong_so_far += wrong
        if not self._after:
            self._wrong_last_pass, self._wrong_so_far = self._wrong_so_far, 0
            self._passes += 1

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the last reading."""
        now = self._figures
        yield _gauge("service_rows_readable", "1 when the database could be read for this scrape.", float(bool(now)))
        if now is None:
            return
        yield _gauge(
            "service_oldest_undelivered_event_seconds",
            "Age of the oldest pending webhook delivery; 0 if there is none.",
            now.oldest_undelivered or 0.0,
        )
        yield _gauge("service_undelivered_events", "Pending webhook deliveries, counted to 10,000.", now.undelivered)
        yield _labelled("service_open_runs", "Runs that have not ended.", ["status"], now.open_runs)
        yield _labelled("service_unanswered_rows", "Rows with unanswered wakes.", ["kind"], now.unanswered)
        yield _labelled("service_late_seconds", "How overdue the earliest wake-up is.", ["kind"], now.late)
        yield _labelled(
            "service_queue_latency_seconds",
            "Age of the oldest entry in each queue of the people source, the 50 oldest.",
            ["workspace_id", "queue"],
            {(workspace, queue): seconds for workspace, queue, seconds in now.queues},
        )
        yield _labelled(
            "service_account_actions",
            "Actions claimed within 24 hours, of the 200 newest accounts.",
            ["account_id", "outcome"],
            {(account, outcome): number for account, outcome, number in now.sends},
        )
        yield _gauge(
            "service_ledger_mismatched_grants",
            "Grants whose remaining credits differ from the sum of their ledger entries.",
            max(self._wrong_last_pass, self._wrong_so_far),
        )
        yield _gauge("service_ledger_passes", "How often this process has checked every workspace.", self._passes)


class _Rows(Collector):
    def __init__(self, rows: RowFigures) -> None:
        self._rows = rows

    def collect(self) -> Iterator[Metric]:
        return self._rows.collect()


class Metrics:
    """The text of `/metrics`. With `database` null: only the process's own counters."""

    def __init__(self, database: Database | None) -> None:
        self._rows = RowFigures(database) if database is not None else None
        self._registry = CollectorRegistry()
        if self._rows is not None:
            self._registry.register(_Rows(self._rows))

    async def text(self) -> bytes:
        """Return all metrics in the text format."""
        if self._rows is not None:
            await self._rows.refresh()
        return generate_latest(REGISTRY) + generate_latest(self._registry)


def _gauge(name: str, meaning: str, value: float) -> Metric:
    return GaugeMetricFamily(name, meaning, value=value)


def _labelled(name: str, meaning: str, labels: list[str], values: Mapping[Any, float]) -> Metric:
    made = GaugeMetricFamily(name, meaning, labels=labels)
    for key, value in values.items():
        made.add_metric([key] if isinstance(key, str) else list(key), value)
    return made
