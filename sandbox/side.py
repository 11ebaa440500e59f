"""What one side of the outside world (people, later network and payments) contributes to the sandbox."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter
from starlette.routing import BaseRoute


@dataclass(frozen=True, slots=True)
class Side:
    """One provider: its own API, its part of the control API, and what it will do next by itself.

    `operations` are the names a fault can be ordered for; `next_at` gives the service time of the next thing this
    side does without being asked, None when there is nothing. `background` runs as long as the sandbox is served.
    """

    provider: str
    operations: frozenset[str]
    routes: tuple[BaseRoute, ...]
    control: APIRouter
    next_at: Callable[[], datetime | None]
    background: Callable[[], Awaitable[None]] | None = None
