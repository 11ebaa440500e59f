"""`/metrics`: the process's counters, and the operator's figures read from the rows, in the format of Prometheus."""

import asyncio
import time
from collections.abc import Iterator, Mapping
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

from models.database import Database, sqlstate
from models.registry import REGISTRY
from models.stores import figures
from models.stores.figures import Figures

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


def known(method: str) -> str:
    """The method as it may be told: whoever calls can make one up."""
    return method if method in METHODS else "other"


def answered(method: str, route: str | None, status: int, seconds: float) -> None:
    """Count a request. `route` is the template of its path, never the path; null for what is not routed."""
    told = route or UNROUTED
    REQUESTS.labels(known(method), told, str(status)).inc()
    REQUEST_SECONDS.labels(told).observe(seconds)


class RowFigures:
    """Figures of the rows, read at most every few seconds however often they are asked for."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = asyncio.Lock()
        self._read_at = -FRESH_SECONDS
        self._figures: Figures | None = None
        self._after = ""
        self._wrong_so_far = 0
        self._wrong_last_pass = 0
        self._passes = 0

    async def refresh(self) -> None:
        """Read anew when the last reading is old. A database that does not answer leaves none, and is no error."""
        async with self._turn:
            if time.monotonic() - self._read_at < FRESH_SECONDS:
                return
            self._read_at = time.monotonic()
            try:
                async with asyncio.timeout(READ_SECONDS):
                    await self._read()
            except Exception as error:  # noqa: BLE001 - whatever it is, the scrape says `service_rows_readable 0`
                self._figures = None
                log.warning("metrics.unreadable", error=type(error).__name__, sqlstate=sqlstate(error))

    async def _read(self) -> None:
        async with self._database.reading() as session:
            self._figures = await figures.read(session)
            wrong, self._after = await figures.mismatched_grants(session, after=self._after)
        self._wrong_so_far += wrong
        if not self._after:
            self._wrong_last_pass, self._wrong_so_far = self._wrong_so_far, 0
            self._passes += 1

    def collect(self) -> Iterator[Metric]:
        """The last reading."""
        now = self._figures
        yield _gauge("service_rows_readable", "1 when the database could be read for this scrape.", float(bool(now)))
        if now is None:
            return
        yield _gauge(
            "service_oldest_undelivered_event_seconds",
            "Age of the oldest webhook delivery that still waits; 0 for none.",
            now.oldest_undelivered or 0.0,
        )
        yield _gauge("service_undelivered_events", "Webhook deliveries that wait, counted to 10,000.", now.undelivered)
        yield _labelled("service_open_runs", "Runs that have not ended.", ["status"], now.open_runs)
        yield _labelled("service_unanswered_rows", "Rows rung and not answered.", ["kind"], now.unanswered)
        yield _labelled("service_late_seconds", "How late the row is that should have woken.", ["kind"], now.late)
        yield _labelled(
            "service_queue_latency_seconds",
            "Age of what waits longest for the people source, the 50 longest.",
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
            "Grants whose rest is not the sum of their ledger.",
            max(self._wrong_last_pass, self._wrong_so_far),
        )
        yield _gauge("service_ledger_passes", "How often this process has checked every workspace.", self._passes)


class _Rows(Collector):
    def __init__(self, rows: RowFigures) -> None:
        self._rows = rows

    def collect(self) -> Iterator[Metric]:
        return self._rows.collect()


class Metrics:
    """The text of `/metrics`. `database` null: only the process's own counters."""

    def __init__(self, database: Database | None) -> None:
        self._rows = RowFigures(database) if database is not None else None
        self._registry = CollectorRegistry()
        if self._rows is not None:
            self._registry.register(_Rows(self._rows))

    async def text(self) -> bytes:
        """Return everything in the text format."""
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
