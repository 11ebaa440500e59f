"""Temporal's own metrics of this process (slots, queue latencies, sticky cache), shown beside ours.

The client's core writes them into a buffer and drops what does not fit; a thread reads the buffer every second.
"""

import functools
import threading
import time
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import Metric
from prometheus_client.registry import Collector
from temporalio.runtime import (
    BUFFERED_METRIC_KIND_COUNTER,
    BUFFERED_METRIC_KIND_HISTOGRAM,
    BufferedMetric,
    BufferedMetricUpdate,
    MetricBuffer,
    MetricBufferDurationFormat,
    Runtime,
    TelemetryConfig,
)

from models.operate.registry import REGISTRY

BUFFER = 100_000
EVERY_SECONDS = 1.0
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, float("inf"))
"""Upper bounds in seconds, from a local activity to an hour in a queue."""
Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Spread:
    """A histogram: the number of values at or below each of `BUCKETS`, and their sum."""

    counts: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))
    sum: float = 0.0

    def add(self, value: float) -> None:
        self.counts[bisect_left(BUCKETS, value)] += 1
        self.sum += value


class TemporalFigures(Collector):
    """The totals of everything read from the buffer so far."""

    def __init__(self, buffer: MetricBuffer) -> None:
        self._buffer = buffer
        self._turn = threading.Lock()
        self._metrics: dict[str, BufferedMetric] = {}
        self._values: dict[str, dict[Labels, float]] = {}
        self._spreads: dict[str, dict[Labels, _Spread]] = {}

    def keep_up(self) -> None:
        """Read the buffer every second, forever."""
        while True:
            time.sleep(EVERY_SECONDS)
            self.work_in()

    def work_in(self) -> None:
        """Read the buffer and add its updates to the totals."""
        with self._turn:
            for update in self._buffer.retrieve_updates():
                self._take(update)

    def _take(self, update: BufferedMetricUpdate) -> None:
        metric = update.metric
        name = _name(metric)
        labels = tuple(sorted((key, str(value)) for key, value in update.attributes.items()))
        self._metrics[name] = metric
        if metric.kind == BUFFERED_METRIC_KIND_HISTOGRAM:
            self._spreads.setdefault(name, {}).setdefault(labels, _Spread()).add(update.value)
            return
        values = self._values.setdefault(name, {})
        before = values.get(labels, 0.0) if metric.kind == BUFFERED_METRIC_KIND_COUNTER else 0.0
        values[labels] = before + update.value

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        self.work_in()
        with self._turn:
            return iter([self._shown(name, metric) for name, metric in sorted(self._metrics.items())])

    def _shown(self, name: str, metric: BufferedMetric) -> Metric:
        meaning = metric.description or "Of Temporal's client."
        if metric.kind == BUFFERED_METRIC_KIND_HISTOGRAM:
            return _histogram(Metric(name, meaning, "histogram"), self._spreads[name])
        counts = metric.kind == BUFFERED_METRIC_KIND_COUNTER
        shown = Metric(name, meaning, "counter" if counts else "gauge")
        for labels, value in self._values[name].items():
            shown.add_sample(f"{name}_total" if counts else name, dict(labels), value)
        return shown


def _name(metric: BufferedMetric) -> str:
    """Return the core's name, with the unit `seconds` added to durations."""
    measured = metric.kind == BUFFERED_METRIC_KIND_HISTOGRAM and metric.unit in {"s", "duration"}
    return f"{metric.name}_seconds" if measured else metric.name.removesuffix("_total")


def _histogram(shown: Metric, spreads: dict[Labels, _Spread]) -> Metric:
    for labels, spread in spreads.items():
        so_far = 0
        for limit, count in zip(BUCKETS, spread.counts, strict=True):
            so_far += count
            highest = "+Inf" if limit == BUCKETS[-1] else str(float(limit))
            shown.add_sample(f"{shown.name}_bucket", {**dict(labels), "le": highest}, so_far)
        shown.add_sample(f"{shown.name}_count", dict(labels), so_far)
        shown.add_sample(f"{shown.name}_sum", dict(labels), spread.sum)
    return shown


@functools.cache
def runtime() -> Runtime:
    """Return the runtime whose figures are on `/metrics`; all clients of the process share it."""
    buffer = MetricBuffer(BUFFER, MetricBufferDurationFormat.SECONDS)
    made = Runtime(telemetry=TelemetryConfig(metrics=buffer))
    figures = TemporalFigures(buffer)
    REGISTRY.register(figures)
    threading.Thread(target=figures.keep_up, name="temporal figures", daemon=True).start()
    return made
