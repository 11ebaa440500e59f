"""Work on people in the background: what every kind of it does under lock, step by step, each step fenced.

A call whose number is no longer the row's changes nothing, so that a step that runs twice is charged once.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlmodel import col

from models.clock import service_time
from models.errors import NotFound
from models.rules.jobs import ATTEMPTS, FINAL, JobFailure, JobStatus
from models.rules.run_states import retry_delay
from models.stores.credits import Payer
from models.stores.standing import forbidden
from models.tables.jobs import BackgroundRow
from models.tenancy import Tenant, customer_of

W = TypeVar("W", bound=BackgroundRow)


@dataclass(frozen=True, slots=True)
class Decision(Generic[W]):
    """What is next: a call (`act`), waiting until `until`, or nothing more. `now` is service time."""

    row: W
    now: datetime
    act: bool = False
    until: datetime | None = None


def tenant_of(row: BackgroundRow) -> Tenant:
    """Whose work it is."""
    return Tenant(row.workspace_id, customer_of(row.tenant_id))


def payer_of(row: BackgroundRow) -> Payer:
    """Who pays for it."""
    return Payer(row.workspace_id, row.api_key_id, customer_of(row.tenant_id))


@dataclass(frozen=True, slots=True)
class Background(Generic[W]):
    """One kind of work. `tell` is called once with the row in its final state, in the transaction that ends it."""

    table: type[W]
    noun: str
    tell: Callable[[AsyncSession, W, datetime], Awaitable[None]]

    async def get(self, session: AsyncSession, tenant: Tenant, row_id: str) -> W:
        """The tenant's row. Raises `NotFound`."""
        query = select(self.table).where(col(self.table.id) == row_id, col(self.table.tenant_id) == tenant.id)
        row = (await session.scalars(query)).one_or_none()
        if row is None:
            raise NotFound(f"There is no such {self.noun}.")
        return row

    async def _locked(self, session: AsyncSession, row_id: str) -> tuple[W, datetime]:
        query = select(self.table).where(col(self.table.id) == row_id)
        return (await session.scalars(query.with_for_update())).one(), await service_time(session)

    async def called(self, session: AsyncSession, row_id: str, number: int) -> tuple[W | None, datetime]:
        """The row, locked, if this call is still the one it waits for; and service time."""
        row, now = await self._locked(session, row_id)
        return (row if row.call_number == number and row.status not in FINAL else None), now

    async def decide(self, session: AsyncSession, row_id: str) -> Decision[W]:
        """Say what is needed next; answers every ring up to now and sets `wake_at`."""
        row, now = await self._locked(session, row_id)
        row.answered = row.rings
        row.wake_at = None
        if row.status in FINAL:
            return Decision(row, now)
        code = await forbidden(session, tenant_of(row), api_key_id=row.api_key_id, now=now)
        if code is not None:
            await self.end(session, row, JobFailure(code), now=now)
        elif now >= row.deadline_at:
            await self.end(session, row, JobFailure.UPSTREAM_BUSY, now=now)
        elif row.retry_at is not None and row.retry_at > now:
            row.wake_at = min(row.retry_at, row.deadline_at)
            return Decision(row, now, until=row.wake_at)
        else:
            row.call_number += 1
            return Decision(row, now, act=True)
        return Decision(row, now)

    async def begin(self, session: AsyncSession, row_id: str, number: int) -> W | None:
        """Note that the call leaves the queue; null when it is out of date."""
        row, _ = await self.called(session, row_id, number)
        if row is not None:
            row.status = JobStatus.RUNNING
            row.retry_at = None
        return row

    async def put_off(self, session: AsyncSession, row_id: str, number: int, *, after: timedelta | None) -> None:
        """The source is busy: wait as it said; when it said nothing, twice as long each time."""
        row, now = await self.called(session, row_id, number)
        if row is not None:
            row.failures += 1
            self.wait(row, now + (retry_delay(row.failures) if after is None else after))

    async def unusable(self, session: AsyncSession, row_id: str, number: int, *, final: bool) -> None:
        """The source answered with something unusable: try again, and after a few times (or at once) fail."""
        row, now = await self.called(session, row_id, number)
        if row is None:
            return
        row.failures += 1
        if final or row.failures >= ATTEMPTS:
            await self.end(session, row, JobFailure.UPSTREAM_ERROR, now=now)
        else:
            self.wait(row, now + retry_delay(row.failures))

    async def fail(self, session: AsyncSession, row_id: str, number: int, failure: JobFailure) -> None:
        """End it with an error."""
        row, now = await self.called(session, row_id, number)
        if row is not None:
            await self.end(session, row, failure, now=now)

    def wait(self, row: W, until: datetime) -> None:
        """Leave the source alone until then. The call is over: begun or answered again it changes nothing."""
        row.call_number += 1
        row.status = JobStatus.WAITING_FOR_QUOTA
        row.retry_at = until

    async def end(self, session: AsyncSession, row: W, failure: JobFailure | None, *, now: datetime) -> None:
        """Bring it to a final state and tell of it."""
        row.status = JobStatus.COMPLETED if failure is None else JobStatus.FAILED
        row.failure_code = failure
        row.finished_at = now
        row.retry_at = row.wake_at = None
        await self.tell(session, row, now)
