"""Virtual time of an installation under fault injection: it moves from event to event however often processes fail."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

import httpx
from asyncpg import InternalClientError
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.pool import NullPool

from stack.installation import StackError
from stack.virtual_time import EVERYWHERE, REQUEST_SECONDS, Clockwork, State
from tests.chaos.interrupted_work import InterruptedWork
from tests.journeys.installation import Facts

T = TypeVar("T")
OUT_OF_REACH = (DBAPIError, OSError, InternalClientError)
AGAIN_SECONDS = 0.2
PATIENCE_SECONDS = 600.0
"""The longest time without any progress: more than four times the longest freeze."""


@dataclass
class PatientClockwork(Clockwork):
    """The installation's clockwork, which does not wait for work that died with its worker."""

    interrupted: InterruptedWork

    async def _in_database(self) -> State:
        return self.interrupted.without(await super()._in_database())


class ServiceTime:
    """Advances the service time of an installation without waiting for `interrupted` work."""

    def __init__(self, facts: Facts, interrupted: InterruptedWork, report: Callable[[str], None]) -> None:
        self._facts, self._interrupted, self._report = facts, interrupted, report

    def now(self) -> datetime:
        """Return the service time as soon as the database answers."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return asyncio.run(self._with_clock(lambda clock: clock.now()))
            except OUT_OF_REACH:
                if time.monotonic() > deadline:
                    raise
                time.sleep(AGAIN_SECONDS)

    def to_monday(self) -> None:
        """Skip the weekend, on which no messages are sent."""
        now = self.now()
        if now.isoweekday() > 5:
            self.days(8 - now.isoweekday())

    def days(self, count: float) -> None:
        """Advance by `count` days. Raises `StackError` when nothing has moved for `PATIENCE_SECONDS`."""
        target = self.now() + timedelta(days=count)
        deadline, seen = time.monotonic() + PATIENCE_SECONDS, target
        while True:
            try:
                asyncio.run(self._with_clock(lambda clock: clock.pass_until(target)))
            except OUT_OF_REACH:
                self.now()  # the database was hit: wait until it is back
            except StackError as problem:
                if (now := self.now()) != seen:
                    deadline, seen = time.monotonic() + PATIENCE_SECONDS, now
                if time.monotonic() > deadline:
                    raise
                self._report(f"no progress:  {problem}")
            else:
                return

    async def _with_clock(self, do: Callable[[PatientClockwork], Awaitable[T]]) -> T:
        engine = create_async_engine(
            self._facts["database_url"],
            poolclass=NullPool,
            isolation_level="AUTOCOMMIT",
            connect_args={"server_settings": EVERYWHERE},
        )
        try:
            async with (
                engine.connect() as database,
                httpx.AsyncClient(
                    base_url=self._facts["sandbox_url"], trust_env=False, timeout=REQUEST_SECONDS
                ) as sandbox,
            ):
                return await do(PatientClockwork(database, sandbox, self._interrupted))
        finally:
            await engine.dispose()
