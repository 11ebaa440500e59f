"""The registry of this process's own metrics, which `/metrics` shows besides those of the rows."""

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
