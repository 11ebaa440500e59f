"""What one side of the outside world (people, network, payments) contributes to the sandbox."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.routing import BaseRoute


@dataclass(frozen=True, slots=True)
class Side:
    """One provider: its own API, its part of the control API, and its own events.

    `operations` are the names that faults can be ordered for; `next_at` returns the service time of the next event that
    this side causes on its own, None without one; `run` executes these events while the sandbox runs.
    """

    provider: str
    operations: frozenset[str]
    routes: tuple[BaseRoute, ...]
    control: APIRouter
    next_at: Callable[[], datetime | None]
    run: Callable[[], Coroutine[None, None, None]] | None = None
