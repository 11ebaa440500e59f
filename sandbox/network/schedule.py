"""Scheduled events in the order of service time, and the loop that executes them."""

import asyncio
import json
from collections.abc import Callable, Collection, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sandbox.clock import Clock, rfc3339
from sandbox.network.schema import at_once
from sandbox.network.wire import Json
from sandbox.state import State

_LONGEST_WAIT_SECONDS = 60.0
_CONCURRENT = 8


@dataclass(frozen=True, slots=True)
class ScheduledEvent:
    """Something due at a moment of service time."""

    id: int
    due: datetime
    kind: str
    body: Json


class Schedule:
    """All scheduled events, kept across restarts."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state, self._clock = state, clock
        self._woken = asyncio.Event()
        clock.when_moved(self._woken.set)

    def add(self, kind: str, body: Json, *, after: timedelta = timedelta()) -> None:
        """Schedule an event for now or later."""
        self._state.database.execute(
            "insert into network_happenings (due, kind, body) values (?, ?, ?)",
            (rfc3339(self._clock.now() + after), kind, json.dumps(body)),
        )
        self._woken.set()

    def done(self, event: ScheduledEvent) -> None:
        """Remove an executed event."""
        self._state.database.execute("delete from network_happenings where id = ?", (event.id,))

    def next_at(self) -> datetime | None:
        """Return when the next event is due; in the past for one under way."""
        (due,) = self._state.database.execute("select min(due) from network_happenings").fetchone()
        return None if due is None else datetime.fromisoformat(due)

    def due(self) -> list[ScheduledEvent]:
        """Return the events that are due now, earliest first."""
        rows = self._state.database.execute(
            "select id, due, kind, body from network_happenings where due <= ? order by due, id",
            (rfc3339(self._clock.now()),),
        ).fetchall()
        return [
            ScheduledEvent(id_, datetime.fromisoformat(due), kind, json.loads(body)) for id_, due, kind, body in rows
        ]

    def all(self) -> list[ScheduledEvent]:
        """Return all scheduled events."""
        rows = self._state.database.execute("select id, due, kind, body from network_happenings order by due, id")
        return [
            ScheduledEvent(id_, datetime.fromisoformat(due), kind, json.loads(body)) for id_, due, kind, body in rows
        ]

    async def wait(self, *, besides: Collection[int], full: bool) -> None:
        """Wait until an event `besides` those under way may be due; when `full`, until one of those has ended."""
        self._woken.clear()
        left = _LONGEST_WAIT_SECONDS if full else self._seconds_left(besides)
        if left <= 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._woken.wait()

    def _seconds_left(self, besides: Collection[int]) -> float:
        (due,) = self._state.database.execute(
            f"select min(due) from network_happenings where id not in ({','.join('?' * len(besides))})",  # noqa: S608 - only placeholders
            tuple(besides),
        ).fetchone()
        if due is None:
            return _LONGEST_WAIT_SECONDS
        left = (datetime.fromisoformat(due) - self._clock.now()).total_seconds()
        return min(left + 0.001, _LONGEST_WAIT_SECONDS)

    def wake(self) -> None:
        """Wake the loop."""
        self._woken.set()


class Loop:
    """Executes events: `acts` change the network immediately, `send` takes time and runs concurrently."""

    def __init__(
        self,
        *,
        state: State,
        schedule: Schedule,
        acts: dict[str, Callable[[Json], None]],
        send: Callable[[ScheduledEvent], Coroutine[None, None, None]],
    ) -> None:
        self._state, self._schedule, self._acts, self._send = state, schedule, acts, send
        self._sending: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run until cancelled; deliveries that were under way are repeated after the next start."""
        try:
            while True:
                self._start_due()
                self._raise_failures()
                await self._schedule.wait(besides=self._sending, full=len(self._sending) >= _CONCURRENT)
        finally:
            for task in self._sending.values():
                task.cancel()

    def _start_due(self) -> None:
        for event in self._schedule.due():
            act = self._acts.get(event.kind)
            if act is not None:
                with at_once(self._state):
                    self._schedule.done(event)
                    act(event.body)
            elif event.id not in self._sending and len(self._sending) < _CONCURRENT:
                task = asyncio.create_task(self._send(event))
                self._sending[event.id] = task
                task.add_done_callback(lambda _: self._schedule.wake())

    def _raise_failures(self) -> None:
        for number, task in list(self._sending.items()):
            if task.done():
                del self._sending[number]
                task.result()
