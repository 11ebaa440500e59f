"""What will happen by itself, in the order of service time, and the loop that lets it happen."""

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
_SIDE_BY_SIDE = 8


@dataclass(frozen=True, slots=True)
class Happening:
    """Something due at a moment of service time."""

    id: int
    due: datetime
    kind: str
    body: Json


class Happenings:
    """All that is to come, remembered across restarts."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state, self._clock = state, clock
        self._rung = asyncio.Event()
        clock.when_moved(self._rung.set)

    def add(self, kind: str, body: Json, *, after: timedelta = timedelta()) -> None:
        """Have something happen, at once or later."""
        self._state.database.execute(
            "insert into network_happenings (due, kind, body) values (?, ?, ?)",
            (rfc3339(self._clock.now() + after), kind, json.dumps(body)),
        )
        self._rung.set()

    def done(self, happening: Happening) -> None:
        """Cross it off."""
        self._state.database.execute("delete from network_happenings where id = ?", (happening.id,))

    def next_at(self) -> datetime | None:
        """When the next thing is due; past for what is under way."""
        (due,) = self._state.database.execute("select min(due) from network_happenings").fetchone()
        return None if due is None else datetime.fromisoformat(due)

    def due(self) -> list[Happening]:
        """What is due now, the earliest first."""
        rows = self._state.database.execute(
            "select id, due, kind, body from network_happenings where due <= ? order by due, id",
            (rfc3339(self._clock.now()),),
        ).fetchall()
        return [Happening(id_, datetime.fromisoformat(due), kind, json.loads(body)) for id_, due, kind, body in rows]

    def all(self) -> list[Happening]:
        """All that is to come."""
        rows = self._state.database.execute("select id, due, kind, body from network_happenings order by due, id")
        return [Happening(id_, datetime.fromisoformat(due), kind, json.loads(body)) for id_, due, kind, body in rows]

    async def wait(self, *, besides: Collection[int], full: bool) -> None:
        """Return when something `besides` what is under way may be due; when `full`, only once something ended."""
        self._rung.clear()
        left = _LONGEST_WAIT_SECONDS if full else self._seconds_left(besides)
        if left <= 0:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(left):
                await self._rung.wait()

    def _seconds_left(self, besides: Collection[int]) -> float:
        (due,) = self._state.database.execute(
            f"select min(due) from network_happenings where id not in ({','.join('?' * len(besides))})",  # noqa: S608 - marks
            tuple(besides),
        ).fetchone()
        if due is None:
            return _LONGEST_WAIT_SECONDS
        left = (datetime.fromisoformat(due) - self._clock.now()).total_seconds()
        return min(left + 0.001, _LONGEST_WAIT_SECONDS)

    def ring(self) -> None:
        """Have the loop look again."""
        self._rung.set()


class Loop:
    """Lets things happen: `acts` change the network at once, `send` takes its time and several go side by side."""

    def __init__(
        self,
        *,
        state: State,
        happenings: Happenings,
        acts: dict[str, Callable[[Json], None]],
        send: Callable[[Happening], Coroutine[None, None, None]],
    ) -> None:
        self._state, self._happenings, self._acts, self._send = state, happenings, acts, send
        self._sending: dict[int, asyncio.Task[None]] = {}

    async def run(self) -> None:
        """Run until cancelled; what was being sent then is sent again by the next start."""
        try:
            while True:
                self._start_due()
                self._raise_failures()
                await self._happenings.wait(besides=self._sending, full=len(self._sending) >= _SIDE_BY_SIDE)
        finally:
            for task in self._sending.values():
                task.cancel()

    def _start_due(self) -> None:
        for happening in self._happenings.due():
            act = self._acts.get(happening.kind)
            if act is not None:
                with at_once(self._state):
                    self._happenings.done(happening)
                    act(happening.body)
            elif happening.id not in self._sending and len(self._sending) < _SIDE_BY_SIDE:
                task = asyncio.create_task(self._send(happening))
                self._sending[happening.id] = task
                task.add_done_callback(lambda _: self._happenings.ring())

    def _raise_failures(self) -> None:
        for number, task in list(self._sending.items()):
            if task.done():
                del self._sending[number]
                task.result()
