"""Weather: faults of the providers, ordered one after the other while hits are done; a seed repeats the same ones."""

import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.journeys.installation import Installation

PAUSE_SECONDS = (1.0, 5.0)
SPARED_SECONDS = 60.0
"""A provider that was struck answers for so long, or who asks again half a minute later would be struck for ever."""
ANYWHERE = ("connection_lost", "rate_limited", "server_error", "html_body", "truncated_json")
PROVIDERS = ("people", "network", "payments")


class Weather:
    """Strikes single calls of every provider, some of them after they were executed."""

    def __init__(self, installation: Installation, seed: int) -> None:
        self._installation, self._chance = installation, random.Random(f"{seed} weather")
        self._over = threading.Event()
        self._spared_until: dict[str, float] = {}
        self.ordered = 0

    @contextmanager
    def foul(self) -> Iterator[None]:
        """Order faults meanwhile; afterwards there are none."""
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
            self._spared_until |= dict.fromkeys(self._waiting(), now + SPARED_SECONDS)
            if now >= self._spared_until.get(fault["provider"], now):
                self._installation.fault(**fault)
                self.ordered += 1

    def _waiting(self) -> set[str]:
        """Providers with a fault that has struck nobody yet."""
        url = f"{self._installation.facts['sandbox_url']}/_control/faults"
        ordered = httpx.get(url, trust_env=False, timeout=30).raise_for_status().json()
        return {one["provider"] for one in ordered["data"] if one["left"]}

    def drawn(self) -> dict[str, Any]:
        """The next fault."""
        kind = self._chance.choice(ANYWHERE)
        fault = {"provider": self._chance.choice(PROVIDERS), "fault": kind, "count": 1}
        late = kind == "connection_lost" and self._chance.random() < 0.5
        return fault | ({"after_execution": True} if late else {})
