"""Faults of the providers, injected one after the other during the hits; the same seed repeats the same faults."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.journeys.installation import Installation

PAUSE_SECONDS = (1.0, 5.0)
RECOVERY_SECONDS = 60.0
"""How long a provider answers normally after a fault: without it a caller that retries would fail each time."""
ANYWHERE = ("connection_lost", "rate_limited", "server_error", "html_body", "truncated_json")
PROVIDERS = ("people", "network", "payments")


class ProviderFaults:
    """Lets single calls of every provider fail, some of them after they were executed."""

    def __init__(self, installation: Installation, seed: int) -> None:
        self._installation, self._chance = installation, random.Random(f"{seed} provider faults")
        self._over = threading.Event()
        self._recovering_until: dict[str, float] = {}
        self.injected_count = 0

    @contextmanager
    def injected(self) -> Iterator[None]:
        """Inject faults during the block and remove all of them at its end."""
        thread = threading.Thread(target=self._order)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()
            self._installation.no_faults()

    def _order(self) -> None:
        while not self._over.wait(self._chance.uniform(*PAUSE_SECONDS)):
            fault, now = self.drawn(), time.monotonic()
            self._recovering_until |= dict.fromkeys(self._waiting(), now + RECOVERY_SECONDS)
            if now >= self._recovering_until.get(fault["provider"], now):
                self._installation.fault(**fault)
                self.injected_count += 1

    def _waiting(self) -> set[str]:
        """Return the providers with a fault that has not hit a call yet."""
        url = f"{self._installation.facts['sandbox_url']}/_control/faults"
        ordered = httpx.get(url, trust_env=False, timeout=30).raise_for_status().json()
        return {one["provider"] for one in ordered["data"] if one["left"]}

    def drawn(self) -> dict[str, Any]:
        """Draw the next fault."""
        kind = self._chance.choice(ANYWHERE)
        fault = {"provider": self._chance.choice(PROVIDERS), "fault": kind, "count": 1}
        late = kind == "connection_lost" and self._chance.random() < 0.5
        return fault | ({"after_execution": True} if late else {})
