"""The registry of a process's figures, which `/metrics` shows: whoever measures something registers it here."""

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector

REGISTRY = CollectorRegistry()
ProcessCollector(registry=REGISTRY)
PlatformCollector(registry=REGISTRY)
